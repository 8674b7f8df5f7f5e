"""The control socket: status, approvals and activity, for the gateway's own user alone."""

import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from anyio.abc import TaskStatus
from httpx2 import AsyncClient, AsyncHTTPTransport

from tests.activity.parts import queries, searched
from tests.gateway.test_pending import TOOL, put, request
from tests.requirements import requirement
from tooldrawer import ActivityLog, Answer, Event, Grants
from tooldrawer.activity.sinks import from_json
from tooldrawer.gateway.control import Control
from tooldrawer.gateway.pending import Pending
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio
STATUS: JsonObject = {"pid": 3, "started": 1000.5, "transport": "stdio", "sessions": 2}


@pytest.fixture
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@pytest.fixture
def log() -> ActivityLog:
    return ActivityLog()


@pytest.fixture
def pending() -> Pending:
    return Pending()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def control(log: ActivityLog, pending: Pending, grants: Grants, folder: Path) -> Control:
    return Control(
        status=lambda: STATUS, activity=log, pending=pending, grants=grants, folder=folder
    )


def connected(control: Control) -> AsyncClient:
    assert control.path is not None
    transport = AsyncHTTPTransport(uds=str(control.path), verify=False)
    return AsyncClient(transport=transport, base_url="http://gateway")


@asynccontextmanager
async def watching(control: Control, **asked: str) -> "AsyncGenerator[AsyncIterator[Event]]":
    """The events of the feed, from when it has begun."""

    async def events() -> AsyncIterator[Event]:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                event = from_json(line.removeprefix("data: "))
                assert event is not None
                yield event

    async with (
        connected(control) as client,
        client.stream("GET", "/activity", params=asked) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield events()


async def some(count: int, events: AsyncIterator[Event]) -> list[str]:
    return queries([await anext(events) for _ in range(count)])


async def test_the_status_is_what_the_gateway_says(control: Control) -> None:
    async with control, connected(control) as client:
        assert (await client.get("/status")).json() == STATUS


async def test_what_waits_is_listed_with_its_exact_arguments(
    control: Control, pending: Pending
) -> None:
    odd: JsonObject = {"password": "hunter2", "half": "\ud800", "deep": [{"a": None}]}
    entry = put(pending, request(odd))
    async with control, connected(control) as client:
        (found,) = (await client.get("/approvals")).json()["approvals"]
    assert found["arguments"] == odd
    assert (found["id"], found["tool"], found["toolset"]) == (entry.id, "desk_burn", "desk")
    assert (found["principal"], found["session"], found["scope"]) == ("alice", "one", "triage")
    assert found["expires_at"] == entry.expires_at


@pytest.mark.parametrize("answer", list(Answer))
async def test_an_answer_reaches_the_call_that_waits(
    control: Control, pending: Pending, answer: Answer, tmp_path: Path
) -> None:
    entry = put(pending)
    async with control, connected(control) as client:
        body = {"answer": answer.value, "attended": True}
        said = await client.post(f"/approvals/{entry.id}", json=body)
        assert (said.status_code, said.json()["answer"]) == (200, answer.value)
        assert said.json()["arguments"] == {"title": "milk"}
    is_stored = answer is Answer.ALWAYS
    assert (TOOL in Grants(tmp_path / "grants.json")) is is_stored
    assert pending.take(request(), principal="alice") is (None if is_stored else answer)
    assert pending.waiting() == ()


@requirement("DSP-6")
@pytest.mark.parametrize("body", [{}, {"attended": False}, {"attended": "yes"}, {"attended": 1}])
async def test_without_a_person_at_a_terminal_a_call_can_only_be_refused(
    control: Control, pending: Pending, grants: Grants, body: JsonObject
) -> None:
    entry = put(pending)
    async with control, connected(control) as client:
        for answer in ("once", "session", "always"):
            said = await client.post(f"/approvals/{entry.id}", json={"answer": answer, **body})
            assert said.status_code == 403
            assert "only by a person at a terminal" in said.json()["error"]
        assert pending.waiting() == (entry,)
        assert list(grants.names()) == []
        said = await client.post(f"/approvals/{entry.id}", json={"answer": "no", **body})
        assert said.status_code == 200


async def test_where_the_configuration_allows_it_a_call_is_approved_unattended(
    log: ActivityLog, pending: Pending, grants: Grants, folder: Path
) -> None:
    entry = put(pending)
    control = Control(
        status=lambda: STATUS,
        activity=log,
        pending=pending,
        grants=grants,
        is_unattended_allowed=lambda: True,
        folder=folder,
    )
    async with control, connected(control) as client:
        assert (await client.get("/approvals")).json()["unattended"] is True
        said = await client.post(f"/approvals/{entry.id}", json={"answer": "once"})
        assert said.status_code == 200


@requirement("DSP-6")
async def test_a_grant_that_cannot_be_stored_approves_nothing(
    control: Control, pending: Pending, tmp_path: Path
) -> None:
    (tmp_path / "grants.json").write_text("torn", encoding="utf-8")
    entry = put(pending)
    async with control, connected(control) as client:
        body = {"answer": "always", "attended": True}
        said = await client.post(f"/approvals/{entry.id}", json=body)
    assert said.status_code == 500
    assert "nothing was approved" in said.json()["error"]
    assert "move it away" in said.json()["error"]
    assert len(pending.waiting()) == 1
    assert (tmp_path / "grants.json").read_text(encoding="utf-8") == "torn"


async def test_an_id_that_nobody_has_is_refused_in_a_sentence(control: Control) -> None:
    async with control, connected(control) as client:
        said = await client.post("/approvals/zzzz", json={"answer": "once", "attended": True})
    assert said.status_code == 404
    assert said.json()["error"].startswith("No call waits as zzzz")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"3", b'"once"', b"{}", b'{"answer": "yes"}', b'{"answer": []}', b"\xff"],
)
async def test_an_answer_that_is_none_is_refused_and_changes_nothing(
    control: Control, pending: Pending, body: bytes
) -> None:
    entry = put(pending)
    async with control, connected(control) as client:
        said = await client.post(f"/approvals/{entry.id}", content=body)
    assert said.status_code == 400
    assert "once" in said.json()["error"]
    assert len(pending.waiting()) == 1


async def test_the_feed_begins_with_the_last_events_and_goes_on_live(
    control: Control, log: ActivityLog
) -> None:
    for word in ("a", "b", "c"):
        log(searched(word))
    with anyio.fail_after(60):
        async with control, watching(control, last="2") as events:
            assert await some(2, events) == ["b", "c"]
            log(searched("d"))
            await anyio.to_thread.run_sync(log, searched("e"))
            assert await some(2, events) == ["d", "e"]


async def test_the_feed_may_begin_with_nothing_and_show_one_session(
    control: Control, log: ActivityLog
) -> None:
    log(searched("before", session="one"))
    with anyio.fail_after(60):
        async with control, watching(control, last="0", session="one") as events:
            log(searched("other", session="two"))
            log(searched("mine", session="one"))
            assert await some(1, events) == ["mine"]


@pytest.mark.parametrize("last", ["-1", "x", "", "1.5", "²"])
async def test_a_number_of_events_that_is_none_is_refused(control: Control, last: str) -> None:
    async with control, connected(control) as client:
        said = await client.get("/activity", params={"last": last})
    assert said.status_code == 400


async def test_the_feed_ends_in_order_when_the_gateway_stops(
    control: Control, log: ActivityLog
) -> None:
    told: list[str] = []
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:

            async def watch(*, task_status: TaskStatus[None]) -> None:
                async with watching(control) as events:
                    task_status.started()
                    told.extend([event.session async for event in events])

            async with control:
                log(searched("a", session="one"))
                await tasks.start(watch)
                log(searched("b", session="two"))
    assert told == ["one", "two"]


async def test_a_watcher_that_leaves_is_forgotten(control: Control, log: ActivityLog) -> None:
    with anyio.fail_after(60):
        async with control:
            async with watching(control) as events:
                log(searched("a"))
                await some(1, events)
            async with watching(control, last="0") as events:
                log(searched("b"))
                assert await some(1, events) == ["b"]


async def test_a_watcher_that_does_not_read_does_not_hold_up_the_end(
    control: Control, log: ActivityLog
) -> None:
    with anyio.fail_after(60):
        async with control:
            assert control.path is not None
            stream = await anyio.connect_unix(control.path)
            await stream.send(b"GET /activity HTTP/1.1\r\nhost: gateway\r\n\r\n")
            await stream.receive()
            for _ in range(50):
                log(searched("x" * 100_000))
        await stream.aclose()


async def test_signals_stay_with_whoever_had_them(control: Control) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    async with control, connected(control) as client:
        await client.get("/status")
        assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


async def test_nothing_is_written_to_standard_output(
    control: Control, capfd: pytest.CaptureFixture[str]
) -> None:
    async with control, connected(control) as client:
        await client.get("/status")
        await client.get("/nowhere")
    assert capfd.readouterr().out == ""
