"""Tools, toolsets and names: what comes in, what it is called, what goes out."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from tests.requirements import requirement
from tooldrawer import (
    Drawer,
    FunctionToolset,
    Registry,
    Scope,
    StaticToolset,
    Tool,
    ToolCall,
    ToolResult,
    errors,
)
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

MCP: JsonObject = {
    "name": "create_issue",
    "title": "Create issue",
    "description": "Open an issue.",
    "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": False, "category": "tracker"},
    "_meta": {"vendor/x": 1},
    "vendorField": [1, {"deep": None}],
}
OPENAI: JsonObject = {
    "type": "function",
    "function": {
        "name": "create_issue",
        "strict": True,
        "description": "Open an issue.",
        "parameters": {"type": "object", "properties": {}},
    },
}
ANTHROPIC: JsonObject = {
    "name": "create_issue",
    "input_schema": {"type": "object", "properties": {}},
    "cache_control": {"type": "ephemeral"},
}


def server(name: str, *tools: str) -> StaticToolset:
    return StaticToolset(
        name, [{"name": tool, "inputSchema": {"type": "object"}} for tool in tools]
    )


@requirement("TOOL-1")
async def test_each_shape_goes_out_as_it_came_in_with_fields_nobody_knows() -> None:
    for definition, read, shape in (
        (MCP, Tool.from_mcp, "mcp"),
        (OPENAI, Tool.from_openai, "openai"),
        (ANTHROPIC, Tool.from_anthropic, "anthropic"),
    ):
        drawer = Drawer([_Given(read(definition, source="given"))])
        assembly = await drawer.session().tools()
        assert json.dumps(getattr(assembly, shape)()) == json.dumps([definition])


@requirement("TOOL-1")
async def test_a_tool_of_one_shape_goes_out_in_the_other_two() -> None:
    assembly = await Drawer([_Given(Tool.from_mcp(MCP, source="given"))]).session().tools()
    schema = MCP["inputSchema"]
    assert assembly.openai() == [
        {
            "type": "function",
            "function": {
                "name": "create_issue",
                "description": "Open an issue.",
                "parameters": schema,
            },
        }
    ]
    assert assembly.anthropic() == [
        {"name": "create_issue", "description": "Open an issue.", "input_schema": schema}
    ]


async def test_a_changed_array_does_not_change_the_drawer() -> None:
    session = Drawer([_Given(Tool.from_mcp(MCP, source="given"))]).session()
    before = json.dumps((await session.tools()).mcp())
    array = (await session.tools()).mcp()
    array[0]["inputSchema"]["properties"].clear()  # pyright: ignore
    assert json.dumps((await session.tools()).mcp()) == before


@requirement("TOOL-2")
def test_a_servers_tool_is_named_after_the_configured_server() -> None:
    assert [tool.name for tool in server("github", "create_issue").tools()] == [
        "mcp_github_create_issue"
    ]


@requirement("TOOL-2")
def test_the_template_is_a_setting() -> None:
    toolset = StaticToolset("github", [{"name": "create_issue"}], template="{server}__{tool}")
    assert toolset.tools()[0].name == "github__create_issue"


@requirement("TOOL-2")
def test_refused_characters_are_replaced_and_long_names_get_a_stable_hash() -> None:
    long = "a" * 80
    names = [tool.name for tool in server("my server", "find.it", long, long + "b").tools()]
    assert names[0] == "mcp_my_server_find_it"
    assert [len(name) for name in names[1:]] == [64, 64]
    assert names[1] != names[2]
    assert names == [tool.name for tool in server("my server", "find.it", long, long + "b").tools()]


@requirement("TOOL-2")
async def test_two_servers_that_meet_in_one_name_both_get_another() -> None:
    assembly = await Drawer([server("a_b", "c"), server("a", "b_c")]).session().tools()
    names = [tool.name for tool in assembly.tools]
    assert len(set(names)) == 2
    assert "mcp_a_b_c" not in names


@requirement("TOOL-2")
async def test_a_functions_own_name_stays_when_a_servers_tool_would_take_it() -> None:
    def mcp_a_b() -> str:
        return "mine"

    drawer = Drawer([server("a", "b"), FunctionToolset("own", [mcp_a_b])])
    owners = {tool.name: tool.source for tool in (await drawer.session().tools()).tools}
    assert owners["mcp_a_b"] == "own"
    assert len(owners) == 2


@requirement("TOOL-2")
async def test_a_name_once_given_is_not_given_to_a_newcomer() -> None:
    drawer = Drawer([server("a", "b_c")])
    session = drawer.session()
    await session.tools()
    drawer.registry.add(server("a_b", "c"))
    owners = {tool.name: tool.source for tool in (await session.tools()).tools}
    assert owners["mcp_a_b_c"] == "mcp-a"
    assert sorted(owners.values()) == ["mcp-a", "mcp-a_b"]


@requirement("SCOPE-2")
async def test_a_tool_out_of_scope_leaves_no_trace_in_the_name_of_another(
    numbered: Callable[[str, int], FunctionToolset],
) -> None:
    def draw() -> str:
        return "mine"

    mine, theirs = FunctionToolset("mine", [draw]), FunctionToolset("theirs", [draw])
    drawer = Drawer([theirs, mine])
    whole, narrow = drawer.session(), drawer.session(scope=Scope(toolsets=["mine"]))
    names = {tool.source: tool.name for tool in (await whole.tools()).tools}
    assert names["theirs"] == "draw" != names["mine"]
    assert [tool.name for tool in (await narrow.tools()).tools] == ["draw"]
    assert (await narrow.call(names["mine"])).text == "mine"


@requirement("SCOPE-1")
async def test_a_toolset_cannot_pass_its_tools_off_as_anothers() -> None:
    liar = _Given(Tool(name="sly", source="trusted"), name="liar")
    session = Drawer([liar]).session(scope=Scope(toolsets=["trusted"]))
    assert (await session.tools()).tools == ()


@requirement("TOOL-3")
@pytest.mark.parametrize(
    "spelled",
    [
        "mcp_github_create_issue",
        "github__create_issue",
        "github.create_issue",
        "github/create_issue",
        "create_issue",
        "MCP_GitHub_Create-Issue",
    ],
)
async def test_describe_takes_every_notation_and_answers_with_the_real_name(spelled: str) -> None:
    session = Drawer([server("github", "create_issue"), server("slack", "post")]).session()
    reply = json.loads((await session.call("tool_describe", {"name": spelled})).text)
    assert reply["name"] == "mcp_github_create_issue"


@requirement("TOOL-3")
async def test_a_bare_name_that_two_servers_have_means_neither() -> None:
    session = Drawer([server("github", "search"), server("slack", "search")]).session()
    result = await session.call("tool_describe", {"name": "search"})
    assert result.is_error
    assert "mcp_github_search" in result.text
    assert "mcp_slack_search" in result.text


@requirement("TOOL-3")
async def test_a_bare_name_counts_in_the_sessions_own_catalog_only() -> None:
    drawer = Drawer([server("github", "search"), server("slack", "search")])
    session = drawer.session(scope=Scope(toolsets=["mcp-slack"]))
    reply = json.loads((await session.call("tool_describe", {"name": "search"})).text)
    assert reply["name"] == "mcp_slack_search"


@requirement("TOOL-4")
def test_adding_replacing_and_removing_a_toolset_bumps_the_generation() -> None:
    registry = Registry()
    seen = [registry.generation]
    for change in (
        lambda: registry.add(server("a", "x")),
        lambda: registry.replace(server("a", "y")),
        lambda: registry.remove("mcp-a"),
    ):
        change()
        seen.append(registry.generation)
    assert seen == [0, 1, 2, 3]


@requirement("TOOL-4")
def test_a_refused_change_leaves_the_registry_as_it_was() -> None:
    registry = Registry([server("a", "x")])
    before = registry.snapshot()
    with pytest.raises(errors.ToolsetTaken):
        registry.add(server("a", "y"))
    with pytest.raises(errors.ToolsetUnknown):
        registry.remove("mcp-b")
    assert registry.snapshot() is before


async def test_a_toolset_that_cannot_list_its_tools_does_not_take_the_others_down(
    numbered: Callable[[str, int], FunctionToolset],
) -> None:
    class Moody(_Given):
        is_well = True

        def tools(self) -> tuple[Tool, ...]:
            if not self.is_well:
                raise OSError("gone")
            return super().tools()

    moody = Moody(Tool(name="sulk", source="moody"))
    session = Drawer([moody, numbered("a", 1)]).session()
    seen: list[list[str]] = []
    for is_well in (True, False, True):
        moody.is_well = is_well
        seen.append([tool.name for tool in (await session.tools()).tools])
    assert seen == [["sulk", "a_0"], ["a_0"], ["sulk", "a_0"]]


async def test_a_schema_comes_from_hints_and_docstring() -> None:
    @dataclass
    class Guest:
        name: str

    class Room(BaseModel):
        floor: int = 1

    def book(
        title: str,
        day: date,
        guests: list[Guest],
        room: Room | None = None,
        repeat: Literal["never", "weekly"] = "never",
        seats: Annotated[int, Field(ge=1, description="How many chairs.")] = 4,
    ) -> str:
        """Book a meeting.

        Args:
            title: What it is about.
            day: When it is.
        """
        return f"{title} {day:%d.%m.} {guests[0].name} {room and room.floor} {repeat} {seats}"

    toolset = FunctionToolset("rooms", [book])
    tool = toolset.tools()[0]
    properties = tool.parameters["properties"]
    assert tool.description == "Book a meeting."
    assert tool.parameters["required"] == ["title", "day", "guests"]
    assert properties["title"] == {"type": "string", "description": "What it is about."}  # pyright: ignore
    assert properties["seats"]["minimum"] == 1  # pyright: ignore
    assert '"title": "' not in json.dumps(properties["day"])  # pyright: ignore
    result = await (
        Drawer([toolset])
        .session()
        .call("book", {"title": "x", "day": "2026-11-16", "guests": [{"name": "Ada"}], "room": {}})
    )
    assert result.text == "x 16.11. Ada 1 never 4"


async def test_a_functions_result_of_any_type_becomes_text_and_structure() -> None:
    @dataclass
    class Found:
        name: str
        when: date

    def find() -> Found:
        return Found("a", date(2026, 1, 2))

    def count() -> int:
        return 3

    def nothing() -> None:
        return None

    session = Drawer([FunctionToolset("t", [find, count, nothing])]).session()
    found = await session.call("find")
    assert json.loads(found.text) == {"name": "a", "when": "2026-01-02"} == found.structured
    assert (await session.call("count")).text == "3"
    assert (await session.call("nothing")).text == ""


async def test_functions_can_be_added_and_removed_while_sessions_are_open(
    numbered: Callable[[str, int], FunctionToolset],
) -> None:
    toolset = numbered("a", 2)
    session = Drawer([toolset]).session()

    def later() -> str:
        return "here"

    toolset.add(later)
    assert (await session.call("later")).text == "here"
    toolset.remove("later")
    assert (await session.call("later")).is_error


class _Given:
    """A toolset of one tool that only shows itself."""

    def __init__(self, tool: Tool, name: str | None = None) -> None:
        self.name = name or tool.source
        self._tools = (tool,)

    def tools(self) -> tuple[Tool, ...]:
        return self._tools

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        raise NotImplementedError
