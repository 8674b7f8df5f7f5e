"""The gateway as a process of its own, with folders of its own, and nothing left of it."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
from anyio.abc import Process
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.faults.processes import MARK, marked, peak
from tests.faults.wire import Wire
from tooldrawer.cli.running import Gateway as Control
from tooldrawer.gateway.runtime import running
from tooldrawer.tool import Json, JsonObject

ROOT = Path(__file__).parents[2]
LONG = 60.0
"""Seconds after which a condition will not come true any more."""
END = 20.0
"""Seconds for the gateway to end: 10 for calls in flight, 6 for servers that ignore everything."""


@dataclass
class Place:
    """Where one test happens."""

    folder: Path
    mark: str
    servers: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    settings: JsonObject = field(default_factory=dict[str, Json])

    def plain(self, name: str, *options: str, **entry: Json) -> None:
        """Configure a server of tests/upstream/servers/plain.py."""
        self.server(name, "-m", "tests.upstream.servers.plain", *options, **entry)

    def rude(self, name: str, *options: str, **entry: Json) -> None:
        """Configure a server of tests/faults/rude.py."""
        self.server(name, "-m", "tests.faults.rude", *options, **entry)

    def server(self, name: str, *args: str, **entry: Json) -> None:
        """Configure a server that is a Python program; `-S` halves the time that it needs."""
        program: JsonObject = {"command": sys.executable, "args": ["-S", *args], "cwd": str(ROOT)}
        self.add(name, **{**program, **entry})

    def add(self, name: str, **entry: Json) -> None:
        """Configure any server."""
        self.servers[name] = {**entry, "env": {MARK: self.mark}} if "command" in entry else entry

    @property
    def config(self) -> Path:
        """The gateway's file."""
        return self.folder / "tooldrawer.yaml"

    @property
    def runtime(self) -> Path:
        """Where its control socket is found."""
        return self.folder / "run"

    @property
    def complaints(self) -> str:
        """What the gateway wrote to stderr."""
        return (self.folder / "stderr").read_text(encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """Nothing that a gateway keeps goes to the user's own folders."""
        kinds = ("CACHE", "DATA", "CONFIG", "STATE")
        places = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in kinds}
        own = {"TOOLDRAWER_RUNTIME_DIR": str(self.runtime), MARK: self.mark}
        return {**os.environ, **places, **own}

    def write(self) -> None:
        """Put the configuration where the gateway reads it, in one step."""
        document: dict[str, Json] = {
            "tools": {"tool_search": {"enabled": "on", "search": "lexical"}},
            "mcp_servers": cast("JsonObject", self.servers),
            **self.settings,
        }
        draft = self.config.with_suffix(".new")
        draft.write_text(json.dumps(document), encoding="utf-8")
        draft.replace(self.config)

    def left(self) -> list[str]:
        """The processes of this test that run."""
        return marked(self.mark)

    @asynccontextmanager
    async def gateway(self, *options: str) -> "AsyncGenerator[Gateway]":
        """Run it; when the block is left it must end by itself, and with it all that it started."""
        self.write()
        command = [sys.executable, "-m", "tooldrawer", "serve", "--config", str(self.config)]
        with (self.folder / "stderr").open("wb") as complaints:
            process = await anyio.open_process(
                [*command, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=self.environment,
                cwd=ROOT,
            )
        gateway = Gateway(self, process)
        try:
            yield gateway
            await gateway.leave()
        finally:
            with anyio.CancelScope(shield=True):
                await self._clear(process)

    async def _clear(self, process: Process) -> None:
        """A test that failed leaves nothing behind either."""
        if process.returncode is None:
            process.kill()
            await process.wait()
        for line in self.left():
            os.kill(int(line.split()[0]), 9)
        await process.aclose()


class Gateway:
    """One gateway that runs."""

    def __init__(self, place: Place, process: Process) -> None:
        self.place = place
        self.process = process
        self.pid = process.pid
        self.wire = Wire(process)
        self.peak = 0

    @asynccontextmanager
    async def client(self, mode: str = "legacy", **more: Any) -> "AsyncGenerator[Caller]":
        """A client of the SDK, over the pipes."""
        transport = self.wire.streams()
        async with Client(transport, mode=mode, **more) as client:
            yield Caller(client)

    def status(self) -> JsonObject:
        """What `tooldrawer status` would show."""
        (card,) = running(self.place.runtime)
        return Control(card=card).get("/status")

    async def servers(self) -> dict[str, dict[str, Any]]:
        """Where each server stands."""
        found = await anyio.to_thread.run_sync(self.status)
        servers = cast("list[dict[str, Any]]", found["servers"])
        return {server["name"]: server for server in servers}

    async def until(self, condition: Callable[[Mapping[str, Any]], bool], *names: str) -> None:
        """Wait until the condition holds for each of these servers."""
        with anyio.fail_after(LONG):
            while True:
                found = await self.servers() if self.is_listening else {}
                if found and all(condition(found[name]) for name in names):
                    return
                await anyio.sleep(0.02)

    async def up(self, *names: str) -> None:
        """Wait until these servers are up."""
        await self.until(lambda server: server["state"] == "up", *names)

    @property
    def is_listening(self) -> bool:
        """Whether its control socket is there."""
        return any(self.place.runtime.glob("*.json"))

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    async def ended(self) -> int:
        """Its exit code, when it has ended as it should."""
        with anyio.fail_after(END):
            return await self.process.wait()

    async def leave(self) -> None:
        """Close its stdin if that was not done, and see that nothing is left."""
        if self.process.returncode is None:
            self.peak = peak(self.pid)
            await self.wire.close()
            assert await self.ended() == 0
        assert self.wire.strays == []
        assert self.place.left() == []
        assert "Traceback" not in self.place.complaints
        assert "went wrong inside" not in self.place.complaints


class Caller:
    """A client that calls tools through the bridge."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(
        self, name: str, arguments: JsonObject | None = None, **more: Any
    ) -> CallToolResult:
        """Call a tool of a server by both names: `notes/add`."""
        with anyio.fail_after(LONG):
            return await self.client.call_tool(
                "tool_call", {"name": name, "arguments": arguments or {}}, **more
            )

    async def text(self, name: str, arguments: JsonObject | None = None) -> str:
        """The text of its result."""
        return text(await self.call(name, arguments))


def text(result: CallToolResult) -> str:
    """The first text in a result."""
    return next(block.text for block in result.content if isinstance(block, TextContent))


async def eventually(condition: Callable[[], object]) -> None:
    """Wait for what another process does, which nobody tells us."""
    with anyio.fail_after(LONG):
        while not condition():
            await anyio.sleep(0.02)
