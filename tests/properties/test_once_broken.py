"""Promises that once were broken, each in its smallest form."""

from functools import partial

import pytest

from tests.properties.strategies import arrays, compact, nested_in, run
from tooldrawer import (
    Assembly,
    AssemblyPolicy,
    Config,
    Drawer,
    FunctionToolset,
    Scope,
    SearchPolicy,
    Session,
    StaticToolset,
    Tool,
    ToolResult,
)
from tooldrawer.assembly import assemble
from tooldrawer.bridge import signature
from tooldrawer.tokens import Estimate, O200k, SchemaCosts
from tooldrawer.tool import Json, JsonObject

RECURSIVE: JsonObject = {
    "type": "object",
    "properties": {"filter": {"$ref": "#/$defs/filter"}},
    "$defs": {
        "filter": {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"$ref": "#/$defs/filter"}},
            ]
        }
    },
}


def answered(drawer: Drawer, name: str, arguments: Json) -> ToolResult:
    async def main() -> ToolResult:
        return await drawer.session().call(name, arguments)

    return run(main)


def first_array(drawer: Drawer, scope: Scope) -> Assembly:
    return run(drawer.session(scope=scope).tools)


def anything_goes() -> Drawer:
    async def take_all(**anything: object) -> str:
        return compact(sorted(anything))

    return Drawer([FunctionToolset("desk", [take_all])])


def test_a_number_with_five_thousand_digits_gets_an_answer() -> None:
    assert answered(anything_goes(), "take_all", {"count": 10**5_000}).content


def test_a_recursive_schema_has_a_signature() -> None:
    assert signature(Tool(name="x", parameters=RECURSIVE)).startswith("(filter?: ")


def test_a_tool_with_a_recursive_schema_can_be_searched_for() -> None:
    server = StaticToolset("hub", [{"name": "find", "inputSchema": RECURSIVE}])
    assert not answered(Drawer([server]), "tool_search", {"query": "find"}).is_error


def test_a_deep_schema_has_a_signature() -> None:
    deep = nested_in(190, wrap=lambda value: {"type": "array", "items": value})
    assert signature(Tool(name="x", parameters={"properties": {"a": deep}})).startswith("(a?: ")


@pytest.mark.parametrize("own", [{}, {"properties": {"b": {}}, "required": ["b"]}])
def test_parameters_that_an_all_of_requires_are_in_the_signature(own: JsonObject) -> None:
    parts: list[Json] = [{"properties": {name: {}}, "required": [name]} for name in ("a", "c")]
    assert "a: " in signature(Tool(name="x", parameters={**own, "allOf": parts}))
    assert "a: " in signature(Tool(name="x", parameters={**own, "allOf": parts[:1]}))


def wide_drawer(budget: int = 1_200) -> Drawer:
    """Fifty servers with one tool each."""
    tool: JsonObject = {"name": "tool", "description": "Make a widget do many things."}
    config = Config(search=SearchPolicy(reply_max_tokens=budget))
    return Drawer((StaticToolset(f"name-{at}", [tool]) for at in range(50)), config=config)


def test_a_list_of_queries_that_nothing_fits_is_answered_within_the_budget() -> None:
    result = answered(wide_drawer(), "tool_search", {"query": ["zzzz"] * 10})
    assert O200k().count(result.text) <= 1_200


def test_a_search_reply_with_advice_is_within_the_budget() -> None:

    async def main(budget: int) -> ToolResult:
        session = Session("gateway", wide_drawer(budget), scope=Scope(), refuses_searches=False)
        for _ in range(8):
            await session.call("tool_search", {"query": "widget"})
        return await session.call("tool_search", {"query": "widget", "limit": 20})

    for budget in range(200, 300, 10):
        result = run(partial(main, budget))
        assert "advice" in result.text
        assert O200k().count(result.text) <= budget


def test_a_newcomer_does_not_rename_a_pinned_tool() -> None:
    policy = AssemblyPolicy(enabled="on", pinned=("mcp_a_b_c",))
    servers = [StaticToolset("a", [{"name": "b_c"}]), StaticToolset("q", [{"name": "other"}])]

    async def main() -> tuple[Assembly, Assembly]:
        drawer = Drawer(servers, config=Config(assembly=policy))
        session = drawer.session()
        before = await session.tools()
        drawer.registry.add(StaticToolset("a_b", [{"name": "c"}]))
        return before, await session.tools()

    before, after = run(main)
    assert arrays(after) == arrays(before)


@pytest.mark.parametrize("raw", [{"inputSchema": {}}, {"description": None}, {"inputSchema": None}])
def test_an_empty_schema_and_a_null_go_out_as_they_came_in(raw: dict[str, Json]) -> None:
    definition: dict[str, Json] = {"name": "x", **raw}
    policy, costs = AssemblyPolicy(enabled="off"), SchemaCosts(Estimate())
    assert assemble([Tool.from_mcp(definition)], policy, costs=costs).mcp() == [definition]
