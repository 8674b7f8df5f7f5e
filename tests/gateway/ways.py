"""The same conversation on two ways through a gateway: the short one, and the SDK's own."""

import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.server.stdio import stdio_server

from tests.gateway.rig import document, rigged
from tests.gateway.wire import LONG, Message, lines, to_line
from tooldrawer.gateway.express import Express
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.upstream.lines import LineReader, LineWriter

PLAIN = Path(__file__).parents[1] / "upstream" / "servers" / "plain.py"
Serve = Callable[[Gateway, int, int], Coroutine[Any, Any, None]]
ERA_ERRORS = (-32600, -32022)
"""A request of the wrong era is refused as the SDK does it, but in words of our own."""


async def on_the_short_way(gateway: Gateway, reading: int, writing: int) -> None:
    """As `serve_stdio` does it over pipes."""
    async with LineReader(reading) as reader, LineWriter(writing) as writer:
        await Express(gateway.server, gateway.handlers, gateway.sealed).serve(reader, writer)


async def on_the_long_way(gateway: Gateway, reading: int, writing: int) -> None:
    """As `serve_stdio` does it over files."""
    async with (
        anyio.wrap_file(os.fdopen(reading, encoding="utf-8")) as stdin,
        anyio.wrap_file(os.fdopen(writing, "w", encoding="utf-8")) as stdout,
        stdio_server(stdin, stdout) as (reader, writer),
    ):
        options = gateway.server.create_initialization_options()
        await gateway.server.run(reader, writer, options)


class Talk:
    """A client that says its lines, answers what it is asked, and writes down what it hears."""

    def __init__(self, reading: int, writing: int) -> None:
        self.heard: list[Message] = []
        self._reading, self._writing = reading, writing
        self._moved = anyio.Event()

    async def listen(self) -> None:
        async for line in lines(self._reading):
            message = json.loads(line)
            self.heard.append(message)
            if "method" in message and "id" in message:
                self.say({"id": message["id"], "result": {"action": "accept", "content": {}}})
            self._moved.set()
            self._moved = anyio.Event()

    def say(self, message: Message) -> None:
        os.write(self._writing, to_line(message))

    async def answered(self, identity: object) -> Message:
        """Wait for the answer to a request."""
        with anyio.fail_after(LONG):
            while True:
                for message in self.heard:
                    if "method" not in message and message["id"] == identity:
                        return message
                await self._moved.wait()


@asynccontextmanager
async def talking_to(gateway: Gateway, serve: Serve) -> AsyncGenerator[Talk]:
    """A connection; at its end all that is still to be heard is heard."""
    (to_read, to_write), (from_read, from_write) = os.pipe(), os.pipe()
    os.set_blocking(from_read, False)
    talk = Talk(from_read, to_write)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, gateway, to_read, from_write)
        tasks.start_soon(talk.listen)
        try:
            yield talk
        finally:
            os.close(to_write)
            tasks.cancel_scope.deadline = anyio.current_time() + LONG
    anyio.notify_closing(from_read)
    os.close(from_read)


async def conversed(gateway: Gateway, serve: Serve, said: Sequence[Message]) -> list[Message]:
    """What a client hears that waits for each answer."""
    async with talking_to(gateway, serve) as talk:
        for message in said:
            talk.say(message)
            if "id" in message and "method" in message:
                await talk.answered(message["id"])
    return talk.heard


def alike(heard: Sequence[Message]) -> list[Message]:
    """Without what is random, or deliberately in other words."""
    found: list[Message] = json.loads(json.dumps(heard))
    for message in found:
        error, result = message.get("error", {}), message.get("result", {})
        if error.get("code") in ERA_ERRORS:
            del error["message"]
        if "requestState" in result:
            result["requestState"] = "sealed"
        for question in result.get("inputRequests", {}).values():
            # The SDK drops what it does not know of a question, and says what goes without saying.
            for key in ("mode", "odd"):
                question["params"].pop(key, None)
        with suppress(KeyError, TypeError):
            # What the server was given for steps is a number that counts up.
            del result["structuredContent"]["progressToken"]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A gateway in another thread, and conversations with it."""

    portal: BlockingPortal
    gateway: Gateway

    def short(self, *said: Message) -> list[Message]:
        """What is heard on the short way."""
        return self.portal.call(conversed, self.gateway, on_the_short_way, said)

    def long(self, *said: Message) -> list[Message]:
        """What is heard on the SDK's way."""
        return self.portal.call(conversed, self.gateway, on_the_long_way, said)


@contextmanager
def lined(folder: Path) -> Generator[Line]:
    """A gateway with a server of either era behind it."""

    def server(*options: str) -> Message:
        return {"command": sys.executable, "args": ["-S", "-E", str(PLAIN), *options]}

    servers = {"old": server(), "new": server("--modern")}
    running = rigged(folder, document(servers), passthrough=True)
    # Trio begins tasks in any order, on both ways: nobody could compare them.
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(running) as rig,
    ):
        portal.call(rig.settled)
        yield Line(portal=portal, gateway=rig.gateway)
