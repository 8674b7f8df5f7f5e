"""Sinks get every event in a thread of their own; a slow or broken one harms no call."""

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import anyio
import anyio.to_thread
import pytest

from tests.activity.parts import queries, searched
from tests.fakes import BrokenSink, ListSink, StuckSink
from tests.requirements import requirement
from tooldrawer import ActivityLog, ActivityOptions, Config, Drawer, FunctionToolset, JsonLines
from tooldrawer.activity import CallFinished, CallStarted
from tooldrawer.activity import Event as ActivityEvent

pytestmark = pytest.mark.anyio


@requirement("AF-3")
async def test_json_lines_has_one_object_a_line_with_its_kind_first(
    desk: FunctionToolset, tmp_path: Path
) -> None:
    file = tmp_path / "events.jsonl"
    drawer = Drawer([desk], config=Config(activity=ActivityOptions(jsonl=str(file))))
    await drawer.session("support").call("read_note", {"title": "two\nlines ü \u2028"})
    drawer.close()
    lines = file.read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    first, second = map(json.loads, lines)
    assert next(iter(first)) == "event"
    assert first["event"] == "CallStarted"
    assert first["arguments"] == {"title": "two\nlines ü \u2028"}
    assert second["event"] == "CallFinished"
    assert {"at", "session", "scope", "tool", "duration", "result_tokens"} <= second.keys()
    assert (second["session"], second["tool"]) == ("support", "read_note")


@requirement("AF-3")
async def test_json_lines_are_added_to_a_file_which_may_be_moved_away(tmp_path: Path) -> None:
    file, moved = tmp_path / "events.jsonl", tmp_path / "events.old"
    file.write_text('{"event": "Older"}\n', encoding="utf-8")
    log = ActivityLog(sinks=[JsonLines(file)])
    log(searched("a"))
    log.flush()
    file.rename(moved)
    log(searched("b"))
    log.close()
    assert [json.loads(line)["event"] for line in moved.read_text().splitlines()] == [
        "Older",
        "Searched",
    ]
    assert [json.loads(line)["query"] for line in file.read_text().splitlines()] == ["b"]


@requirement("AF-3")
async def test_a_sink_gets_every_event_from_when_it_was_attached_in_order() -> None:
    log, sink = ActivityLog(), ListSink()
    log(searched("before"))
    log.attach(sink)
    for number in range(1000):
        log(searched(str(number)))
    log.close()
    assert queries(sink.events) == [str(number) for number in range(1000)]
    log(searched("after the end"))
    assert len(sink.events) == 1000


@requirement("AF-3")
async def test_a_broken_sink_harms_neither_a_call_nor_another_sink(drawer: Drawer) -> None:
    broken, good = drawer.activity.attach(BrokenSink()), ListSink()
    drawer.activity.attach(good)
    for _ in range(3):
        assert not (await drawer.session().call("read_note", {"title": "a"})).is_error
    drawer.activity.flush()
    assert broken.failed == 6
    assert [type(event) for event in good.events] == [CallStarted, CallFinished] * 3


@requirement("AF-3")
async def test_a_file_that_cannot_be_written_harms_no_call(
    desk: FunctionToolset, tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "missing" / "events.jsonl")
    drawer = Drawer([desk], config=Config(activity=ActivityOptions(jsonl=nowhere)))
    assert not (await drawer.session().call("read_note", {"title": "a"})).is_error
    drawer.close()


@requirement("AF-3")
async def test_calls_finish_while_a_sink_hangs(drawer: Drawer) -> None:
    stuck, good = StuckSink(), ListSink()
    drawer.activity.attach(stuck)
    drawer.activity.attach(good)
    session = drawer.session()
    try:
        with anyio.fail_after(60):
            await session.call("read_note", {"title": "a"})
            await anyio.to_thread.run_sync(stuck.is_stuck.wait)
            calls = [("read_note", {"title": str(number)}) for number in range(50)]
            results = await session.call_all(calls)
        assert [result.text for result in results] == [f"note {number}" for number in range(50)]
        assert stuck.events == []
        assert len(list(drawer.activity)) == 102
    finally:
        stuck.release.set()
    drawer.close()
    assert len(stuck.events) == len(good.events) == 102


@requirement("AF-3")
async def test_events_that_a_sink_is_too_slow_for_are_counted_and_the_oldest_go() -> None:
    log, stuck = ActivityLog(keep=1), StuckSink()
    thread = log.attach(stuck)
    try:
        log(searched("in its hands"))
        with anyio.fail_after(60):
            await anyio.to_thread.run_sync(stuck.is_stuck.wait)
        for number in range(10_003):
            log(searched(str(number)))
        assert thread.dropped == 3
        assert not thread.flush(timeout=0.01)
    finally:
        stuck.release.set()
    log.close()
    assert queries(stuck.events) == ["in its hands", *map(str, range(3, 10_003))]


@requirement("AF-3")
async def test_a_sink_gets_an_event_at_once_unless_it_lets_them_gather() -> None:
    log, prompt, gathering = ActivityLog(), StuckSink(), ListSink()
    prompt.release.set()
    thread = log.attach(gathering, gather_s=3600)
    log.attach(prompt)
    log(searched("a"))
    with anyio.fail_after(60):
        await anyio.to_thread.run_sync(prompt.is_stuck.wait)
    assert gathering.events == []
    assert thread.flush()
    assert queries(gathering.events) == ["a"]
    log.close()


@requirement("AF-3")
async def test_what_waits_for_a_file_is_written_to_it_at_once(tmp_path: Path) -> None:
    file = SlowFile(tmp_path / "events.jsonl")
    log = ActivityLog(sinks=[file])
    log(searched("first"))
    assert await anyio.to_thread.run_sync(file.is_stuck.wait, 30)
    for number in range(100):
        log(searched(str(number)))
    file.release.set()
    log.close()
    assert file.batches == [1, 100]
    lines = (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line)["query"] for line in lines]
    assert found == ["first", *map(str, range(100))]


class SlowFile(JsonLines):
    """Waits before it writes, and counts the events that it is given at once."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.is_stuck, self.release = Event(), Event()
        self.batches: list[int] = []

    def write_all(self, events: Sequence[ActivityEvent]) -> None:
        self.batches.append(len(events))
        self.is_stuck.set()
        assert self.release.wait(30)
        super().write_all(events)
