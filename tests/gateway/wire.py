"""A client over pipes, as over stdio: the SDK's, or one that says exactly what it is told."""

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from tooldrawer.gateway.express import Express
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.upstream.lines import LineReader, LineWriter

Message = dict[str, Any]
LONG = 60.0
"""Seconds after which a test gives up waiting on a busy machine."""


@asynccontextmanager
async def piped(gateway: Gateway) -> AsyncGenerator[tuple[int, int]]:
    """What a client reads from and writes to; the gateway ends when nothing more can come."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    os.set_blocking(from_read, False)

    async def serve() -> None:
        async with LineReader(to_read) as reader, LineWriter(from_write) as writer:
            await Express(gateway.server, gateway.handlers, gateway.sealed).serve(reader, writer)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        try:
            yield from_read, to_write
        finally:
            os.close(to_write)
            tasks.cancel_scope.deadline = anyio.current_time() + LONG
    anyio.notify_closing(from_read)
    os.close(from_read)


async def lines(descriptor: int) -> AsyncIterator[bytes]:
    """Whole lines, until the other side closes."""
    rest = b""
    while True:
        await anyio.wait_readable(descriptor)
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            return
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line


@asynccontextmanager
async def transport(
    gateway: Gateway,
) -> AsyncGenerator[
    tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]
]:
    """The pipes as the SDK's client wants them."""
    incoming = anyio.create_memory_object_stream[SessionMessage | Exception](100)
    outgoing = anyio.create_memory_object_stream[SessionMessage](100)

    async def read(descriptor: int) -> None:
        async with incoming[0]:
            async for line in lines(descriptor):
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await incoming[0].send(SessionMessage(message))

    async def write(descriptor: int) -> None:
        async with outgoing[1]:
            async for item in outgoing[1]:
                plain = item.message.model_dump(by_alias=True, exclude_unset=True)
                os.write(descriptor, to_line(plain))

    async with piped(gateway) as (reading, writing), anyio.create_task_group() as tasks:
        tasks.start_soon(read, reading)
        tasks.start_soon(write, writing)
        async with incoming[1], outgoing[0]:
            yield incoming[1], outgoing[0]
        tasks.cancel_scope.cancel()


class Wire:
    """One connection."""

    def __init__(self, reading: int, writing: int) -> None:
        self.heard: list[Message] = []
        """Notifications and requests of the other side, in order."""
        self._reading, self._writing = reading, writing
        self._answers: dict[Any, Message] = {}
        self._count = 0
        self._moved = anyio.Event()

    async def listen(self) -> None:
        """Take what comes, until the other side ends."""
        async for line in lines(self._reading):
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if "method" in message:
                self.heard.append(message)
            else:
                self._answers[message["id"]] = message
            self._moved.set()
            self._moved = anyio.Event()

    def send(self, **message: Any) -> None:
        """One line."""
        os.write(self._writing, to_line(message))

    def start(self, method: str, params: Message | None = None) -> int:
        """Send a request; its id."""
        self._count += 1
        self.send(id=self._count, method=method, params=params or {})
        return self._count

    async def answer(self, identity: int) -> Message:
        """The whole answer to a request."""
        await self.until(lambda: identity in self._answers)
        return self._answers.pop(identity)

    def is_answered(self, identity: int) -> bool:
        """Whether an answer came that nobody took."""
        return identity in self._answers

    async def ask(self, method: str, params: Message | None = None) -> Any:
        """The result of a request."""
        answer = await self.answer(self.start(method, params))
        assert "result" in answer, answer
        return answer["result"]

    async def refused(self, method: str, params: Message | None = None) -> Any:
        """The error that a request is answered with."""
        answer = await self.answer(self.start(method, params))
        assert "error" in answer, answer
        return answer["error"]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something that comes makes the condition true."""
        with anyio.fail_after(LONG):
            while not condition():
                await self._moved.wait()

    async def shake_hands(self, version: str, capabilities: Message | None = None) -> Any:
        """Begin as clients did before 2026-07-28; the server's part of it."""
        info = {"name": "wire", "version": "1"}
        params = {"protocolVersion": version, "clientInfo": info}
        result = await self.ask("initialize", {**params, "capabilities": capabilities or {}})
        self.send(method="notifications/initialized")
        return result


def stateless(capabilities: Message | None = None, **params: Any) -> Message:
    """The parameters of a request of the stateless era."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
    }
    return {**params, "_meta": {**meta, **params.get("_meta", {})}}


def to_line(message: Message) -> bytes:
    """As it goes over a pipe."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@asynccontextmanager
async def wired(gateway: Gateway) -> AsyncGenerator[Wire]:
    """A connection to a gateway in this process."""
    async with piped(gateway) as (reading, writing), anyio.create_task_group() as tasks:
        wire = Wire(reading, writing)
        tasks.start_soon(wire.listen)
        yield wire
        tasks.cancel_scope.cancel()
