"""The ways to one server: straight, through the gateway, and through the gateway's peers."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any, Self

import anyio
from anyio.abc import Process
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from tooldrawer.errors import ConfigError, ToolFailed

ECHO = (sys.executable, "-m", "tooldrawer.bench.peers.echo")
"""The server at the end of every leg."""
STRAIGHT, GATEWAY, BARE, FASTMCP = "straight", "gateway", "a bare SDK proxy", "fastmcp's proxy"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
_PATIENCE = 120.0
"""Seconds until a process that should long be listening counts as hanging."""
_LAST_WORDS = 500
"""Characters of what a program said before it failed."""
_CLEAR = {"tools": {"tool_search": {"enabled": "on"}}, "approvals": {"allow": ["mcp_*"]}}
"""The drawer is closed, and nobody is asked."""
_FASTMCP = """
import sys, anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

async def main():
    async with Client(StdioTransport(command=sys.argv[1], args=sys.argv[2:])) as client:
        await create_proxy(client).run_stdio_async(show_banner=False, log_level="warning")

anyio.run(main)
"""
"""A connected client is used for every call; any other target is started anew for each one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One way to the echo server: a command to speak to over stdio, or an address."""

    name: str
    to: Sequence[str] | str

    @asynccontextmanager
    async def connected(self, room: "Room", mode: str) -> "AsyncGenerator[Client]":
        """A client that speaks `mode`.

        Raises:
            ToolFailed: Nobody answers it.
        """
        async with AsyncExitStack() as stack:
            try:
                client = await stack.enter_async_context(self._client(room, mode))
            except (MCPError, ExceptionGroup, OSError) as error:
                raise ToolFailed(f"{self.name}: nobody answers. It said: {room.said()}") from error
            yield client

    def _client(self, room: "Room", mode: str) -> Client:
        if isinstance(self.to, str):
            return Client(f"{self.to}/mcp", mode=mode)
        command, *arguments = self.to
        server = StdioServerParameters(
            command=command, args=arguments, env=dict(room.environment), cwd=room.folder
        )
        return Client(stdio_client(server, errlog=room.log), mode=mode)

    async def call(self, client: Client, tool: str, message: str) -> None:
        """Call a tool of the echo server.

        Raises:
            ToolFailed: The answer is not the server's.
        """
        name, arguments = tool, dict[str, Any](message=message)
        if self.name == GATEWAY:
            name, arguments = "tool_call", {"name": f"mcp_echo_{tool}", "arguments": arguments}
        given = (await client.call_tool(name, arguments)).content
        if not given or not isinstance(given[0], TextContent) or given[0].text != message:
            raise ToolFailed(f"{self.name}: {tool!r} answered {str(given)[:200]!r} to {message!r}.")


class Room:
    """A folder for one measurement, where nothing of the user's is in reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = (folder / "stderr.txt").open("a", encoding="utf-8")
        places = {
            f"XDG_{kind}_HOME": str(folder / kind.lower())
            for kind in ("CACHE", "DATA", "STATE", "CONFIG")
        }
        runtime = folder / "run"
        runtime.mkdir(mode=0o700)
        self.environment: Mapping[str, str] = {
            **places,
            "XDG_RUNTIME_DIR": str(runtime),
            "TOOLDRAWER_RUNTIME_DIR": str(runtime),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.log.close()

    def said(self) -> str:
        """The last that programs over stdio wrote to standard error."""
        return _text(Path(self.log.name))[-_LAST_WORDS:]

    def gateway(self, servers: Mapping[str, Sequence[str]], *more: str) -> list[str]:
        """The command of a gateway in front of the servers."""
        entries = {
            name: {"command": line[0], "args": [*line[1:]]} for name, line in servers.items()
        }
        config = self.folder / "tooldrawer.yaml"
        config.write_text(
            dumps({**_CLEAR, "mcp_servers": entries}), encoding="utf-8"
        )  # is YAML too
        return [sys.executable, "-m", "tooldrawer", "serve", "--config", str(config), *more]

    @asynccontextmanager
    async def listening(self, *command: str) -> "AsyncGenerator[tuple[str, int]]":
        """Run a server until the block is left; its address, and its process.

        Raises:
            ToolFailed: It did not come to listen.
        """
        output = self.folder / f"{len(list(self.folder.iterdir()))}.txt"
        with output.open("wb") as file:
            process = await anyio.open_process(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                cwd=self.folder,
                env={**os.environ, **self.environment},
            )
        async with process:
            try:
                yield await _address(process, output), process.pid
            finally:
                process.terminate()
                with anyio.move_on_after(10, shield=True):
                    await process.wait()


def over_stdio(room: Room, *, fastmcp: str | None) -> list[Leg]:
    """Every leg over stdio; `fastmcp` is an interpreter that has it."""
    legs = [
        Leg(name=STRAIGHT, to=ECHO),
        Leg(name=GATEWAY, to=room.gateway({"echo": ECHO})),
        Leg(name=BARE, to=(sys.executable, "-m", "tooldrawer.bench.peers.proxy", *ECHO)),
    ]
    if fastmcp:
        legs.append(Leg(name=FASTMCP, to=(fastmcp, "-c", _FASTMCP, *ECHO)))
    return legs


@asynccontextmanager
async def over_http(room: Room) -> "AsyncGenerator[list[Leg]]":
    """The legs over HTTP: the server itself, and the gateway in front of the same over stdio."""
    plain = (sys.executable, "-m", "uvicorn", "--factory", "tooldrawer.bench.peers.echo:app")
    quiet = ("--port", "0", "--no-access-log", "--no-server-header", "--ws", "none")
    async with AsyncExitStack() as stack:
        straight, _ = await stack.enter_async_context(room.listening(*plain, *quiet))
        command = room.gateway({"echo": ECHO}, "--http", "--port", "0")
        gateway, _ = await stack.enter_async_context(room.listening(*command))
        yield [Leg(name=STRAIGHT, to=straight), Leg(name=GATEWAY, to=gateway)]


def check_fastmcp(python: str) -> None:
    """Complain about an interpreter before minutes of measuring, not after.

    Raises:
        ConfigError: It cannot be run, or has no fastmcp with a proxy.
    """
    try:
        program = "from fastmcp.server import create_proxy"
        subprocess.run([python, "-c", program], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigError(
            f"{python}: cannot import fastmcp's proxy. Give --fastmcp the Python of an environment "
            "where `pip install fastmcp==4.1.2` was run."
        ) from error


async def until(happens: Callable[[], Awaitable[bool]]) -> None:
    """Ask again and again: another process cannot set an event of ours.

    Raises:
        TimeoutError: It did not happen for a long time.
    """
    with anyio.fail_after(_PATIENCE):
        while not await happens():  # noqa: ASYNC110
            await anyio.sleep(0.02)


async def _address(process: Process, output: Path) -> str:
    """Where the process listens, which it prints once it does."""

    async def has_said_or_ended() -> bool:
        return process.returncode is not None or _ADDRESS.search(_text(output)) is not None

    await until(has_said_or_ended)
    found = _ADDRESS.search(_text(output))
    if found is None:
        raise ToolFailed(
            f"A server that is measured ended; it said: {_text(output)[-_LAST_WORDS:]}"
        )
    return found.group()


def _text(output: Path) -> str:
    return output.read_text(encoding="utf-8", errors="replace").strip()
