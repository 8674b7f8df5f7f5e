"""A subscription is every event from now on; a reader that falls behind never holds up a call."""

import gc
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread
import pytest

from tests.activity.parts import first, queries, searched
from tests.requirements import requirement
from tooldrawer import ActivityLog, Drawer, Event
from tooldrawer.activity import CallFinished, CallStarted

pytestmark = pytest.mark.anyio

Value = TypeVar("Value")
BACKENDS = ["asyncio", "trio"]


async def elsewhere(backend: str, main: Callable[[], Awaitable[Value]]) -> Value:
    """Run `main` in an event loop of another thread."""
    return await anyio.to_thread.run_sync(lambda: anyio.run(main, backend=backend))


def sink_threads() -> set[threading.Thread]:
    """Those alive; as a set, because another test's may be on its way out."""
    return {thread for thread in threading.enumerate() if thread.name == "tooldrawer-sink"}


@requirement("AF-3")
async def test_a_subscription_begins_with_the_next_event(drawer: Drawer) -> None:
    session = drawer.session()
    await session.call("read_note", {"title": "before"})
    with anyio.fail_after(60):
        async with drawer.activity.subscribe() as stream:
            await session.call("read_note", {"title": "after"})
            begin, end = await first(2, stream)
    assert isinstance(begin, CallStarted)
    assert begin.arguments == {"title": "after"}
    assert isinstance(end, CallFinished)


@requirement("AF-3")
async def test_a_subscription_wakes_a_reader_that_waits() -> None:
    log = ActivityLog()
    found: list[Event] = []
    reading = anyio.Event()

    async def read() -> None:
        async with log.subscribe() as stream:
            reading.set()
            found.extend(await first(3, stream))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await reading.wait()
            for query in "abc":
                log(searched(query))
                await anyio.lowlevel.checkpoint()
    assert queries(found) == ["a", "b", "c"]


@requirement("AF-3")
async def test_a_subscription_to_a_session_has_nothing_of_another() -> None:
    log = ActivityLog()
    with anyio.fail_after(60):
        mine, all_of_them = log.subscribe(session="mine"), log.subscribe()
        for query, session in (("a", "mine"), ("b", "yours"), ("c", ""), ("d", "mine")):
            log(searched(query, session=session))
        assert queries(await first(2, mine)) == ["a", "d"]
        assert queries(await first(4, all_of_them)) == ["a", "b", "c", "d"]


@requirement("AF-3")
async def test_a_closed_subscription_ends_after_what_is_waiting() -> None:
    log = ActivityLog()
    stream, other = log.subscribe(), log.subscribe()
    log(searched("a"))
    stream.close()
    log(searched("b"))
    log.close()
    with anyio.fail_after(60):
        assert queries([event async for event in stream]) == ["a"]
        assert queries([event async for event in other]) == ["a", "b"]


@requirement("AF-3")
async def test_a_waiting_reader_is_told_of_the_end() -> None:
    log = ActivityLog()
    reading = anyio.Event()

    async def read() -> None:
        stream = log.subscribe()
        reading.set()
        assert [event async for event in stream] == []

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await reading.wait()
            log.close()


@requirement("AF-3")
async def test_a_reader_that_falls_behind_loses_the_oldest_events() -> None:
    log = ActivityLog(keep=1)
    stream = log.subscribe()
    for number in range(10_005):
        log(searched(str(number)))
    log.close()
    with anyio.fail_after(60):
        found = queries([event async for event in stream])
    assert (len(found), found[0], found[-1]) == (10_000, "5", "10004")


@requirement("AF-3")
@pytest.mark.parametrize("backend", BACKENDS)
async def test_events_reach_a_reader_in_the_event_loop_of_another_thread(
    backend: str, drawer: Drawer
) -> None:
    reading = threading.Event()
    found: list[Event] = []

    async def read() -> None:
        async with drawer.activity.subscribe() as stream:
            reading.set()
            found.extend(await first(20, stream))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(elsewhere, backend, read)
            await anyio.to_thread.run_sync(reading.wait)
            for _ in range(10):
                await drawer.session().call("read_note", {"title": "a"})
    assert [type(event) for event in found] == [CallStarted, CallFinished] * 10


@requirement("AF-3")
async def test_events_of_any_thread_reach_a_reader() -> None:
    log = ActivityLog()
    found: list[Event] = []

    def report() -> None:
        for number in range(100):
            log(searched(str(number)))

    with anyio.fail_after(60):
        async with log.subscribe() as stream, anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, report)
            found += await first(100, stream)
    assert queries(found) == [str(number) for number in range(100)]


@requirement("AF-3")
@pytest.mark.parametrize("backend", BACKENDS)
async def test_calls_finish_while_the_event_loop_of_a_reader_hangs(
    backend: str, drawer: Drawer
) -> None:
    reading, release = threading.Event(), threading.Event()
    found: list[Event] = []

    async def read() -> None:
        async with drawer.activity.subscribe() as stream:
            reading.set()
            release.wait()
            found.extend(await first(4, stream))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(elsewhere, backend, read)
            await anyio.to_thread.run_sync(reading.wait)
            try:
                for _ in range(2):
                    await drawer.session().call("read_note", {"title": "a"})
            finally:
                release.set()
    assert [type(event) for event in found] == [CallStarted, CallFinished] * 2


@requirement("AF-3")
@pytest.mark.parametrize("backend", BACKENDS)
async def test_the_end_of_the_activity_reaches_a_reader_in_another_thread(backend: str) -> None:
    log = ActivityLog()
    reading = threading.Event()
    found: list[Event] = []

    async def read() -> None:
        stream = log.subscribe()
        reading.set()
        found.extend([event async for event in stream])

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(elsewhere, backend, read)
            await anyio.to_thread.run_sync(reading.wait)
            log(searched("last"))
            log.close()
    assert queries(found) == ["last"]


@requirement("AF-3")
@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_reader_whose_event_loop_is_over_harms_nobody(backend: str) -> None:
    log = ActivityLog()
    kept: list[object] = []

    async def subscribe() -> None:
        kept.append(log.subscribe())

    with anyio.fail_after(60):
        await elsewhere(backend, subscribe)
        for number in range(3):
            log(searched(str(number)))
        await anyio.to_thread.run_sync(log.close)
    assert len(list(log)) == 3


@requirement("AF-3")
@pytest.mark.parametrize("ending", ["closed", "forgotten"])
async def test_a_subscription_that_is_over_leaves_no_thread_behind(ending: str) -> None:
    log = ActivityLog()
    before = sink_threads()

    async def from_a_thread(query: str) -> None:
        await anyio.to_thread.run_sync(log, searched(query))

    with anyio.fail_after(60):
        stream = log.subscribe()
        await from_a_thread("a")
        assert queries(await first(1, stream)) == ["a"]
        assert len(sink_threads() - before) == 1
        if ending == "closed":
            stream.close()
        else:
            del stream
            gc.collect()
        await from_a_thread("b")
        while sink_threads() - before:
            await anyio.lowlevel.checkpoint()
