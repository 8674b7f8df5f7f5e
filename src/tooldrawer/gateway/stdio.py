"""The gateway for one client, over standard input and output."""

import os
import stat
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.server.stdio import stdio_server

from tooldrawer.gateway.ending import stopped_by_signals
from tooldrawer.gateway.express import Express
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.upstream.lines import LineReader, LineWriter


def _nothing() -> None: ...


async def serve_stdio(gateway: Gateway, *, started: Callable[[], None] = _nothing) -> None:
    """Serve until the client closes our input, or a signal asks to stop.

    `started` is called when signals are heeded.
    """
    gateway.transport, gateway.address = "stdio", ""
    serving = anyio.CancelScope()
    async with stopped_by_signals(serving.cancel, drained=gateway.drained), gateway.running():
        started()
        with serving:
            if not all(_can_be_waited_for(number) for number in (0, 1)):
                await _slowly(gateway)
                return
            async with _streams() as (reader, writer):
                express = Express(gateway.server, gateway.handlers, gateway.sealed)
                await express.serve(reader, writer)


async def _slowly(gateway: Gateway) -> None:
    """Serve over files, or on a system whose pipes cannot be waited for, as the SDK does."""
    async with stdio_server() as (reader, writer):
        options = gateway.server.create_initialization_options()
        await gateway.server.run(reader, writer, options)


@asynccontextmanager
async def _streams() -> AsyncGenerator[tuple[LineReader, LineWriter]]:
    """Our own 0 and 1 as message streams; whatever else prints goes to standard error."""
    reading, writing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    os.close(nowhere)
    try:
        async with LineReader(reading) as reader, LineWriter(writing) as writer:
            yield reader, writer
    finally:
        with suppress(OSError):
            sys.stdout.flush()


def _can_be_waited_for(number: int) -> bool:
    if sys.platform == "win32":
        return False
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)
