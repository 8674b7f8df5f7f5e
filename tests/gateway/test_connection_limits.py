"""Slow and excess HTTP connections do not keep others out."""

import errno
import json
import resource
import socket
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.fakes import Clock, ScriptedToolset
from tests.gateway.rig import LONG, STATELESS, Person, document, eventually
from tests.gateway.web import Site, served, tokens
from tests.gateway.wire import stateless
from tests.requirements import requirement
from tooldrawer import Tool
from tooldrawer.config.settings import ConnectionOptions
from tooldrawer.gateway.connection_limits import ConnectionTable, Phase
from tooldrawer.gateway.door import LimitedRequests
from tooldrawer.gateway.quotas import OpenRequests

pytestmark = pytest.mark.anyio
HALF_A_HEADER = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_A_BODY = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class FakeConnection:
    """A connection that notes how it was closed."""

    def __init__(self, peer: str = "10.0.0.1") -> None:
        self.peer = peer
        self.status = 0
        self.unsent = 0
        self.is_aborted = False

    def refuse(self, status: int, reason: str) -> None:
        assert reason
        self.status = status

    def abort(self) -> None:
        self.is_aborted = True


def added(table: ConnectionTable, count: int, peer: str = "10.0.0.1") -> list[FakeConnection]:
    connections = [FakeConnection(peer) for _ in range(count)]
    for connection in connections:
        table.add(connection)
    return connections


def closed(connections: Iterable[FakeConnection]) -> list[bool]:
    return [bool(each.status) for each in connections]


@requirement("GW-3")
def test_a_request_that_does_not_arrive_in_time_is_given_up() -> None:
    clock = Clock()
    options = ConnectionOptions(header_timeout=10, body_timeout=60)
    table = ConnectionTable(options, clock=clock)
    header, body, complete = added(table, 3)
    table.update(body, Phase.BODY)
    table.update(complete, Phase.COMPLETE)
    clock.now += 9
    table.close_late()
    assert closed([header, body, complete]) == [False, False, False]
    clock.now += 1
    table.close_late()
    assert closed([header, body, complete]) == [True, False, False]
    clock.now += 50
    table.close_late()
    assert closed([header, body, complete]) == [True, True, False]
    assert (len(table), table.incomplete) == (1, 0)


def test_each_byte_of_a_slow_header_gives_no_new_time() -> None:
    clock = Clock()
    table = ConnectionTable(ConnectionOptions(header_timeout=10), clock=clock)
    (slow,) = added(table, 1)
    for _ in range(10):
        clock.now += 1
        table.update(slow, Phase.HEADERS)
    table.close_late()
    assert slow.status == 408


@requirement("GW-3")
def test_the_oldest_incomplete_connection_makes_room_for_a_new_one() -> None:
    table = ConnectionTable(ConnectionOptions(max_incomplete=3))
    connections = added(table, 5)
    assert closed(connections) == [True, True, False, False, False]


def test_the_peer_with_most_incomplete_connections_makes_room() -> None:
    table = ConnectionTable(ConnectionOptions(max_incomplete=5))
    calm = added(table, 1, "10.0.0.2")
    flood = added(table, 10, "10.0.0.1")
    assert closed(calm) == [False]
    assert sum(closed(flood)) == 6


@requirement("GW-3")
def test_a_complete_request_is_never_closed_for_a_new_connection() -> None:
    table = ConnectionTable(ConnectionOptions(max_open=2))
    busy = added(table, 2)
    for each in busy:
        table.update(each, Phase.COMPLETE)
    (late,) = added(table, 1)
    assert (closed(busy), late.status) == ([False, False], 503)
    table.remove(busy[0])
    assert closed(added(table, 1)) == [False]


def test_what_a_closed_connection_reports_counts_no_more() -> None:
    table = ConnectionTable(ConnectionOptions(max_incomplete=1))
    first, second = added(table, 2)
    table.update(first, Phase.BODY)
    table.remove(first)
    assert (len(table), table.incomplete, closed([second])) == (1, 1, [False])


@requirement("GW-3")
def test_a_client_that_reads_nothing_of_its_answer_is_given_up() -> None:
    clock = Clock()
    table = ConnectionTable(ConnectionOptions(write_timeout=10), clock=clock)
    reads, stalls = added(table, 2)
    for each in (reads, stalls):
        table.update(each, Phase.COMPLETE)
        each.unsent = 1000
    table.close_late()
    for _ in range(10):
        clock.now += 1
        reads.unsent -= 1
        table.close_late()
    assert (reads.is_aborted, stalls.is_aborted) == (False, True)
    assert len(table) == 1


@requirement("GW-3")
def test_a_slow_reader_of_an_endless_stream_is_kept() -> None:
    clock = Clock()
    table = ConnectionTable(ConnectionOptions(write_timeout=10), clock=clock)
    (slow,) = added(table, 1)
    table.update(slow, Phase.COMPLETE)
    for number in range(100):
        slow.unsent = 60_000 - number % 7  # what it has read is filled up again
        table.close_late()
        clock.now += 9
    assert not slow.is_aborted


@requirement("GW-3")
def test_a_connection_that_is_not_read_makes_room_for_a_new_one() -> None:
    clock = Clock()
    table = ConnectionTable(ConnectionOptions(max_open=2, write_timeout=600), clock=clock)
    busy, stalls = added(table, 2)
    for each in (busy, stalls):
        table.update(each, Phase.COMPLETE)
    stalls.unsent = 1000
    table.close_late()
    (early,) = added(table, 1)
    assert (early.status, stalls.is_aborted) == (503, False)
    clock.now += 1
    (late,) = added(table, 1)
    assert (late.status, stalls.is_aborted, busy.is_aborted) == (0, True, False)


def test_a_refused_connection_that_does_not_take_the_refusal_is_reset() -> None:
    clock = Clock()
    table = ConnectionTable(ConnectionOptions(header_timeout=5, write_timeout=10), clock=clock)
    slow, gone = added(table, 2)
    clock.now += 5
    table.close_late()
    table.remove(gone)
    clock.now += 10
    table.close_late()
    assert (slow.is_aborted, gone.is_aborted) == (True, False)


@asynccontextmanager
async def limited(folder: Path, **limits: Any) -> AsyncGenerator[Site]:
    async with served(folder, document({}, gateway={"connections": limits})) as site:
        yield site


def connected(site: Site, said: bytes) -> socket.socket:
    url = site.http.base_url
    assert url.port
    found = socket.create_connection((url.host, url.port))
    found.settimeout(0)
    found.send(said)
    return found


async def answer(to: socket.socket) -> bytes:
    """All that the gateway says before it closes the connection."""
    said = b""
    with anyio.fail_after(LONG):
        while True:
            await anyio.wait_readable(to)
            try:
                chunk = to.recv(1 << 16)
            except ConnectionResetError:
                return said
            if not chunk:
                return said
            said += chunk


@requirement("GW-3")
@pytest.mark.parametrize("said", [HALF_A_HEADER, HALF_A_BODY], ids=["header", "body"])
async def test_a_slow_request_is_answered_408(tmp_path: Path, said: bytes) -> None:
    async with limited(tmp_path, header_timeout=0.1, body_timeout=0.1) as site:
        with closing(connected(site, said)) as slow:
            assert (await answer(slow)).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert (await site.http.get("/healthz")).text == "ok\n"


async def test_a_body_that_nobody_wants_may_not_trickle_in_for_ever(tmp_path: Path) -> None:
    unwanted = HALF_A_BODY.replace(b"/mcp", b"/elsewhere")
    async with limited(tmp_path, body_timeout=0.1) as site:
        with closing(connected(site, unwanted)) as slow:
            assert (await answer(slow)).count(b"HTTP/1.1") == 1


@requirement("GW-3")
async def test_a_thousand_half_sent_headers_leave_the_gateway_responsive(tmp_path: Path) -> None:
    async with limited(tmp_path, header_timeout=600) as site:
        count = 1000
        if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2 * count:
            pytest.skip("the system allows too few open files")
        slow: list[socket.socket] = []
        try:
            for _ in range(count):
                slow.append(connected(site, HALF_A_HEADER))
                await anyio.lowlevel.checkpoint()
            with anyio.fail_after(LONG):
                assert (await site.http.get("/healthz")).text == "ok\n"
                async with site.visitor(STATELESS) as client:
                    assert (await client.list_tools()).tools
        finally:
            for each in slow:
                each.close()


def large_answers() -> ScriptedToolset:
    """Makes a list that no system buffers as a whole."""
    return ScriptedToolset(
        "big", [Tool(name=f"t{n}", description="x" * 100_000) for n in range(160)]
    )


def listing() -> bytes:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": stateless()}
    body = json.dumps(request).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMcp-Method: tools/list\r\n"
        f"MCP-Protocol-Version: {STATELESS}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def is_reset(connection: socket.socket) -> bool:
    """Whether the gateway gave it up; asking reads nothing."""
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET


@asynccontextmanager
async def unread(folder: Path, *requests: bytes, **limits: Any) -> AsyncGenerator[socket.socket]:
    """A connection whose client reads nothing of its answers."""
    options = {"mode": "passthrough", "connections": limits}
    settings = document({}, gateway=options)
    async with served(folder, settings, toolsets=(large_answers(),)) as site:
        with closing(connected(site, b"".join(requests))) as connection:
            yield connection
            assert (await site.http.get("/healthz")).text == "ok\n"


@requirement("GW-3")
async def test_a_client_that_does_not_read_loses_its_connection(tmp_path: Path) -> None:
    async with unread(tmp_path, listing(), listing(), max_open=1, write_timeout=0.1) as connection:
        await eventually(lambda: is_reset(connection))


@requirement("GW-3")
async def test_an_idle_connection_with_an_unread_answer_is_not_left_open(tmp_path: Path) -> None:
    limits = {"header_timeout": 0.1, "write_timeout": 600}
    async with unread(tmp_path, listing(), **limits) as connection:
        await eventually(lambda: is_reset(connection))


@requirement("GW-3")
@pytest.mark.parametrize("path", ["/mcp/", "/.well-known/oauth-protected-resource/mcp/"])
async def test_a_path_that_is_too_long_is_not_repeated(tmp_path: Path, path: str) -> None:
    tokens(tmp_path).create()
    async with limited(tmp_path) as site:
        response = await site.http.get(path + "%e9" * 3000)
        assert response.status_code == 414
        assert len(response.content) + sum(map(len, response.headers.values())) < 1000
        host = {"Host": "a" * 1000}
        assert (await site.http.get("/mcp", headers=host)).status_code == 421


@requirement("GW-2")
async def test_requests_without_a_principal_count_as_those_of_one() -> None:
    requests, answers = OpenRequests(4), list[int]()

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await anyio.sleep_forever()

    async def send(message: Message) -> None:
        answers.append(message.get("status", 0))

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    app, scope = LimitedRequests(inside, requests), {"type": "http", "path": "/mcp"}
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(app, scope, receive, send)
        await anyio.wait_all_tasks_blocked()
        assert answers[0] == 429
        with requests.opened("ann"):
            pass
        tasks.cancel_scope.cancel()


@requirement("GW-3")
async def test_excess_connections_are_answered_503(tmp_path: Path) -> None:
    async with (
        limited(tmp_path, max_open=1) as site,
        site.visitor(STATELESS, Person()) as client,
        client.listen(tools_list_changed=True),
    ):
        with closing(connected(site, HALF_A_HEADER)) as excess:
            assert (await answer(excess)).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")


async def test_a_request_that_is_too_large_is_answered_413(tmp_path: Path) -> None:
    async with limited(tmp_path, request_max_bytes=1000) as site:
        response = await site.http.post("/mcp", content=b" " * 1001)
        assert response.status_code == 413
