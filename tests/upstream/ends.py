"""The two ends of a connection over pipes: ours, the SDK's, or one that says what it is told."""

import json
import os
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import MCPError
from mcp.shared.dispatcher import (
    DispatchContext,
    Dispatcher,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types import jsonrpc_message_adapter

from tests.upstream.fakes import LONG
from tooldrawer.upstream.dispatcher import LineDispatcher
from tooldrawer.upstream.lines import LineReader, LineWriter, Message

Context = DispatchContext[TransportContext]
Params = Mapping[str, Any] | None


class Desk:
    """Answers requests by their method, and notes what happened."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.told: list[tuple[str, Params]] = []
        self.contexts: list[Context] = []
        self.given_up = 0
        self.go_on = anyio.Event()
        self._moved = anyio.Event()

    async def on_request(self, ctx: Context, method: str, params: Params) -> dict[str, Any]:
        self.began.append(method)
        self.contexts.append(ctx)
        self._wake()
        return await getattr(self, f"_{method}")(ctx, dict(params or {}))

    async def on_notify(self, ctx: Context, method: str, params: Params) -> None:
        assert ctx.request_id is None
        self.told.append((method, params))
        self._wake()
        if method == "bad news":
            raise RuntimeError("a secret")

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something that happens here makes the condition true."""
        with anyio.fail_after(LONG):
            while not condition():
                await self._moved.wait()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()

    async def _echo(self, ctx: Context, params: Message) -> Message:
        return {"id": ctx.request_id, "params": params}

    async def _hang(self, ctx: Context, params: Message) -> Message:
        del ctx, params
        try:
            await anyio.sleep_forever()
        finally:
            self.given_up += 1
            self._wake()
        raise AssertionError

    async def _linger(self, ctx: Context, params: Message) -> Message:
        """Does not end before it is told to, wanted or not."""
        del ctx, params
        with anyio.CancelScope(shield=True):
            await self.go_on.wait()
        return {"at": "last"}

    async def _dawdle(self, ctx: Context, params: Message) -> Message:
        """Takes its time to be given up on."""
        await self._linger(ctx, params)
        return await self._hang(ctx, params)

    async def _refuse(self, ctx: Context, params: Message) -> Message:
        del ctx
        raise MCPError(-32042, "No.", params.get("why"))

    async def _fail(self, ctx: Context, params: Message) -> Message:
        del ctx, params
        raise RuntimeError("a secret")

    async def _mumble(self, ctx: Context, params: Message) -> Message:
        del ctx, params
        return {"what": object()}

    async def _climb(self, ctx: Context, params: Message) -> Message:
        del params
        await ctx.progress(1)
        await ctx.progress(2, 3)
        await ctx.progress(3, 3, "there")
        return {}

    async def _ask(self, ctx: Context, params: Message) -> Message:
        """Asks back about the request, and tells something about it."""
        await ctx.notify("asking", {"n": 1})
        return await ctx.send_raw_request(params["about"], {"back": True})


class _Sdk(JSONRPCDispatcher):
    """The SDK's dispatcher, with its streams on our lines."""

    def __init__(self, reader: LineReader, writer: LineWriter) -> None:
        self._lines = reader, writer
        sending, reading = anyio.create_memory_object_stream[SessionMessage | Exception]()
        writing, receiving = anyio.create_memory_object_stream[SessionMessage]()
        self._pumped = sending, receiving
        super().__init__(reading, writing)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        (reader, writer), (sending, receiving) = self._lines, self._pumped
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, reader, sending)
            tasks.start_soon(_write, receiving, writer)
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)


async def _read(
    reader: LineReader, sending: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    async with reader, sending:
        async for message in reader:
            found = jsonrpc_message_adapter.validate_python(message, by_name=False)
            await sending.send(SessionMessage(found))


async def _write(receiving: MemoryObjectReceiveStream[SessionMessage], writer: LineWriter) -> None:
    async with receiving, writer:
        async for item in receiving:
            await writer.send(item.message.model_dump(by_alias=True, exclude_unset=True))


Make = Callable[[LineReader, LineWriter], Dispatcher[TransportContext]]
OTHERS: dict[str, Make] = {"ours": LineDispatcher, "the SDK's": _Sdk}


class Pair:
    """Our dispatcher and another one, each with its desk."""

    def __init__(self, make: Make) -> None:
        (to_ours, from_theirs), (to_theirs, from_ours) = os.pipe(), os.pipe()
        self.ours = LineDispatcher(LineReader(to_ours), LineWriter(from_ours))
        self.theirs = make(LineReader(to_theirs), LineWriter(from_theirs))
        self.our_desk, self.their_desk = Desk(), Desk()
        self.our_end, self.their_end = anyio.CancelScope(), anyio.CancelScope()

    async def _run_ours(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        desk = self.our_desk
        with self.our_end:
            await self.ours.run(desk.on_request, desk.on_notify, task_status=task_status)

    async def _run_theirs(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        desk = self.their_desk
        with self.their_end:
            await self.theirs.run(desk.on_request, desk.on_notify, task_status=task_status)


@asynccontextmanager
async def paired(make: Make) -> AsyncGenerator[Pair]:
    """Both run until the block is left."""
    pair = Pair(make)
    async with anyio.create_task_group() as tasks:
        await tasks.start(pair._run_ours)  # pyright: ignore[reportPrivateUsage]
        await tasks.start(pair._run_theirs)  # pyright: ignore[reportPrivateUsage]
        with anyio.fail_after(LONG):
            yield pair
        pair.our_end.cancel()


class Line:
    """Our dispatcher in front of lines that a test writes and reads."""

    def __init__(self, **options: Any) -> None:
        (to_ours, self._writing), (reading, from_ours) = os.pipe(), os.pipe()
        self.reader = LineReader(to_ours)
        self.ours = LineDispatcher(self.reader, LineWriter(from_ours), **options)
        self.desk = Desk()
        self._heard = LineReader(reading)
        self._is_open = True

    def say(self, **message: Any) -> None:
        """One message to our side."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line: str) -> None:
        """One line to our side."""
        os.write(self._writing, line.encode() + b"\n")

    def ask(self, number: int | str, method: str, **params: Any) -> None:
        """One request to our side."""
        self.say(id=number, method=method, params=params)

    async def hear(self) -> Message:
        """What our side says next."""
        with anyio.fail_after(LONG):
            return await self._heard.receive()

    async def alive(self) -> None:
        """Our side has said nothing more, and still answers."""
        self.ask("alive", "echo")
        assert (await self.hear())["id"] == "alive"

    def hang_up(self) -> None:
        """Say no more; what our side says is still heard."""
        if self._is_open:
            self._is_open = False
            os.close(self._writing)

    async def rest(self) -> Counter[str]:
        """All that our side says until its end, sorted by kind."""
        found: Counter[str] = Counter()
        with anyio.fail_after(LONG):
            async for message in self._heard:
                code = message.get("error", {}).get("code", "")
                found[f"{message.get('method', message.get('id'))} {code}".strip()] += 1
        return found


@asynccontextmanager
async def line(**options: Any) -> AsyncGenerator[Line]:
    """It runs until the block is left."""
    found = Line(**options)
    desk = found.desk
    async with anyio.create_task_group() as tasks:
        await tasks.start(found.ours.run, desk.on_request, desk.on_notify)
        with anyio.fail_after(LONG):
            yield found
        found.hang_up()
        tasks.cancel_scope.cancel()
    await found._heard.aclose()  # pyright: ignore[reportPrivateUsage]
