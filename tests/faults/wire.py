"""A client's end of the gateway's pipes: the SDK's client on top, a look at every line below."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

Reading = MemoryObjectReceiveStream[SessionMessage | Exception]
Writing = MemoryObjectSendStream[SessionMessage]


class Wire:
    """Speaks over a process's stdin and stdout, and keeps what is no message."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._turn = anyio.Lock()
        self._parts: list[bytes] = []
        self._lines: deque[bytes] = deque()
        self.strays: list[bytes] = []
        """Lines that are no messages of JSON-RPC. There must never be any."""

    async def send(self, line: bytes) -> None:
        """Write a line, whatever it is, between those of the client on top."""
        async with self._turn:
            await self._stdin.send(line + b"\n")

    async def close(self) -> None:
        """Go away, as a client does that was killed."""
        await self._stdin.aclose()

    async def deafen(self) -> None:
        """Close the end that is read from."""
        await self._stdout.aclose()

    async def messages(self) -> AsyncGenerator[JSONRPCMessage]:
        """Those that come, until the other side is gone."""
        while (line := await self._line()) is not None:
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                self.strays.append(line[:1000])
            else:
                yield message

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[tuple[Reading, Writing]]:
        """As the SDK's client takes them."""
        put, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, given = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks, put, reading, writing, given:
            tasks.start_soon(self._read, put)
            tasks.start_soon(self._write, given)
            yield reading, writing
            tasks.cancel_scope.cancel()

    async def _read(self, put: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with put:
            async for message in self.messages():
                await put.send(SessionMessage(message))

    async def _write(self, given: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async for item in given:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await self.send(text.encode())
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the gateway is gone, which the reading side tells

    async def _line(self) -> bytes | None:
        while not self._lines:
            try:
                chunk = await self._stdout.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                return None
            first, *others = chunk.split(b"\n")
            self._parts.append(first)
            if others:
                self._lines.extend((b"".join(self._parts), *others[:-1]))
                self._parts = [others[-1]]
        return self._lines.popleft()
