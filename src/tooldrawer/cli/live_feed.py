"""The activity of an agent, told as it happens: a row for each call, under the real tool's name."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

import anyio
import anyio.lowlevel

from tooldrawer.activity import (
    CANCELLED,
    CANCELLED_RUNNING,
    ActivityLog,
    ApprovalAnswered,
    CallFailed,
    CallFinished,
    CallRefused,
    CallStarted,
    ConfigReloaded,
    Described,
    Event,
    Searched,
    UpstreamChanged,
    UpstreamDown,
    UpstreamUp,
)
from tooldrawer.activity.subscription import Subscription
from tooldrawer.cli.call_row import Row, State, counted, in_short, spent
from tooldrawer.cli.feed import format_line
from tooldrawer.cli.output import harmless
from tooldrawer.cli.screen import Screen
from tooldrawer.dispatch import Answer

_TICK = 0.1
"""Seconds between two pictures of what runs."""
_STEPS = 3
"""Turns of the event loop in which a reader that was woken has read everything."""
_MOST_ROWS = 8
_YES = (Answer.ONCE, Answer.SESSION, Answer.ALWAYS)
_NOBODY = "nobody to ask"
_SOON = 0.4
"""Seconds of thinking that nobody needs to be told about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    event: CallStarted
    since: float


class LiveFeed:
    """Follows the events of a session and its subagents."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._running: dict[tuple[str, str, str], _Running] = {}
        self._answered: dict[tuple[str, str], ApprovalAnswered] = {}
        self._down: set[str] = set()
        self._thinking: float | None = None
        self._changed = anyio.Event()
        self.unasked = 0
        """Calls that were refused because nobody could be asked."""
        screen.follow(self._rows)

    @asynccontextmanager
    async def following(self, activity: ActivityLog) -> AsyncGenerator[None]:
        """Tell each event until the block is left."""
        async with followed(activity, self.take), anyio.create_task_group() as tasks:
            tasks.start_soon(self._animate)
            yield
            tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def working(self) -> AsyncGenerator[None]:
        """The model is at work until the block is left."""
        self._thinking = monotonic()
        self._changed.set()
        try:
            yield
        finally:
            await caught_up()
            self._thinking = None
            self._running.clear()
            self._screen.draw()

    @asynccontextmanager
    async def at_work(self, activity: ActivityLog) -> AsyncGenerator[None]:
        """Both at once, for one task."""
        async with self.following(activity), self.working():
            yield

    async def _animate(self) -> None:
        """Redraw what runs, until cancelled."""
        while self._screen.is_live:
            if self._is_idle:
                self._changed = anyio.Event()
                await self._changed.wait()
            self._screen.draw()
            await anyio.sleep(_TICK)

    def heard(self) -> None:
        """There was a sign of life."""
        if self._thinking is not None:
            self._thinking = monotonic()

    def take(self, event: Event) -> None:
        """Tell one event."""
        self.heard()
        match event:
            case CallStarted():
                self._running[_key(event)] = _Running(event=event, since=monotonic())
                self._changed.set()
                self._screen.draw()
            case CallFinished() | CallRefused() | CallFailed():
                self._end(event)
            case Searched():
                found = f"{len(event.hits)} found" if event.hits else "nothing found"
                self._tell(self._row(event, f"searched {event.query!r}: {found}", "quiet"))
            case Described():
                self._tell(self._row(event, f"described {event.tool}", "quiet"))
            case ApprovalAnswered():
                self._answered[event.session, event.tool] = event
            case UpstreamUp() | UpstreamDown() | UpstreamChanged() | ConfigReloaded():
                self._notice(event)
            case _:
                pass

    @property
    def _is_idle(self) -> bool:
        return not self._running and self._thinking is None

    def _notice(self, event: UpstreamUp | UpstreamDown | UpstreamChanged | ConfigReloaded) -> None:
        """What happens beside the calls; a server that starts is no news unless it was down."""
        if isinstance(event, UpstreamUp):
            if event.upstream not in self._down:
                return
            self._down.discard(event.upstream)
        elif isinstance(event, UpstreamDown):
            self._down.add(event.upstream)
        self._screen.notice(format_line(event))

    def _end(self, event: CallFinished | CallRefused | CallFailed) -> None:
        started = self._running.pop(_key(event), None)
        answered = self._answered.pop((event.session, event.tool or ""), None)
        arguments = in_short(started.event.arguments) if started else None
        tokens = started.event.argument_tokens if started else 0
        # How long a person thought about it says nothing about the tool.
        spent_on_it = max(event.duration - (answered.duration if answered else 0.0), 0.0)
        if isinstance(event, CallRefused) and answered and answered.answer not in _YES:
            self.unasked += answered.answer == _NOBODY
            said = "a person said no" if answered.answer == Answer.NO else answered.answer
            state, tail = "wrong", f"refused: {said}"
        else:
            state, tail = _came_of(event, tokens, spent_on_it)
        self._tell(self._row(event, event.tool or "a call", state, arguments, tail))

    def _row(
        self,
        event: Event,
        head: str,
        state: State,
        arguments: str | None = None,
        tail: str = "",
    ) -> Row:
        depth = event.session.count(".")
        return Row(
            head=harmless(head, keep=""),
            state=state,
            arguments=arguments,
            tail=harmless(tail, keep=""),
            session=event.session if depth else "",
            depth=depth,
        )

    def _tell(self, row: Row) -> None:
        glyphs = self._screen.glyphs
        mark = {"ok": glyphs.ok, "wrong": glyphs.wrong}.get(row.state, glyphs.quiet)
        self._screen.tell(self._drawn(row, self._screen.width, mark))

    def _drawn(self, row: Row, width: int, mark: str) -> str:
        return row.drawn(
            width, mark=mark, glyphs=self._screen.glyphs, colour=self._screen.has_colour
        )

    def _rows(self, width: int) -> list[str]:
        now, spinner = monotonic(), self._screen.glyphs.spinner
        mark = spinner[int(now / _TICK) % len(spinner)]
        rows = [
            self._row(
                running.event,
                running.event.tool,
                "running",
                in_short(running.event.arguments),
                spent(now - running.since) if now - running.since >= 1 else "",
            )
            for running in self._running.values()
        ]
        most = min(_MOST_ROWS, self._screen.height - 2)
        if len(rows) > most:
            more = Row(head=f"and {len(rows) - most + 1} more", state="quiet")
            rows = [*rows[: most - 1], more]
        if not rows and self._thinking is not None and now - self._thinking > _SOON:
            rows = [Row(head="thinking", state="quiet", tail=spent(now - self._thinking))]
        return [self._drawn(row, width, mark) for row in rows]


@asynccontextmanager
async def followed(activity: ActivityLog, take: Callable[[Event], None]) -> AsyncGenerator[None]:
    """Hand each event to `take`, those so far first, until the block is left."""

    reading = anyio.CancelScope(shield=True)

    async def follow(events: Subscription) -> None:
        with reading:
            async for event in events:
                take(event)

    async with activity.subscribe() as events, anyio.create_task_group() as tasks:
        for event in activity:  # a server may have failed already
            take(event)
        tasks.start_soon(follow, events)
        try:
            yield
        finally:
            await caught_up()
            reading.cancel()


async def caught_up() -> None:
    """Let whoever follows the events take those that are waiting.

    Also in a task that was cancelled: the calls that ended by it are told.
    """
    with anyio.CancelScope(shield=True):
        for _ in range(_STEPS):
            await anyio.lowlevel.checkpoint()


def _key(event: CallStarted | CallFinished | CallRefused | CallFailed) -> tuple[str, str, str]:
    return event.session, event.call, event.tool or ""


def _came_of(
    event: CallFinished | CallRefused | CallFailed, argument_tokens: int, seconds: float
) -> tuple[State, str]:
    match event:
        case CallFinished():
            tokens = counted(event.result_tokens + argument_tokens, "token")
            figures = f"{spent(seconds)}, {tokens}"
            said = f": {' '.join(event.error.split())}" if event.error.strip() else ""
            return ("wrong", f"error, {figures}{said}") if event.is_error else ("ok", figures)
        case CallRefused():
            return "wrong", f"refused: {_reason(event.reason, event.tool)}"
        case CallFailed():
            if event.error == CANCELLED:
                return "wrong", f"stopped after {spent(seconds)}"
            if event.error == CANCELLED_RUNNING:
                return "wrong", f"cancelled after {spent(seconds)}; it may still be running"
            error = _reason(event.error, event.tool)
            return "wrong", f"failed after {spent(seconds)}: {error}"


def _reason(text: str, tool: str | None) -> str:
    """A text for the model in one line, without the name that stands before it here."""
    line = " ".join(text[:1000].split())
    for known in (f"{tool!r} was not run: ", f"{tool!r} failed: ", f"{tool!r} "):
        line = line.removeprefix(known)
    return line
