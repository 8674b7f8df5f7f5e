"""Small real implementations for the tests of this room."""

import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from tooldrawer import Event, ToolCall, ToolResult
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import BEHIND, CannotAsk
from tooldrawer.upstream.manifest import Manifests
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.upstream import Upstream

SERVERS = Path(__file__).parent / "servers"
LONG = 60.0
"""Seconds after which a test gives up waiting on a busy machine."""


def plain(*options: str, name: str = "plain", **more: Any) -> UpstreamSpec:
    """The small server, with options that make it bad."""
    args = ("-S", "-E", str(SERVERS / "plain.py"), *options)
    return UpstreamSpec(name=name, command=sys.executable, args=args, **more)


class Client:
    """A client behind a call, whose person gives one answer to everything."""

    def __init__(
        self,
        key: str = "ann",
        *,
        owner: str = "team",
        answer: JsonObject | None = None,
        capabilities: JsonObject | None = None,
        meta: JsonObject | None = None,
        protocol: str = "2026-07-28",
    ) -> None:
        self.key, self.owner = key, owner
        self.protocol = protocol
        self.capabilities: JsonObject = capabilities or {}
        self.meta: JsonObject = meta or {}
        self.steps: list[tuple[float, float | None, str | None]] = []
        self.lines: list[JsonObject] = []
        self.questions: list[JsonObject] = []
        self.heard = anyio.Event()
        self._answer = answer

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append((progress, total, message))
        self.heard.set()

    async def log(self, params: JsonObject) -> None:
        self.lines.append(params)
        self.heard.set()

    async def ask(self, questions: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        self.questions.extend(questions.values())
        if self._answer is None:
            raise CannotAsk
        return dict.fromkeys(questions, self._answer)


class SlowClient(Client):
    """Answers only when it is told to."""

    def __init__(self, key: str = "ann") -> None:
        super().__init__(key, answer={"action": "accept", "content": {}})
        self.is_asked, self.go_on = anyio.Event(), anyio.Event()
        self.was_given_up = False

    async def ask(self, questions: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        self.is_asked.set()
        try:
            await self.go_on.wait()
        except anyio.get_cancelled_exc_class():
            self.was_given_up = True
            raise
        return await super().ask(questions)


class Running:
    """An upstream that is served, and what it told."""

    def __init__(self, spec: UpstreamSpec, *, folder: Path | None = None, pace: Pace) -> None:
        self.events: list[Event] = []
        self.changes = 0
        self.notices: list[tuple[str, JsonObject]] = []
        self._moved = anyio.Event()
        self.upstream = Upstream(
            spec,
            emit=self._emit,
            manifests=Manifests(folder) if folder else None,
            changed=self._changed,
            notified=self._notified,
            pace=pace,
        )

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self._wake()

    def _changed(self, upstream: Upstream) -> None:
        assert upstream is self.upstream
        self.changes += 1
        self._wake()

    def _notified(self, upstream: Upstream, method: str, params: JsonObject) -> None:
        assert upstream is self.upstream
        self.notices.append((method, params))
        self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something that it tells makes the condition true."""
        with anyio.fail_after(LONG):
            while not condition():
                await self._moved.wait()

    def happened(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def call(self, name: str, arguments: JsonObject | None = None) -> ToolResult:
        """Call a tool by the server's own name for it."""
        tool = next(tool for tool in self.upstream.tools() if tool.local_name == name)
        call = ToolCall(name=tool.name, arguments=arguments or {})
        with anyio.fail_after(LONG):
            return await self.upstream.run(tool, call)

    async def call_for(
        self, client: Client | None, name: str, arguments: JsonObject | None = None
    ) -> ToolResult:
        """The same for a client."""
        token = BEHIND.set(client)
        try:
            return await self.call(name, arguments)
        finally:
            BEHIND.reset(token)


async def no_pause(seconds: float) -> None:
    """Instead of sleeping."""
    del seconds
    await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def running(
    spec: UpstreamSpec, *, folder: Path | None = None, pace: Pace | None = None
) -> AsyncGenerator[Running]:
    """Serve it, and wait until it is settled."""
    found = Running(spec, folder=folder, pace=pace or Pace(listing=0.0))
    async with anyio.create_task_group() as group:
        group.start_soon(found.upstream.serve)
        with anyio.fail_after(LONG):
            await found.upstream.settled()
        yield found
        group.cancel_scope.cancel()


async def eventually(condition: Callable[[], object]) -> None:
    """Wait for what another process does, which nobody tells us."""
    with anyio.fail_after(LONG):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.01)


def structured(result: ToolResult) -> Any:
    """What the tool gave, for looking into it."""
    return result.structured


def pids(file: Path) -> list[int]:
    """What servers wrote there."""
    return [int(line) for line in file.read_text(encoding="utf-8").split()] if file.exists() else []


def alive(pid: int) -> bool:
    """Whether a process still runs."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
