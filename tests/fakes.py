"""Small real implementations of the protocols that users of the package implement."""

import io
import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

import anyio

from tooldrawer import Answer, ApprovalRequest, Event, Tool, ToolCall, ToolResult

Run = Callable[[Tool, ToolCall], Awaitable[ToolResult]]


async def echo(tool: Tool, call: ToolCall) -> ToolResult:
    """Give the arguments back."""
    del tool
    return ToolResult.of_json(call.arguments)


class ScriptedToolset:
    """Offers the tools it is given, under its own name, and runs all of them with one function."""

    def __init__(self, name: str, tools: Iterable[Tool], run: Run = echo) -> None:
        self.name = name
        self.received: list[ToolCall] = []
        self._tools = tuple(replace(tool, source=name) for tool in tools)
        self._run = run

    def tools(self) -> Sequence[Tool]:
        return self._tools

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        self.received.append(call)
        return await self._run(tool, call)

    @staticmethod
    def stops_when_cancelled(tool: Tool) -> bool:
        """Its functions are coroutines that start nothing else."""
        del tool
        return True


class ScriptedApprover:
    """Gives the answers of its script, one a question."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[ApprovalRequest] = []
        self._answers = iter(answers)

    async def __call__(self, request: ApprovalRequest) -> Answer:
        self.requests.append(request)
        return next(self._answers)


class SilentApprover:
    """Never answers."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.was_cancelled = False

    async def __call__(self, request: ApprovalRequest) -> Answer:
        self.asked.set()
        try:
            await anyio.Event().wait()
        except anyio.get_cancelled_exc_class():
            self.was_cancelled = True
            raise
        return Answer.ALWAYS


class MeddlingApprover:
    """Says yes, after doing something else while it was asked."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        self._meddle = meddle

    async def __call__(self, request: ApprovalRequest) -> Answer:
        found = self._meddle()
        if isinstance(found, Awaitable):
            await found
        return Answer.ONCE


class Typist(io.StringIO):
    """A screen, and somebody in front of it who types the next line whenever they are asked."""

    def __init__(self, keyboard: int, *lines: str) -> None:
        super().__init__()
        self._keyboard = keyboard
        self._lines = iter(lines)

    def flush(self) -> None:
        os.write(self._keyboard, next(self._lines, "").encode())


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class ListSink:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        self.events.append(event)


class BrokenSink:
    """Raises an error on every event."""

    def write(self, event: Event) -> None:
        raise OSError(f"no room for {type(event).__name__}")


class StuckSink:
    """Hangs in its first event until it is released."""

    def __init__(self) -> None:
        self.is_stuck, self.release = threading.Event(), threading.Event()
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        self.is_stuck.set()
        self.release.wait()
        self.events.append(event)
