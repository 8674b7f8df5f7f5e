"""Repeated searching is limited by turns, and never locks a session."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from tests.fakes import Clock
from tests.requirements import requirement
from tooldrawer import (
    AssemblyPolicy,
    Config,
    Drawer,
    FunctionToolset,
    Scope,
    SearchPolicy,
    Session,
    ToolResult,
)

pytestmark = pytest.mark.anyio

LIMIT = 4
CONFIG = Config(assembly=AssemblyPolicy(enabled="on"), search=SearchPolicy(most_in_a_row=LIMIT))
SEARCH = ("tool_search", {"query": "do task"})
Numbered = Callable[[str, int], FunctionToolset]


@pytest.fixture
def drawer(numbered: Numbered) -> Drawer:
    return Drawer([numbered("task", 3)], config=CONFIG)


def has_matches(result: ToolResult) -> bool:
    assert not result.is_error, result.text
    return bool(json.loads(result.text)["matches"])


async def search(session: Session) -> bool:
    """Search in a turn of its own; whether the reply has matches."""
    await session.tools()
    return has_matches(await session.call(*SEARCH))


async def search_to_the_limit(session: Session) -> None:
    assert [await search(session) for _ in range(LIMIT)] == [True] * LIMIT


@requirement("BR-11")
async def test_one_reply_after_the_limit_has_no_matches_and_then_searching_goes_on(
    drawer: Drawer,
) -> None:
    session = drawer.session()
    assert [await search(session) for _ in range(2 * LIMIT + 2)] == ([True] * LIMIT + [False]) * 2


@requirement("BR-11")
async def test_the_reply_without_matches_asks_the_model_to_act(drawer: Drawer) -> None:
    session = drawer.session()
    await search_to_the_limit(session)
    await session.tools()
    reply = json.loads((await session.call(*SEARCH)).text)
    assert "Call one of the tools found so far, or tell the user" in reply["hint"]
    assert reply["total_available"] == 3


@requirement("BR-11")
async def test_nothing_is_advised_up_to_the_limit(drawer: Drawer) -> None:
    session = drawer.session()
    replies = [json.loads((await session.call(*SEARCH)).text) for _ in range(LIMIT)]
    assert not any("advice" in reply for reply in replies)


@requirement("BR-11")
async def test_a_host_that_assembles_only_once_is_limited_too(drawer: Drawer) -> None:
    session = drawer.session()
    await session.tools()
    found = [has_matches(await session.call(*SEARCH)) for _ in range(LIMIT + 2)]
    assert found == [True] * LIMIT + [False, True]


@requirement("BR-11")
@pytest.mark.parametrize("concurrency", [1, 8])
async def test_searches_of_one_batch_count_once(drawer: Drawer, concurrency: int) -> None:
    session = drawer.session()
    for _ in range(LIMIT):
        results = await session.call_all([SEARCH] * 10, concurrency=concurrency)
        assert all(map(has_matches, results))
    assert not all(map(has_matches, await session.call_all([SEARCH])))


@requirement("BR-11")
async def test_searches_that_a_host_starts_together_count_once(drawer: Drawer) -> None:
    session = drawer.session()
    found: list[bool] = []

    async def search_once() -> None:
        found.append(has_matches(await session.call(*SEARCH)))

    async with anyio.create_task_group() as tasks:
        for _ in range(3 * LIMIT):
            tasks.start_soon(search_once)
    assert found == [True] * 3 * LIMIT


@requirement("BR-11")
async def test_searches_of_one_turn_that_run_one_after_another_count_once(drawer: Drawer) -> None:
    session = drawer.session()
    for _ in range(LIMIT):
        await session.tools()
        assert has_matches(await session.call(*SEARCH))
        assert has_matches(await session.call(*SEARCH))


@requirement("BR-11")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("task_1", {}),
        ("task_1", {"text": ["not", "a", "text"]}),
        ("tool_call", {"name": "task_1"}),
        ("tool_call", {"name": "no_such_tool"}),
        ("tool_call", 5),
        ("no_such_tool", {}),
        ("tool_describe", {"name": "task_1"}),
    ],
)
async def test_any_other_call_resets_the_count_even_if_it_fails(
    drawer: Drawer, name: str, arguments: Any
) -> None:
    session = drawer.session()
    await search_to_the_limit(session)
    await session.call(name, arguments)
    await search_to_the_limit(session)


@requirement("BR-11")
async def test_a_turn_with_another_call_beside_its_search_does_not_count(drawer: Drawer) -> None:
    session, other = drawer.session(), ("task_1", None)
    for _ in range(2 * LIMIT):
        first, _ = await session.call_all([SEARCH, other], concurrency=1)
        _, last = await session.call_all([other, SEARCH], concurrency=1)
        assert has_matches(first)
        assert has_matches(last)


@requirement("BR-11")
async def test_a_malformed_search_is_no_other_call(drawer: Drawer) -> None:
    session = drawer.session()
    await search_to_the_limit(session)
    assert (await session.call("tool_search", {})).is_error
    assert not await search(session)


@requirement("BR-11")
async def test_a_message_of_the_user_resets_the_count(drawer: Drawer) -> None:
    session = drawer.session()
    await search_to_the_limit(session)
    session.note_user_message()
    await search_to_the_limit(session)


@requirement("BR-11")
async def test_a_minute_without_searches_resets_the_count(drawer: Drawer) -> None:
    clock = Clock()
    session = Session("clocked", drawer, scope=Scope(), clock=clock)
    await search_to_the_limit(session)
    clock.now += 60
    await search_to_the_limit(session)
    clock.now += 59
    assert not await search(session)


@requirement("BR-11")
async def test_a_host_that_sees_only_some_calls_gets_advice_and_all_matches(
    drawer: Drawer,
) -> None:
    session = Session("gateway", drawer, scope=Scope(), refuses_searches=False)
    replies = [json.loads((await session.call(*SEARCH)).text) for _ in range(3 * LIMIT)]
    assert all(reply["matches"] for reply in replies)
    advised = [number for number, reply in enumerate(replies) if "advice" in reply]
    assert advised == [LIMIT, 2 * LIMIT + 1]


@requirement("BR-11")
async def test_each_query_of_a_list_gets_a_reply_at_the_limit(drawer: Drawer) -> None:
    session = drawer.session()
    await search_to_the_limit(session)
    await session.tools()
    reply = await session.call("tool_search", {"query": ["do task", "other"]})
    results = json.loads(reply.text)["results"]
    assert [result["matches"] for result in results] == [[], []]
