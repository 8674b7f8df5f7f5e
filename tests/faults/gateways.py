"""The gateway as a process of its own, which is watched from outside and leaves nothing behind."""

import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
from anyio.abc import Process
from mcp import Client

from tests.faults.callers import Caller
from tests.faults.place import ROOT, Place
from tests.faults.processes import alive, children, memory, peak
from tests.faults.waiting import eventually
from tests.faults.wire import Wire
from tooldrawer.cli.running import Gateway as Control
from tooldrawer.gateway.runtime import running
from tooldrawer.tool import JsonObject

END = 60.0
"""Seconds for the gateway to end: 10 for calls in flight, 3 for servers that ignore everything."""
GROWTH = 64 * 1024 * 1024
"""What a fault may cost in memory: as much as the longest single line that the gateway takes."""


class Gateway:
    """One gateway that runs."""

    def __init__(self, place: Place, process: Process, *, serves_http: bool) -> None:
        self.place = place
        self.serves_http = serves_http
        self.process = process
        self.pid = process.pid
        self.wire = Wire(process)
        self.growth = GROWTH
        """How much memory it may take beyond what it had when all was well."""
        self._before = 0
        self._children: frozenset[Path] = frozenset()

    @asynccontextmanager
    async def client(self, mode: str = "legacy", **more: Any) -> AsyncGenerator[Caller]:
        """A client of the SDK, over the pipes, which has made its first call of `well`."""
        async with Client(self.wire.streams(), mode=mode, **more) as client:
            yield await self._greeted(client)

    @asynccontextmanager
    async def bare_client(self) -> AsyncGenerator[Caller]:
        """One that takes what comes, for a gateway that nobody can watch."""
        async with Client(self.wire.streams(), mode="legacy") as client:
            yield Caller(client)

    @asynccontextmanager
    async def http_client(self, mode: str = "legacy", **more: Any) -> AsyncGenerator[Caller]:
        """The same, over HTTP."""
        await self.up("well")
        address = str((await self.status())["address"])
        async with Client(address, mode=mode, **more) as client:
            yield await self._greeted(client)

    async def _greeted(self, client: Client) -> Caller:
        caller = Caller(client)
        await self.up("well")
        await caller.beat(0)
        return caller

    async def status(self) -> JsonObject:
        """What `tooldrawer status` shows, from the control socket."""
        return await anyio.to_thread.run_sync(self._status)

    def _status(self) -> JsonObject:
        (card,) = running(self.place.runtime)
        return Control(card=card).get("/status")

    async def server(self, name: str) -> dict[str, Any]:
        """Where one server stands."""
        return (await self.servers())[name]

    async def servers(self) -> dict[str, dict[str, Any]]:
        """Where each server stands."""
        servers = cast("list[dict[str, Any]]", (await self.status())["servers"])
        return {str(server["name"]): server for server in servers}

    async def until(self, condition: Callable[[Mapping[str, Any]], object], *names: str) -> None:
        """Wait until the condition holds for each of these servers."""

        async def holds() -> bool:
            found = await self.servers()
            return all(name in found and condition(found[name]) for name in names)

        await self.listening()
        await eventually(holds)

    async def up(self, *names: str) -> None:
        """Wait until these servers are up."""
        await self.until(lambda server: server["state"] == "up", *names)
        self._before = self._before or memory(self.pid)

    async def busy(self, calls: int = 1) -> None:
        """Wait until so many calls are under way."""

        async def is_so() -> bool:
            found = cast("JsonObject", (await self.status())["calls"])
            return found["in_flight"] == calls

        await eventually(is_so)

    async def listening(self) -> None:
        """Wait for its control socket."""
        await eventually(lambda: any(self.place.runtime.glob("*.json")))

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._check_memory()
        self._children |= children(self.pid)
        self.process.send_signal(signal.Signals(number))

    async def ended(self) -> int:
        """Its exit code, when it has ended in time."""
        with anyio.fail_after(END):
            return await self.process.wait()

    async def leave(self) -> None:
        """End it as its users do, if that was not done, and see that nothing is left."""
        started = self._children
        if self.process.returncode is None:
            self._check_memory()
            started |= children(self.pid)
            if self.serves_http:
                self.process.terminate()
            else:
                await self.wire.close()
            assert await self.ended() == 0
        if not self.serves_http:
            async for _ in self.wire.messages():
                pass  # whatever it still said, it must be messages
            assert self.wire.strays == []
        assert self.place.left() == []
        await eventually(lambda: not any(map(alive, started)))  # whoever cleans up after it, too
        assert "Traceback" not in self.place.complaints
        assert "went wrong inside" not in self.place.complaints
        assert len(self.place.complaints) < 1000

    def _check_memory(self) -> None:
        if self._before:
            assert peak(self.pid) - self._before < self.growth


@asynccontextmanager
async def gateway(place: Place, *options: str) -> AsyncGenerator[Gateway]:
    """Run it; when the block is left it must end by itself, and with it all that it started."""
    place.write()
    with (place.folder / "stderr").open("wb") as complaints:
        process = await anyio.open_process(
            [sys.executable, "-m", "tooldrawer", "serve", "--config", str(place.config), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=place.environment,
            cwd=ROOT,
        )
    found = Gateway(place, process, serves_http="--http" in options)
    try:
        yield found
        await found.leave()
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
                await process.wait()
            await process.aclose()
