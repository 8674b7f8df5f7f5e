"""Prompts and resources pass hooks, guardrails, approval, limits and activity, as tools do."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    STATELESS,
    Document,
    Person,
    Rig,
    ask,
    chosen,
    document,
    goods,
    log,
    rigged,
    shelf,
    tool,
)
from tests.requirements import requirement
from tooldrawer import Allow, Deny, Tool, ToolCall, ToolResult
from tooldrawer.activity import CallFinished, CallRefused, CallStarted
from tooldrawer.call import text_block
from tooldrawer.dispatch.guardrails import Verdict
from tooldrawer.dispatch.hooks import Next

pytestmark = pytest.mark.anyio
HERE = "tests.gateway.test_items"
GOODS: Document = {
    "prompts": [{"name": "review", "arguments": [{"name": "of"}], "vendor": 1}],
    "resources": [{"uri": "note://1", "name": "first"}, {"uri": "note://2", "name": "secret plan"}],
    "resourceTemplates": [{"uriTemplate": "note://{n}", "name": "notes"}],
}
seen: list[ToolCall] = []
judged: list[Tool] = []


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


Start = Callable[..., Awaitable[Rig]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncGenerator[Start]:
    """Starts a gateway in front of one server, `alpha`, with the given settings."""
    seen.clear()
    judged.clear()
    file = goods(tmp_path / "alpha.json", tool("find"), **GOODS)
    running: list[Any] = []

    async def begin(*, scope: str = "", **settings: Any) -> Rig:
        rig = rigged(tmp_path, document({"alpha": shelf(file)}, **settings), scope=scope)
        running.append(rig)
        found = await rig.__aenter__()
        await found.settled()
        return found

    yield begin
    for each in reversed(running):
        await each.__aexit__(None, None, None)


async def observe(call: ToolCall, proceed: Next) -> ToolResult:
    """A hook that sees everything."""
    seen.append(call)
    return await proceed(call)


async def redact(call: ToolCall, proceed: Next) -> ToolResult:
    """A hook that takes words out of what a model is given."""
    found = await proceed(call)
    blocks = [text_block(str(block["text"]).replace("alpha", "…")) for block in found.content]
    return ToolResult(content=tuple(blocks))


async def divert(call: ToolCall, proceed: Next) -> ToolResult:
    """A hook that asks for something else."""
    return await proceed(call.with_arguments({"uri": "note://2"}))


async def answer(call: ToolCall, proceed: Next) -> ToolResult:
    """A hook that answers by itself."""
    del call, proceed
    return ToolResult.of_text("from the cache")


def judge(tool: Tool, call: ToolCall) -> Verdict:
    """A guardrail that sees everything."""
    judged.append(tool)
    return Deny("Not this one.") if call.arguments.get("uri") == "note://2" else Allow()


async def prompted(client: Client, **arguments: str) -> str:
    (message,) = (await client.get_prompt("mcp_alpha_review", arguments)).messages
    assert isinstance(message.content, types.TextContent)
    return message.content.text


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.uri == uri
    return content.text


def requests(rig: Rig) -> list[str]:
    """What the server was asked for that is no list."""
    asked = [each["method"] for each in log(rig.path.with_name("alpha.json"))]
    return [method for method in asked if method in ("prompts/get", "resources/read")]


@requirement("SCOPE-6")
async def test_hooks_see_prompts_and_resources_by_name(start: Start, era: str) -> None:
    rig = await start(hooks=[f"{HERE}:observe"])
    async with rig.client(era) as client:
        assert await prompted(client, of="x") == 'review of alpha: {"of": "x"}'
        assert await read(client, "note://1") == "note://1 of alpha"
        assert await read(client, "note://7") == "note://7 of alpha"
    assert [(call.kind, call.name, call.arguments) for call in seen] == [
        ("prompt", "mcp_alpha_review", {"of": "x"}),
        ("resource", "mcp_alpha_first", {"uri": "note://1"}),
        ("resource", "mcp_alpha_notes", {"uri": "note://7"}),
    ]


@requirement("SCOPE-6")
async def test_what_a_hook_makes_of_the_answer_is_what_the_client_gets(
    start: Start, era: str
) -> None:
    rig = await start(hooks=[f"{HERE}:redact"])
    async with rig.client(era) as client:
        assert await prompted(client) == "review of …: {}"
        assert await read(client, "note://1") == "note://1 of …"


@requirement("SCOPE-6")
async def test_a_hook_may_answer_instead_of_the_server(start: Start, era: str) -> None:
    rig = await start(hooks=[f"{HERE}:answer"])
    async with rig.client(era) as client:
        assert await prompted(client) == "from the cache"
        assert await read(client, "note://1") == "from the cache"
    assert requests(rig) == []


@requirement("SCOPE-6")
async def test_a_hook_cannot_lead_to_another_address(start: Start, era: str) -> None:
    rig = await start(hooks=[f"{HERE}:divert"])
    async with rig.client(era) as client:
        with pytest.raises(MCPError, match="A hook changed the address"):
            await client.read_resource("note://1")
    assert requests(rig) == []


@requirement("SCOPE-6")
async def test_guardrails_judge_prompts_and_resources(start: Start, era: str) -> None:
    rig = await start(guardrails=[f"{HERE}:judge"])
    async with rig.client(era) as client:
        await prompted(client)
        with pytest.raises(MCPError, match="Not this one"):
            await client.read_resource("note://2")
    assert [(each.kind, each.local_name, each.source) for each in judged] == [
        ("prompt", "review", "mcp-alpha"),
        ("resource", "secret plan", "mcp-alpha"),
    ]
    assert requests(rig) == ["prompts/get"]


@requirement("SCOPE-6")
async def test_rules_match_prompts_and_resources_as_they_match_tools(
    start: Start, era: str
) -> None:
    rig = await start(approvals={"deny": ["*SECRET*", "mcp_alpha_rev*"]})
    async with rig.client(era) as client:
        for refused in (client.get_prompt("mcp_alpha_review"), client.read_resource("note://2")):
            with pytest.raises(MCPError, match="is not allowed here"):
                await refused
        await read(client, "note://1")


@requirement("SCOPE-6")
async def test_reading_is_possible_where_only_reading_is(start: Start, era: str) -> None:
    rig = await start(approvals={"read_only": True, "writing": "deny", "destructive": "deny"})
    async with rig.client(era) as client:
        await prompted(client)
        await read(client, "note://1")
        result = await client.call_tool("tool_call", {"name": "mcp_alpha_find"})
        assert result.is_error


@requirement("SCOPE-6")
async def test_a_person_is_asked_about_a_prompt_and_a_resource(start: Start, era: str) -> None:
    rig = await start(approvals={"ask": ["mcp_alpha_*"]})
    person = Person(chosen("once"), chosen("no"))
    async with rig.client(era, person) as client:
        assert await prompted(client) == "review of alpha: {}"
        with pytest.raises(MCPError, match="said no"):
            await client.read_resource("note://1")
    assert ["mcp_alpha_review" in each.message for each in person.questions] == [True, False]
    assert requests(rig) == ["prompts/get"]


@requirement("SCOPE-6")
async def test_the_rate_counts_prompts_and_resources(start: Start) -> None:
    rig = await start(limits={"rate": {"calls": 2, "seconds": 600}})
    async with rig.client(HANDSHAKE) as client:
        await prompted(client)
        await read(client, "note://1")
        with pytest.raises(MCPError, match="More than 2 calls"):
            await client.read_resource("note://1")
        with pytest.raises(MCPError, match="More than 2 calls"):
            await client.get_prompt("mcp_alpha_review")


@requirement("SCOPE-6")
async def test_a_long_text_is_cut_as_that_of_a_tool_is(start: Start, era: str) -> None:
    uri = f"note://{'x' * 2000}"
    rig = await start(limits={"result_max_chars": 1000})
    async with rig.client(era) as client:
        contents = (await client.read_resource(uri)).contents
        texts = [each.text for each in contents if isinstance(each, types.TextResourceContents)]
    assert texts[0] == uri[:1000]
    assert "more characters" in texts[1]


@requirement("SCOPE-6")
async def test_the_activity_tells_of_prompts_and_resources(start: Start, era: str) -> None:
    rig = await start(approvals={"deny": ["*secret*"]})
    async with rig.client(era) as client:
        await prompted(client, of="x")
        with pytest.raises(MCPError):
            await client.read_resource("note://2")
    events = tuple(rig.gateway.drawer.activity)
    began = [each for each in events if isinstance(each, CallStarted)]
    assert [(each.kind, each.tool, each.toolset) for each in began] == [
        ("prompt", "mcp_alpha_review", "mcp-alpha"),
        ("resource", "mcp_alpha_secret_plan", "mcp-alpha"),
    ]
    assert [each.tool for each in events if isinstance(each, CallFinished)] == ["mcp_alpha_review"]
    assert [each.tool for each in events if isinstance(each, CallRefused)] == [
        "mcp_alpha_secret_plan"
    ]


SCOPES: dict[str, Document] = {
    "by name": {"deny": ["*secret*"]},
    "by address": {"deny": ["mcp_alpha_note://2"]},
}


@requirement("SCOPE-6")
@pytest.mark.parametrize("form", SCOPES)
@pytest.mark.parametrize("uri", ["note://2", "NOTE://2", "note://%32", "note://2/", "note://%2532"])
async def test_a_denied_resource_cannot_be_reached_by_another_way(
    start: Start, form: str, uri: str
) -> None:
    rig = await start(scopes={"some": SCOPES[form]}, scope="some")
    async with rig.client(STATELESS) as client:
        listed = await client.list_resources()
        assert [each.uri for each in listed.resources] == ["note://1"]
        with pytest.raises(MCPError, match="There is no resource at that address"):
            await client.read_resource(uri)
        assert await read(client, "note://3") == "note://3 of alpha"
    assert requests(rig) == ["resources/read"]


@requirement("SCOPE-6")
@pytest.mark.parametrize(
    "uri",
    ["plan", "%70lan", "%2570lan", "PL%41N", "%70lan/", f"%{'25' * 7}70lan", f"%{'25' * 40}70lan"],
)
async def test_an_address_that_no_server_lists_is_denied_in_every_spelling(
    start: Start, uri: str
) -> None:
    rig = await start(scopes={"some": {"deny": ["mcp_alpha_note://plan"]}}, scope="some")
    async with rig.client(STATELESS) as client:
        with pytest.raises(MCPError, match="There is no resource at that address"):
            await client.read_resource(f"note://{uri}")
        assert await read(client, "note://pl%61net") == "note://pl%61net of alpha"


@requirement("SCOPE-6")
async def test_patterns_that_allow_some_tools_allow_prompts_and_resources_of_such_names(
    start: Start, era: str
) -> None:
    scope: Document = {"allow": ["mcp_alpha_fi*"]}
    rig = await start(scopes={"some": scope}, scope="some")
    async with rig.client(era) as client:
        assert (await client.list_prompts()).prompts == []
        assert (await client.list_resource_templates()).resource_templates == []
        assert [each.name for each in (await client.list_resources()).resources] == ["first"]
        assert await read(client, "note://1") == "note://1 of alpha"
        with pytest.raises(MCPError, match="There is no prompt of that name"):
            await client.get_prompt("mcp_alpha_review")
        for uri in ("note://2", "note://3", "other://1"):
            with pytest.raises(MCPError, match="There is no resource at that address"):
                await client.read_resource(uri)


@requirement("SCOPE-6")
async def test_a_resource_is_not_told_of_once_its_scope_lost_it(
    start: Start, tmp_path: Path
) -> None:
    servers = {"alpha": shelf(tmp_path / "alpha.json")}
    rig = await start(scopes={"some": {"toolsets": ["mcp-alpha"]}}, scope="some")
    person = Person()
    async with rig.client(HANDSHAKE, person) as client:
        for uri in ("note://1", "note://2"):
            await ask(client, types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))
        rig.rewrite(document(servers, scopes={"some": {"deny": ["*secret*"]}}))
        await client.call_tool("tool_search", {"query": "find"})  # which applies the settings
        updated: Document = {**GOODS, "updated": ["note://2", "note://1"]}
        goods(tmp_path / "alpha.json", tool("find"), **updated)
        await person.until(lambda: "note://1" in person.told)
    assert "note://2" not in person.told


@requirement("SCOPE-6")
async def test_a_scope_is_told_when_a_server_appears_in_it_and_when_it_goes(
    start: Start, tmp_path: Path
) -> None:
    rig = await start(scopes={"some": {"allow": ["*wipe*", "mcp_alpha_review"]}}, scope="some")
    person, changed = Person(), "notifications/prompts/list_changed"
    async with rig.client(HANDSHAKE, person) as client:
        # `review` is allowed, but a server that has only prompts to show is not there.
        goods(tmp_path / "alpha.json", tool("find"), **GOODS)
        assert (await client.list_prompts()).prompts == []
        goods(tmp_path / "alpha.json", tool("wipe"), **GOODS)
        await person.until(lambda: person.told.count(changed) == 1)
        assert [each.name for each in (await client.list_prompts()).prompts] == ["mcp_alpha_review"]
        goods(tmp_path / "alpha.json", tool("find"), **GOODS)
        await person.until(lambda: person.told.count(changed) == 2)
        assert (await client.list_prompts()).prompts == []
