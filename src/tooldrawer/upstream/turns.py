"""Whose calls a connection has in flight, so that a server's question finds the right person.

Before 2026-07-28 a server asks by a request of its own, which does not say for which call. On a
shared connection that is clear only while all calls are one client's.
"""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from math import inf

import anyio

from tooldrawer.upstream.behind import EndClient

_PATIENCE = 600.0
"""Seconds for a person to answer: a client that never does must not hold a call for ever."""
_FRESH_STARTS = 10
"""Questions after which the server gets its full time again; later it goes on with the rest."""


class Flight:
    """One call that a server is working on. Its time stands still while a person is asked."""

    __slots__ = (
        "_asking",
        "_left",
        "_patience",
        "_pauses",
        "_seconds",
        "_starts",
        "client",
        "key",
        "limit",
    )

    def __init__(
        self, client: EndClient | None, seconds: float, *, patience: float = _PATIENCE
    ) -> None:
        self.client = client
        self.key = "" if client is None else client.key
        self.limit = anyio.CancelScope()
        """Within it the server works."""
        self._seconds = seconds
        self._left = seconds
        self._patience = patience
        self._starts = 0
        self._pauses = 0
        self._asking: set[anyio.CancelScope] = set()

    def start_clock(self) -> None:
        """Give the server its full time from now."""
        self.limit.deadline = anyio.current_time() + self._seconds

    @contextmanager
    def asking(self) -> Generator[anyio.CancelScope]:
        """While a person is asked; given up when the call is over, or they take too long."""
        scope = anyio.CancelScope(deadline=anyio.current_time() + self._patience)
        self._asking.add(scope)
        self.pause()
        try:
            with scope:
                yield scope
        finally:
            self._asking.discard(scope)
            self.go_on()

    @property
    def is_paused(self) -> bool:
        """Whether the server waits for an answer."""
        return self._pauses > 0

    def pause(self) -> None:
        """Let the time of the call stand still until `go_on` was called as often as this."""
        if not self._pauses:
            self._left = self.limit.deadline - anyio.current_time()
            self.limit.deadline = inf
        self._pauses += 1

    def go_on(self) -> None:
        """End a pause; after the last one, the time of the call runs again."""
        self._pauses -= 1
        if self._pauses:
            return
        self._starts += 1
        if self._starts <= _FRESH_STARTS:
            self.start_clock()
        else:
            self.limit.deadline = anyio.current_time() + self._left

    def land(self) -> None:
        """The call is over, and with it every question about it."""
        for scope in self._asking:
            scope.cancel()


class Ambiguous(Exception):
    """Calls of several clients are in flight, so nobody knows whose question this is."""


def _nothing() -> None: ...


class Turns:
    """The calls in flight. On a server that was seen asking, different clients take turns.

    A call whose question waits for a person lets the others pass: minutes may go by until then.
    When the answer is there, the call takes its turn again before the server is told.
    """

    def __init__(self, *, asks: bool = False, seen_asking: Callable[[], None] = _nothing) -> None:
        self.asks = asks
        """Whether a question came that could not be told whose it was: then no second time."""
        self._seen_asking = seen_asking
        self._asks_in_parallel = False
        """Whether the server was seen asking again about a call before it had the answer."""
        self._owner: str | None = None
        self._is_shared = False
        """Whether the server has worked for several owners."""
        self._flights: list[Flight] = []
        self._waiting: deque[tuple[Flight, anyio.Event]] = deque()

    def __len__(self) -> int:
        return len(self._flights)

    def enter(self, flight: Flight) -> bool:
        """Take off at once, if nobody is in the way."""
        if self._waiting or not self._may_run(flight):
            return False
        self._take_off(flight)
        return True

    async def wait(self, flight: Flight) -> None:
        """Take off when the calls of others have landed, or wait for an answer."""
        turn = (flight, anyio.Event())
        self._waiting.append(turn)
        try:
            await turn[1].wait()
        except BaseException:
            if turn[1].is_set():
                self._flights.remove(flight)
            else:
                self._waiting.remove(turn)
            self._admit()
            raise

    def leave(self, flight: Flight) -> None:
        """Land."""
        self._flights.remove(flight)
        flight.land()
        for turn in tuple(self._waiting):
            if turn[0] is flight:  # it waits to go on with an answer that is of no use any more
                self._waiting.remove(turn)
                self._let_go(turn)
        self._admit()

    @asynccontextmanager
    async def stepped_aside(self, flight: Flight) -> AsyncGenerator[None]:
        """While a person is asked about the call, and until it is its turn again."""
        if flight.is_paused:
            self._asks_in_parallel = True
        flight.pause()
        self._admit()
        try:
            yield
        except BaseException:
            flight.go_on()
            raise
        await self._retake(flight)

    async def _retake(self, flight: Flight) -> None:
        if flight not in self._flights or self._may_run(flight):
            flight.go_on()
            return
        turn = (flight, anyio.Event())
        self._waiting.appendleft(turn)
        try:
            await turn[1].wait()
        except BaseException:
            if not turn[1].is_set():
                self._waiting.remove(turn)
                flight.go_on()
            raise

    def take_turns(self) -> None:
        """From now on, let no two clients' calls overlap."""
        if not self.asks:
            self.asks = True
            self._seen_asking()

    def whose(self, known: EndClient | None) -> Flight | None:
        """The call that a question belongs to, by the client that is known, or the only one.

        Raises:
            Ambiguous: It may be any of several clients'.
        """
        if known is not None:
            return next((each for each in self._flights if each.client is known), None)
        running = [flight for flight in self._flights if self._is_running(flight)] or self._flights
        if len({flight.key for flight in running}) > 1:
            raise Ambiguous
        # Each request of the stateless era says for itself what may be asked about it.
        latest = reversed(running)
        able = (each for each in latest if each.client is not None and each.client.capabilities)
        return next(able, running[-1] if running else None)

    def reader(self) -> EndClient | None:
        """The client that a line without a call belongs to; none where it may be another owner's.

        A line may come long after the call that it is about, when only another's is in flight.
        """
        if self._is_shared:
            return None
        try:
            flight = self.whose(None)
        except Ambiguous:
            return None
        return flight and flight.client

    def _is_running(self, flight: Flight) -> bool:
        """Whether the server may ask about it: not twice at a time, as far as it was seen."""
        return self._asks_in_parallel or not flight.is_paused

    def _may_run(self, flight: Flight) -> bool:
        return not self.asks or all(
            other is flight or other.key == flight.key or not self._is_running(other)
            for other in self._flights
        )

    def _admit(self) -> None:
        # In the order of their coming: one client's steady calls do not keep another one out.
        while self._waiting and self._may_run(self._waiting[0][0]):
            self._let_go(self._waiting.popleft())

    def _let_go(self, turn: tuple[Flight, anyio.Event]) -> None:
        flight, event = turn
        if flight.is_paused:
            flight.go_on()
        else:
            self._take_off(flight)
        event.set()

    def _take_off(self, flight: Flight) -> None:
        self._flights.append(flight)
        if flight.client is not None:
            first = self._owner or flight.client.owner
            self._owner, self._is_shared = first, self._is_shared or first != flight.client.owner
