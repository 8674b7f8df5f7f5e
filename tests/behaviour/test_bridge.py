"""The three tools a model sees, what they answer, and what they cost."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer import (
    AssemblyPolicy,
    Config,
    Drawer,
    Function,
    FunctionToolset,
    Scope,
    Session,
    StaticToolset,
)
from tooldrawer.tokens import Estimate, O200k, compact

pytestmark = pytest.mark.anyio

ON = Config(assembly=AssemblyPolicy(enabled="on"))
Numbered = Callable[[str, int], FunctionToolset]


async def reply(session: Session, name: str, arguments: Any) -> Any:
    result = await session.call(name, arguments)
    assert not result.is_error, result.text
    return json.loads(result.text)


@requirement("BR-1")
async def test_the_three_schemas_cost_at_most_300_tokens_in_every_shape(
    numbered: Numbered,
) -> None:
    config = Config(assembly=AssemblyPolicy(enabled="on", listing="off"))
    assembly = await Drawer([numbered("a", 1)], config=config).session().tools()
    for shape in (assembly.openai(), assembly.anthropic(), assembly.mcp()):
        assert O200k().count(compact(shape)) <= 300


@requirement("BR-2")
async def test_the_bridge_has_no_counts_and_no_names_of_tools(numbered: Numbered) -> None:
    few = await Drawer([numbered("a", 1)], config=ON).session().tools()
    many = await Drawer([numbered("a", 99)], config=ON).session().tools()
    assert few.mcp() == many.mcp()


@requirement("BR-3")
async def test_the_toolsets_of_the_scope_are_named_sorted_connected_or_not(
    numbered: Numbered,
) -> None:
    made = Drawer([numbered("zoo", 1), StaticToolset("github", []), numbered("apps", 1)], config=ON)
    scope = Scope(toolsets=["zoo", "mcp-*", "mcp-later"])
    assembly = await made.session(scope=scope).tools()
    assert assembly.listing == "In the drawer: mcp-github, mcp-later, zoo."
    assert assembly.tools[0].description.endswith(assembly.listing)


@requirement("BR-3")
async def test_a_toolset_that_is_all_core_is_not_in_the_drawer(numbered: Numbered) -> None:
    def terminal() -> None: ...

    made = Drawer([FunctionToolset("shell", [terminal]), numbered("a", 1)], config=ON)
    assert (await made.session().tools()).listing == "In the drawer: a."


@requirement("BR-3")
async def test_a_long_listing_ends_with_how_many_more_there_are() -> None:
    servers = [StaticToolset(f"server-{at:03}", [{"name": "x"}]) for at in range(200)]
    listing = (await Drawer(servers, config=ON).session().tools()).listing
    assert listing.startswith("In the drawer: mcp-server-000, mcp-server-001, ")
    assert listing.endswith(" more.")
    assert O200k().count(listing) <= 150


@requirement("BR-3")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("off", ""),
        ("names", "In the drawer: a_0, a_1."),
        ("full", "In the drawer: a_0 - Do task 0 of a\na_1 - Do task 1 of a."),
    ],
)
async def test_the_listing_can_say_less_or_more(
    numbered: Numbered, kind: Any, expected: str
) -> None:
    config = Config(assembly=AssemblyPolicy(enabled="on", listing=kind))
    made = Drawer([numbered("a", 2)], config=config)
    assert (await made.session().tools()).listing == expected


@requirement("BR-6")
async def test_direct_and_bridged_calls_of_direct_and_deferred_tools_all_run(
    desk: FunctionToolset,
) -> None:
    config = Config(assembly=AssemblyPolicy(enabled="on", pinned=("read_note",)))
    session = Drawer([desk], config=config).session()
    await session.tools()
    for name, arguments in (
        ("read_note", {"title": "a"}),
        ("tool_call", {"name": "read_note", "arguments": {"title": "a"}}),
        ("add_note", {"title": "a"}),
        ("tool_call", {"name": "add_note", "arguments": {"title": "a"}}),
    ):
        assert not (await session.call(name, arguments)).is_error


@requirement("BR-6")
async def test_a_tool_call_in_a_tool_call_is_unwrapped_once_and_refused_beyond(
    drawer: Drawer,
) -> None:
    session = drawer.session()
    inner: dict[str, Any] = {"name": "read_note", "arguments": {"title": "a"}}
    once = {"name": "tool_call", "arguments": inner}
    twice = {"name": "tool_call", "arguments": once}
    assert (await session.call("tool_call", once)).text == "note a"
    refused = await session.call("tool_call", twice)
    assert refused.is_error
    assert "cannot be called through" in refused.text


@requirement("BR-7")
async def test_a_signature_is_enough_to_call_by() -> None:
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "default": 10},
            "repo": {"type": "string"},
            "state": {"enum": ["open", "closed"]},
            "filter": {
                "type": "object",
                "properties": {"since": {"type": "string"}, "deep": {"type": "object"}},
                "required": ["since"],
            },
            "labels": {"type": "array", "items": {"$ref": "#/$defs/Label"}},
            "who": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["repo", "state"],
        "$defs": {"Label": {"type": "string"}},
    }
    definition = {"name": "list_issues", "description": "List issues.", "inputSchema": schema}
    session = Drawer([StaticToolset("github", [definition])], config=ON).session()
    found = await reply(session, "tool_search", {"query": "list issues"})
    assert found == {
        "matches": [
            {
                "name": "mcp_github_list_issues",
                "description": "List issues.",
                "signature": '(repo: string, state: "open"|"closed", limit?: integer = 10, '
                "filter?: {since: string, deep?: object}, labels?: string[], who?: string|null)",
            }
        ],
        "total_available": 1,
    }


def _wordy(at: int) -> dict[str, Any]:
    properties = {
        f"option_{number}": {"type": "string", "enum": [f"value-{n}" for n in range(20)]}
        for number in range(10)
    }
    return {
        "name": f"report_{at}",
        "description": "Make a report. " + "It says very much about everything. " * 40,
        "inputSchema": {
            "type": "object",
            "properties": {"needed": {"type": "string"}, **properties},
            "required": ["needed"],
        },
    }


@requirement("BR-7")
@pytest.mark.parametrize("counter", [O200k(), Estimate()])
async def test_a_reply_stays_within_its_budget_and_lower_ranks_lose_text_first(
    counter: Any,
) -> None:
    servers = [StaticToolset("big", [_wordy(at) for at in range(20)])]
    session = Drawer(servers, config=ON, counter=counter).session()
    result = await session.call("tool_search", {"query": "make report", "limit": 20})
    matches = json.loads(result.text)["matches"]
    assert O200k().count(result.text) <= 1_200
    assert all("(needed" in match["signature"] for match in matches)
    assert "needed: string" in matches[0]["signature"]
    lengths = [len(match["description"]) + len(match["signature"]) for match in matches]
    assert lengths == sorted(lengths, reverse=True)
    assert len(matches) == 20


@requirement("BR-8")
async def test_describe_gives_the_full_schema_and_annotations(drawer: Drawer) -> None:
    found = await reply(drawer.session(), "tool_describe", {"name": "delete_note"})
    assert found == {
        "name": "delete_note",
        "description": "Delete a note for good.",
        "parameters": {
            "additionalProperties": False,
            "properties": {"title": {"type": "string"}},
            "required": ["title"],
            "type": "object",
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
    }


@requirement("BR-8")
async def test_an_unknown_name_gets_the_nearest_ones(drawer: Drawer) -> None:
    result = await drawer.session().call("tool_describe", {"name": "delet_note"})
    assert result.is_error
    assert "'delete_note'" in result.text


@requirement("BR-9")
async def test_when_nothing_fits_the_reply_is_empty_with_where_and_how_to_search(
    numbered: Numbered,
) -> None:
    session = Drawer([numbered("a", 2), numbered("b", 1)], config=ON).session()
    found = await reply(session, "tool_search", {"query": "xqzvk wrbl"})
    assert found["matches"] == []
    assert found["total_available"] == 3
    assert found["toolsets"] == ["a", "b"]
    assert "tool_search again with other words" in found["hint"]


@requirement("BR-10")
@pytest.mark.parametrize(
    ("limit", "count"),
    [(None, 5), (3, 3), (0, 1), (-4, 1), (99, 20), ("7", 7), ("many", 5), (2.9, 2), (True, 5)],
)
async def test_the_limit_has_a_default_and_is_clamped(
    numbered: Numbered, limit: Any, count: int
) -> None:
    session = Drawer([numbered("task", 30)], config=ON).session()
    found = await reply(session, "tool_search", {"query": "do task", "limit": limit})
    assert len(found["matches"]) == count


async def test_search_looks_into_the_drawer_only_while_it_is_closed() -> None:
    def read_file() -> None:
        """Read a text file."""

    def read_letter() -> None:
        """Read a text letter."""

    own = FunctionToolset("own", [Function(read_file), Function(read_letter)])
    closed = await reply(Drawer([own], config=ON).session(), "tool_search", {"query": "read text"})
    assert [match["name"] for match in closed["matches"]] == ["read_letter"]
    opened = await reply(Drawer([own]).session(), "tool_search", {"query": "read text"})
    assert {match["name"] for match in opened["matches"]} == {"read_file", "read_letter"}
