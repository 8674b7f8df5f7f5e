"""Servers at an address, in both eras. One server process serves all tests of an era."""

import json
import logging
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import pytest

from tests.upstream.conftest import http_process
from tests.upstream.fakes import LONG, Client, Running, eventually, running
from tooldrawer.activity import UpstreamChanged, UpstreamDown, UpstreamUp
from tooldrawer.errors import ServerRefused, ToolFailed
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.spec import UpstreamSpec

KEY = {"Authorization": "Bearer key"}
OSLO: JsonObject = {"action": "accept", "content": {"city": "Oslo"}}
pytestmark = [
    pytest.mark.anyio,
    # The SDK's HTTP client; trio is covered by the servers that are processes.
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),
]


@pytest.fixture(params=["modern", "handshake"])
def spec(request: pytest.FixtureRequest) -> UpstreamSpec:
    server = "http_server" if request.param == "modern" else "old_http_server"
    url: str = request.getfixturevalue(server)
    return UpstreamSpec(name="web", url=url, headers=KEY)


async def test_the_era_is_found(http_server: str, old_http_server: str) -> None:
    async with running(UpstreamSpec(name="web", url=http_server, headers=KEY)) as server:
        assert server.upstream.protocol == "2026-07-28"
    async with running(UpstreamSpec(name="web", url=old_http_server, headers=KEY)) as server:
        assert server.upstream.protocol == "2025-11-25"


async def test_calls_errors_and_large_results_pass(spec: UpstreamSpec) -> None:
    async with running(spec) as server:
        assert (await server.call("add", {"a": 2, "b": 3})).text == "5"
        with pytest.raises(ServerRefused, match=r"No, thanks\.") as caught:
            await server.call("refuse")
        assert (caught.value.code, caught.value.data) == (-32042, {"why": "test"})
        assert len((await server.call("big", {"bytes": 3_000_000})).text) == 3_000_000


async def test_progress_and_cancellation_pass(spec: UpstreamSpec) -> None:
    client = Client()
    async with running(spec) as server:
        await server.call_for(client, "progress")
        assert client.steps == [(1, 2, "half")]
        client = Client()
        before = (await server.call("cancelled")).text.count("hang")
        async with anyio.create_task_group() as group:
            group.start_soon(server.call_for, client, "hang")
            with anyio.fail_after(LONG):
                await client.heard.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(LONG):
            while (await server.call("cancelled")).text.count("hang") == before:
                await anyio.lowlevel.checkpoint()


async def test_questions_of_two_clients_at_once_reach_the_right_one(spec: UpstreamSpec) -> None:
    ann, bob = Client("ann", answer=OSLO), Client("bob", answer={"action": "cancel"})
    for client in (ann, bob):
        client.capabilities = {"elicitation": {"form": {}}}
    answers: dict[str, str] = {}

    async def ask(server: Running, client: Client) -> None:
        answers[client.key] = (await server.call_for(client, "ask")).text

    async with running(spec) as server, anyio.create_task_group() as group:
        hanging = Client("carl")
        group.start_soon(server.call_for, hanging, "hang")
        with anyio.fail_after(LONG):
            await hanging.heard.wait()
        async with anyio.create_task_group() as inner:
            inner.start_soon(ask, server, ann)
            inner.start_soon(ask, server, bob)
        group.cancel_scope.cancel()
    assert answers == {"ann": "accept:Oslo", "bob": "cancel:None"}
    params: Any = ann.questions[0]["params"]
    assert params["message"] == "[web] Which city?"


async def test_a_changed_list_is_heard_of(spec: UpstreamSpec) -> None:
    async with running(spec) as server:
        with anyio.fail_after(LONG):
            while not server.happened(UpstreamChanged):
                # Until its stream is open, an old server's change is told to nobody.
                await server.call("grow")
                with anyio.move_on_after(0.2):
                    await server.until(lambda: server.happened(UpstreamChanged))
        assert any(tool.local_name.startswith("new") for tool in server.upstream.tools())


async def test_arguments_travel_as_headers_where_the_tool_says_so(http_server: str) -> None:
    async with running(UpstreamSpec(name="web", url=http_server, headers=KEY)) as server:
        assert (await server.call("headers", {"region": "eu"})).text == "eu"
        (up,) = server.happened(UpstreamUp)
        (reason,) = up.dropped
        assert reason.startswith("bad_header: property 'a': x-mcp-header 'not a token'")
        assert "bad_header" not in [tool.local_name for tool in server.upstream.tools()]


@pytest.mark.parametrize("options", [[], ["--handshake"]])
async def test_a_server_that_dies_in_a_call_is_told_and_tried_again(
    tmp_path: Path, options: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    client, failures = Client(), list[str]()
    with http_process(tmp_path, *options) as (url, process):
        async with running(UpstreamSpec(name="web", url=url, headers=KEY)) as server:

            async def call() -> None:
                try:
                    await server.call_for(client, "hang")
                except ToolFailed as error:
                    failures.append(str(error))

            async with anyio.create_task_group() as group:
                group.start_soon(call)
                with anyio.fail_after(LONG):
                    await client.heard.wait()
                process.kill()
            (failure,) = failures
            assert "during the call, which may or may not have taken effect" in failure
            with pytest.raises(ToolFailed):
                await server.upstream.request("tools/list", {}, timeout=0.2)
            await server.until(lambda: server.happened(UpstreamDown))
            assert server.upstream.tools()
    assert caplog.records == []


class Scripted:
    """Speaks the handshake era over HTTP, one request for each connection."""

    session = 1
    is_away = False

    async def serve(self, stream: anyio.abc.ByteStream) -> None:
        async with stream:
            head, _, body = (await stream.receive()).partition(b"\r\n\r\n")
            while head.startswith(b"POST") and not body.endswith(b"}"):
                body += await stream.receive()
            if self.is_away:
                return
            is_known = f"mcp-session-id: {self.session}".encode() in head.lower()
            status, answer = self.answer(json.loads(body or b"{}"), is_known=is_known)
            text = json.dumps(answer).encode() if answer else b""
            lines = (
                f"HTTP/1.1 {status}",
                "content-type: application/json",
                f"mcp-session-id: {self.session}",
                "connection: close",
                f"content-length: {len(text)}",
            )
            await stream.send("\r\n".join(lines).encode() + b"\r\n\r\n" + text)

    def answer(self, message: dict[str, Any], *, is_known: bool) -> tuple[str, JsonObject | None]:
        raise NotImplementedError


class Forgetful(Scripted):
    """Forgets the session at the first call of a tool."""

    is_forgotten = False

    def answer(self, message: dict[str, Any], *, is_known: bool) -> tuple[str, JsonObject | None]:
        del is_known
        results: dict[str, JsonObject] = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}},
            "tools/list": {"tools": [{"name": "forget", "inputSchema": {}}]},
        }
        method = message.get("method", "")
        self.is_forgotten = method != "initialize" and (self.is_forgotten or method == "tools/call")
        if self.is_forgotten or (method not in results and "id" in message):
            return "404 Not Found", None
        if "id" not in message:
            return ("202 Accepted" if method else "405 Method Not Allowed"), None
        return "200 OK", {"jsonrpc": "2.0", "id": message["id"], "result": results[method]}


async def test_a_session_that_the_server_forgot_is_opened_anew() -> None:
    async with (
        _listening(Forgetful().serve) as url,
        running(UpstreamSpec(name="web", url=url)) as server,
    ):
        with pytest.raises(ToolFailed, match="has forgotten this session, so the call was not"):
            await server.call("forget")
        await server.until(lambda: len(server.happened(UpstreamUp)) == 2)


class Restarted(Scripted):
    """Like the reference servers: HTTP 400 without a session, and for a session of another run.

    The error has no id where the server does not know the session, and null before there is one.
    """

    calls = 0

    def answer(self, message: dict[str, Any], *, is_known: bool) -> tuple[str, JsonObject | None]:
        method, params = message.get("method"), message.get("params", {})
        results: dict[str | None, JsonObject] = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}},
            "tools/list": {"tools": [{"name": name, "inputSchema": {}} for name in ("add", "odd")]},
            "tools/call": {"content": [{"type": "text", "text": f"run {self.session}"}]},
            "ping": {},
        }
        refusal: dict[str, Any] = {
            "jsonrpc": "2.0",
            "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"},
        }
        if method == "server/discover":
            refusal["id"] = None
        if method is None:
            return "405 Method Not Allowed", refusal
        if (method != "initialize" and not is_known) or params.get("name") == "odd":
            return "400 Bad Request", refusal
        if "id" not in message:
            return "202 Accepted", None
        self.calls += method == "tools/call"
        return "200 OK", {"jsonrpc": "2.0", "id": message["id"], "result": results[method]}


async def test_a_server_that_restarted_while_idle_is_used_again_without_a_failed_call() -> None:
    restarted, texts = Restarted(), list[str]()
    async with (
        _listening(restarted.serve) as url,
        running(UpstreamSpec(name="web", url=url)) as server,
    ):
        assert server.upstream.status.starts == 1
        restarted.session += 1

        async def call() -> None:
            texts.append((await server.call("add")).text)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(call)
        assert (texts, restarted.calls) == (["run 2"] * 3, 3)
        assert server.upstream.status.starts == 2


async def test_a_call_that_is_refused_with_http_400_leaves_the_session_alone() -> None:
    async with (
        _listening(Restarted().serve) as url,
        running(UpstreamSpec(name="web", url=url)) as server,
    ):
        with pytest.raises(ToolFailed, match="HTTP 400 Bad Request"):
            await server.call("odd")
        assert (await server.call("add")).text == "run 1"
        assert server.upstream.status.starts == 1


async def test_a_server_that_was_away_during_a_call_is_used_again_when_it_is_back() -> None:
    restarted = Restarted()
    async with (
        _listening(restarted.serve) as url,
        running(UpstreamSpec(name="web", url=url), pace=Pace(first=0.01, most=0.01)) as server,
    ):
        restarted.is_away = True
        with pytest.raises(ToolFailed):
            await server.upstream.request("tools/call", {"name": "add"}, timeout=1)
        await eventually(lambda: server.upstream.status.starts > 4)
        restarted.session, restarted.is_away = 2, False
        await server.until(lambda: server.upstream.status.state == "up")
        assert (await server.call("add")).text == "run 2"


async def test_a_wrong_key_is_said_and_waits_for_a_person(http_server: str) -> None:
    spec = UpstreamSpec(name="web", url=http_server, headers={"Authorization": "Bearer no"})
    async with running(spec) as server:
        assert server.upstream.status.state == "down"
        assert server.upstream.status.error == (
            "The server 'web' cannot be reached: it answered HTTP 401 Unauthorized: check the "
            "headers, such as Authorization, that it is sent."
        )


async def test_a_port_where_nobody_listens_is_said_without_a_traceback(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    with socket.socket() as taken:  # bound, so that nobody else listens there meanwhile
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        async with running(UpstreamSpec(name="web", url=url)) as server:
            assert "nobody answers at its address" in server.upstream.status.error
            (down,) = server.happened(UpstreamDown)
            assert down.error == server.upstream.status.error
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\nhello",
            "text/html",
        ),
        (b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n", "HTTP 500"),
        (b"rubbish\r\n\r\n", "RemoteProtocolError"),
        (b"", "RemoteProtocolError"),
    ],
)
async def test_something_else_at_the_address_is_said(answer: bytes, said: str) -> None:
    async def serve(stream: anyio.abc.ByteStream) -> None:
        async with stream:
            heard = await stream.receive()
            # What is left unread would turn the end of the connection into a reset.
            while heard.startswith(b"POST") and not heard.endswith(b"}"):
                heard += await stream.receive()
            if answer:
                await stream.send(answer)

    async with _listening(serve) as url, running(UpstreamSpec(name="web", url=url)) as server:
        assert said in server.upstream.status.error


@asynccontextmanager
async def _listening(
    serve: Callable[[anyio.abc.ByteStream], Awaitable[None]],
) -> AsyncGenerator[str]:
    """The address of something that speaks its own kind of HTTP."""

    async def leniently(stream: anyio.abc.ByteStream) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            await serve(stream)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, leniently)
        yield f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}/"
        group.cancel_scope.cancel()
