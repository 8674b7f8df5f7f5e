"""Sessions: scope, subagents, the prompt cache, the ledger."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer import (
    AssemblyPolicy,
    Config,
    Drawer,
    FunctionToolset,
    Scope,
    Session,
    StaticToolset,
    ToolCall,
    errors,
)
from tooldrawer.activity import CallRefused

pytestmark = pytest.mark.anyio

ON = Config(assembly=AssemblyPolicy(enabled="on"))
Numbered = Callable[[str, int], FunctionToolset]


async def visible(session: Session) -> set[str]:
    return {tool.name for tool in (await session.tools()).tools}


@requirement("SCOPE-1")
@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (None, {"a_0", "a_1", "b_0", "b_1"}),
        (Scope(toolsets=["a"]), {"a_0", "a_1"}),
        (Scope(disabled_toolsets=["a"]), {"b_0", "b_1"}),
        (Scope(toolsets=["*"], allow=["*_0"]), {"a_0", "b_0"}),
        (Scope(allow=["a_*"], deny=["*_1"]), {"a_0"}),
        (Scope(toolsets=[]), set[str]()),
    ],
)
async def test_a_scope_admits_toolsets_then_tools_and_deny_wins(
    numbered: Numbered, scope: Scope | None, expected: set[str]
) -> None:
    made = Drawer([numbered("a", 2), numbered("b", 2)])
    assert await visible(made.session(scope=scope)) == expected


@requirement("SCOPE-1")
async def test_deny_also_matches_the_part_of_a_name_that_was_cut_off() -> None:
    definition = {"name": "x" * 60 + "_delete", "inputSchema": {"type": "object"}}
    made = Drawer([StaticToolset("files", [definition])])
    assert await visible(made.session(scope=Scope(deny=["*_delete"]))) == set()


@requirement("SCOPE-2")
async def test_counts_and_hints_know_only_the_scope(numbered: Numbered) -> None:
    made = Drawer([numbered("open", 3), numbered("secret", 5)], config=ON)
    session = made.session(scope=Scope(toolsets=["open"]))
    found = json.loads((await session.call("tool_search", {"query": "task"})).text)
    assert found["total_available"] == 3
    hint = await session.call("tool_describe", {"name": "secret_1"})
    assert "secret" not in hint.text
    assert all("secret" not in repr(event) for event in made.activity)


@requirement("SCOPE-3")
async def test_out_of_scope_and_unknown_are_refused_in_the_same_words(
    numbered: Numbered,
) -> None:
    made = Drawer([numbered("open", 1), numbered("secret", 1)])
    session = made.session(scope=Scope(toolsets=["open"]))
    calls = [(name, None) for name in ("secret_0", "zzzzzz_0")]
    calls += [("tool_call", {"name": name}) for name, _ in calls]  # pyright: ignore
    one_by_one = [(await session.call(name, arguments)).text for name, arguments in calls]
    together = [result.text for result in await session.call_all(calls)]
    assert len({*one_by_one, *together}) == 1
    refused = [event for event in made.activity if isinstance(event, CallRefused)]
    assert len({(event.tool, event.reason) for event in refused}) == 1


@requirement("SCOPE-4")
async def test_a_child_never_sees_more_than_its_parent(numbered: Numbered) -> None:
    made = Drawer([numbered("a", 2), numbered("b", 2), numbered("c", 2)])
    parent = made.session(scope=Scope(toolsets=["a", "b"], deny=["*_1"]))
    child = parent.child(Scope(toolsets=["b", "c"]))
    grandchild = child.child(Scope())
    assert await visible(child) == {"b_0"}
    assert await visible(grandchild) == {"b_0"}
    assert await visible(parent) == {"a_0", "b_0"}
    assert (await child.call("c_0")).is_error


@requirement("SCOPE-5")
async def test_a_named_scope_belongs_to_whoever_was_given_its_name(numbered: Numbered) -> None:
    config = Config(scopes={"triage": Scope(name="triage", toolsets=["a"])})
    made = Drawer([numbered("a", 1), numbered("b", 1)], config=config)
    assert await visible(made.session(scope="triage")) == {"a_0"}
    assert await visible(made.session()) == {"a_0", "b_0"}
    with pytest.raises(errors.ConfigError, match="no scope named 'tirage'"):
        made.session(scope="tirage")


@requirement("CACHE-1")
async def test_two_drawers_with_the_same_settings_give_the_same_bytes(numbered: Numbered) -> None:
    arrays = [
        json.dumps(
            (
                await Drawer([numbered("b", 9), numbered("a", 9)], config=ON).session().tools()
            ).openai()
        )
        for _ in range(2)
    ]
    assert arrays[0] == arrays[1]


@requirement("CACHE-2")
async def test_nothing_that_comes_and_goes_changes_a_byte(numbered: Numbered) -> None:
    toolset = numbered("a", 3)
    made = Drawer([toolset, numbered("b", 1)], config=ON)
    session = made.session()
    before = json.dumps((await session.tools()).anthropic())

    def brand_new() -> str:
        return ""

    toolset.add(brand_new)
    toolset.remove("a_1")
    made.registry.add(numbered("later", 4))
    made.registry.remove("b")
    await session.call("tool_search", {"query": "task"})
    await session.call("tool_describe", {"name": "a_0"})
    await session.call("tool_call", {"name": "a_0", "arguments": {}})
    assert json.dumps((await session.tools()).anthropic()) == before


@requirement("CACHE-3")
async def test_results_given_earlier_stay_what_they_were(numbered: Numbered) -> None:
    toolset = numbered("a", 3)
    session = Drawer([toolset], config=ON).session()
    first = await session.call("tool_search", {"query": "task"})
    text = first.text
    toolset.remove("a_0")
    await session.call("tool_search", {"query": "task"})
    assert first.text == text


@requirement("LED-1")
async def test_the_ledger_charges_replies_on_every_later_turn_and_can_be_negative(
    numbered: Numbered,
) -> None:
    session = Drawer([numbered("a", 60)], config=ON).session()
    first = await session.tools()
    assert session.ledger.net == first.saved_tokens
    await session.call("tool_search", {"query": "task"})
    reply = first.saved_tokens - session.ledger.net
    assert reply > 0
    for _ in range(3):
        await session.tools()
    assert session.ledger.net == 4 * first.saved_tokens - 3 * reply
    await session.call("tool_call", {"name": "nowhere"})
    assert session.ledger.retries == 1

    small = Drawer([numbered("a", 1)], config=ON).session()
    await small.tools()
    assert small.ledger.net < 0
    assert str(small.ledger).startswith("lost ")


async def test_calls_of_one_turn_keep_their_order_and_ids(numbered: Numbered) -> None:
    session = Drawer([numbered("a", 9)]).session()
    calls = [ToolCall(name=f"a_{at}", arguments={"text": "x"}, id=str(at)) for at in range(9)]
    results = await session.call_all(calls, concurrency=3)
    assert [(result.call_id, result.text) for result in results] == [
        (str(at), f"a {at} x") for at in range(9)
    ]


async def test_calls_may_be_values_pairs_or_mappings(numbered: Numbered) -> None:
    session = Drawer([numbered("a", 3)]).session()
    results = await session.call_all(
        [
            ToolCall(name="a_0", id="1"),
            ("a_1", '{"text": "x"}'),
            {"name": "a_2", "arguments": {"text": "y"}, "id": "3"},
            {"arguments": None},
        ]
    )
    assert [result.call_id for result in results] == ["1", "", "3", ""]
    assert [result.text for result in results[:3]] == ["a 0 ", "a 1 x", "a 2 y"]
    assert results[3].is_error


CHAT = {"id": "7", "type": "function", "function": {"name": "a_0", "arguments": '{"text": "x"}'}}
RESPONSES = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "7",
    "name": "a_0",
    "arguments": '{"text": "x"}',
}
MESSAGES = {"type": "tool_use", "id": "7", "name": "a_0", "input": {"text": "x"}}


@pytest.mark.parametrize("call", [CHAT, RESPONSES, MESSAGES], ids=["chat", "responses", "messages"])
async def test_calls_may_be_entries_as_a_provider_sent_them(
    numbered: Numbered, call: dict[str, Any]
) -> None:
    (result,) = await Drawer([numbered("a", 1)]).session().call_all([call])
    assert (result.call_id, result.text) == ("7", "a 0 x")


async def test_a_child_ends_with_its_parent(drawer: Drawer) -> None:
    async with drawer.session("parent") as parent:
        child = parent.child()
        grandchild = child.child()
        assert not (await grandchild.call("tool_search", {"query": "note"})).is_error
    for session in (child, grandchild):
        with pytest.raises(errors.SessionClosed, match="'parent'"):
            await session.call("tool_search", {"query": "note"})


async def test_a_session_that_was_left_says_so(drawer: Drawer) -> None:
    async with drawer.session("mine") as session:
        pass
    with pytest.raises(errors.SessionClosed, match="'mine'"):
        await session.tools()
