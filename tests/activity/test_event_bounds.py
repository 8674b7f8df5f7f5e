"""An event keeps a bounded part of what happened, and never a part of a secret."""

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest

from tests.activity.parts import started
from tests.fakes import ScriptedApprover, StuckSink
from tests.requirements import requirement
from tooldrawer import ActivityLog, Answer, Drawer, Event, FunctionToolset, Grants, Rules
from tooldrawer.activity import CallFailed, CallStarted, Masker, Searched, UpstreamUp
from tooldrawer.activity.event_bounds import MAX_EVENT_BYTES
from tooldrawer.activity.event_queue import MAX_QUEUE_BYTES, EventQueue
from tooldrawer.activity.sinks import as_json
from tooldrawer.tokens import Estimate, compact
from tooldrawer.tool import Json

SLOW = "token:"
"""What the masker takes longest for."""
LONG = SLOW * 160_000
MAX_LINE_BYTES = 6 * MAX_EVENT_BYTES + 1_000


def nested(levels: int) -> Json:
    value: Json = LONG
    for _ in range(levels):
        value = {"a": value}
    return value


EVENTS: dict[str, Event] = {
    "a long argument": started(text=LONG),
    "a long argument of words": started(text="token: " * 140_000),
    "many long arguments": started(**{f"k{at}": "token: " * 10_000 for at in range(14)}),
    "many short arguments": started(**{f"k{at}": SLOW for at in range(19_000)}),
    "long names": started(**{f"{at}{SLOW * 1_000}": "1" for at in range(160)}),
    "many items": started(items=[SLOW] * 19_000),
    "many objects": started(items=[{"a": SLOW, "b": [SLOW]} for _ in range(6_000)]),
    "many levels": started(items=[nested(60) for _ in range(3)]),
    "long numbers": started(items=[10**4_000] * 200),
    "wide characters": started(text="\U0001f600 " * 160_000),
    "control characters": started(items=["\x01" * 3_000] * 300),
    "a long error": CallFailed(at=1.0, tool="t", error=LONG, duration=0.0),
    "a long query": Searched(at=1.0, query=LONG, hits=(LONG,), reply_tokens=0, duration=0.0),
    "many dropped tools": UpstreamUp(
        at=1.0, upstream="s", tools=0, duration=0.0, dropped=("token: " * 100,) * 10_000
    ),
}


class CountingMasker(Masker):
    """Counts the characters that it is given."""

    chars = 0

    def masked(self, value: Json) -> Json:
        if isinstance(value, str):
            self.chars += len(value)
        elif isinstance(value, Mapping):
            self.chars += sum(len(str(key)) for key in value)
        return super().masked(value)


def memory_of(value: object) -> int:
    """Bytes of a value and of all that is in it."""
    size = sys.getsizeof(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value)
        return size + sum(map(memory_of, [*pairs, *pairs.values()]))
    is_array = isinstance(value, list | tuple)
    return size + sum(map(memory_of, cast("list[object]", value))) if is_array else size


def record(event: Event, masker: Masker | None = None) -> Event:
    log = ActivityLog(masker=masker)
    log(event)
    (kept,) = log
    return kept


def shown(text: str) -> str:
    event = record(started(text=text))
    assert isinstance(event, CallStarted)
    return str(event.arguments["text"])


@requirement("DSP-10")
@pytest.mark.parametrize("name", EVENTS)
def test_masking_reads_a_bounded_part_of_an_event(name: str) -> None:
    masker = CountingMasker()
    record(EVENTS[name], masker)
    assert masker.chars <= MAX_EVENT_BYTES


@requirement("AF-3")
@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_kept_in_bounded_memory(name: str) -> None:
    event = record(EVENTS[name])
    values = [getattr(event, field.name) for field in fields(event)]
    assert sum(map(memory_of, values)) <= 2.5 * MAX_EVENT_BYTES
    assert len(as_json(event)) <= MAX_LINE_BYTES


def test_a_cut_text_tells_how_long_it_was() -> None:
    text = "all is well. " * 1_000
    found = shown(text)
    assert found.startswith(text[:1_900])
    assert found.endswith("… [cut; 13,000 characters in all]")


def test_what_is_left_out_is_counted() -> None:
    event = record(started(items=list(range(1_000)), **{f"k{at}": "v" for at in range(1_000)}))
    assert isinstance(event, CallStarted)
    items = cast("list[Json]", event.arguments["items"])
    assert items[-1] == f"[left out: {1_000 - len(items) + 1:,} more items]"
    assert event.arguments["…"] == "[left out: 1,000 more entries]"


def test_an_ordinary_event_is_kept_as_it_is() -> None:
    event = started(path="/a/b", lines=[1, 2, {"a": None}], text="word " * 100)
    assert record(event) is event


def test_a_text_that_is_not_too_long_is_kept_whole() -> None:
    assert shown("word " * 600) == "word " * 600


VALUE = "hunter2Zebra9Quagga" * 3
MANY_WORDS = " ".join(["hunter2Zebra9Quagga"] * 90)
SECRETS = {
    "assignment": f"PASSWORD={VALUE}",
    "header": f"X-Api-Key: {VALUE}",
    "address": f"https://ann:{VALUE}@example.org/",
    "address with commas": f"https://ann:{','.join([VALUE] * 3)}@example.org/",
    "pair": f'"password": "{VALUE}"',
    "pair in a text of JSON": f'\\"password\\": \\"{VALUE}\\"',
    "pair with escapes": '"password": "' + f"{VALUE}\\n" * 30 + '"',
    "long pair": f'"password": "{MANY_WORDS}"',
    "quoted assignment": f'PASSWORD="{MANY_WORDS}"',
    "assignment in other quotes": f"PASSWORD='it is \"{MANY_WORDS}'",
    "quoted option": f"--password '{MANY_WORDS}'",
    "long token": "Bearer " + VALUE * 40,
    "web token": "eyJ" + f"{VALUE}" * 20 + "." + VALUE * 20 + "." + VALUE,
    "private key": "-----BEGIN PRIVATE KEY-----\n"
    + f"{VALUE}\n" * 30
    + "-----END PRIVATE KEY-----",
}


@requirement("AF-3")
@pytest.mark.parametrize("before", ["word ", "PASSWORD=a-long-one-that-is-masked9 ", "ü "])
@pytest.mark.parametrize("name", SECRETS)
def test_no_part_of_a_secret_is_shown_wherever_the_text_is_cut(name: str, before: str) -> None:
    secret = SECRETS[name]
    for start in range(max(0, 2_995 - len(secret)), 3_010, 7):
        text = (before * 3_000)[:start] + " " + secret + " " + "word " * 1_000
        assert "Zebra" not in shown(text), start


@requirement("AF-3")
def test_no_part_of_a_secret_is_shown_where_the_room_of_the_event_ends() -> None:
    for name, secret in SECRETS.items():
        for start in range(0, 2_000, 37):
            text = ("word " * 1_000)[:start] + " " + secret + " " + "word " * 200
            event = record(started(**{f"k{at}": "word " * 580 for at in range(6)}, last=text))
            assert "Zebra" not in str(event), (name, start)


@requirement("AF-3")
@pytest.mark.parametrize(
    "more",
    [
        {"filler": ["word"] * 1_000, "name": "X-Api-Key"},
        {f"k{at}": at for at in range(1_000)} | {"name": "X-Api-Key"},
        {"name": "word " * 1_000 + "X-Api-Key"},
    ],
)
def test_a_value_is_not_shown_if_its_name_is_left_out(more: dict[str, Json]) -> None:
    assert "hunter2" not in str(record(started(header={"value": "hunter2", **more})))


@requirement("AF-3")
def test_a_value_is_not_shown_if_its_key_is_too_long() -> None:
    key = "word " * 1_000 + "password"
    assert "hunter2" not in str(record(started(**{key: "hunter2"})))


@requirement("DSP-6")
@pytest.mark.anyio
async def test_only_the_event_is_cut_and_not_the_call(grants: Grants) -> None:
    received: list[str] = []

    def send(text: str) -> None:
        received.append(text)

    approver = ScriptedApprover(Answer.ONCE)
    drawer = Drawer(
        [FunctionToolset("mail", [send])],
        guardrails=[Rules(ask=("*",))],
        approver=approver,
        grants=grants,
    )
    text = "password: hunter2 " * 5_000
    await drawer.session().call("send", {"text": text})
    (event,) = (each for each in drawer.activity if isinstance(each, CallStarted))
    assert received == [text]
    assert approver.requests[0].arguments == {"text": text}
    assert len(str(event.arguments)) < 3_000
    assert event.argument_tokens == Estimate().count(compact({"text": text}))


@requirement("AF-3")
def test_a_queue_of_large_events_is_bounded_in_bytes() -> None:
    queue = EventQueue(max_events=10_000)
    large = record(started(items=["word " * 500] * 20))
    dropped = sum(queue.append(large) for _ in range(5_000))
    assert dropped == 5_000 - len(queue) > 0
    assert len(queue) * MAX_EVENT_BYTES <= MAX_QUEUE_BYTES
    assert len(queue.take_all()) == 5_000 - dropped
    assert [queue.append(large) for _ in range(3)] == [0, 0, 0]


@requirement("AF-3")
def test_small_events_fit_in_a_queue_up_to_their_number() -> None:
    queue = EventQueue(max_events=10_000)
    assert sum(queue.append(started(text=str(at))) for at in range(10_002)) == 2
    assert cast("Any", queue.popleft()).arguments == {"text": "2"}


@requirement("AF-3")
@pytest.mark.anyio
async def test_large_events_that_wait_for_a_slow_sink_are_bounded_in_bytes() -> None:
    log, stuck = ActivityLog(keep=1), StuckSink()
    thread = log.attach(stuck)
    large = started(items=["word " * 500] * 20)
    try:
        log(large)
        with anyio.fail_after(60):
            await anyio.to_thread.run_sync(stuck.is_stuck.wait)
        for _ in range(3_000):
            log(large)
        assert 3_000 - thread.dropped <= MAX_QUEUE_BYTES // MAX_EVENT_BYTES
    finally:
        stuck.release.set()
    log.close()
