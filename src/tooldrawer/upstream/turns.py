"""Whose calls a connection has in flight, so that a server's question finds the right person.

Before 2026-07-28 a server asks by a request of its own, which does not say for which call. On a
shared connection that is clear only while all calls are one client's.
"""

from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf

import anyio

from tooldrawer.upstream.behind import EndClient

_PATIENCE = 600.0
"""Seconds for a person to answer: a client that never does must not hold a call for ever."""
_FRESH_STARTS = 10
"""Questions after which the server gets its full time again; later it goes on with the rest."""


class Flight:
    """One call that a server is working on. Its time stands still while a person is asked."""

    __slots__ = ("_asking", "_left", "_patience", "_seconds", "_starts", "client", "key", "limit")

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
        self._asking: set[anyio.CancelScope] = set()

    def start_clock(self) -> None:
        """Give the server its full time from now."""
        self.limit.deadline = anyio.current_time() + self._seconds

    @contextmanager
    def asking(self) -> Generator[anyio.CancelScope]:
        """While a person is asked; given up when the call is over, or they take too long."""
        now = anyio.current_time()
        scope = anyio.CancelScope(deadline=now + self._patience)
        if not self._asking:
            self._left = self.limit.deadline - now
        self._asking.add(scope)
        self.limit.deadline = inf
        try:
            with scope:
                yield scope
        finally:
            self._asking.discard(scope)
            if not self._asking:
                self._go_on()

    def _go_on(self) -> None:
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
    """The calls in flight. On a server that was seen asking, different clients take turns."""

    def __init__(self, *, asks: bool = False, seen_asking: Callable[[], None] = _nothing) -> None:
        self.asks = asks
        """Whether a question came that could not be told whose it was: then no second time."""
        self._seen_asking = seen_asking
        self._flights: list[Flight] = []
        self._waiting: deque[tuple[Flight, anyio.Event]] = deque()

    def __len__(self) -> int:
        return len(self._flights)

    def enter(self, flight: Flight) -> bool:
        """Take off at once, if nobody is in the way."""
        if self._waiting or not self._may_start(flight):
            return False
        self._flights.append(flight)
        return True

    async def wait(self, flight: Flight) -> None:
        """Take off when the calls of others have landed."""
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
        self._admit()

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
        if len({flight.key for flight in self._flights}) > 1:
            raise Ambiguous
        # Each request of the stateless era says for itself what may be asked about it.
        latest = reversed(self._flights)
        able = (each for each in latest if each.client is not None and each.client.capabilities)
        return next(able, self._flights[-1] if self._flights else None)

    def _may_start(self, flight: Flight) -> bool:
        return not self.asks or all(other.key == flight.key for other in self._flights)

    def _admit(self) -> None:
        # In the order of their coming: one client's steady calls do not keep another one out.
        while self._waiting and self._may_start(self._waiting[0][0]):
            flight, event = self._waiting.popleft()
            self._flights.append(flight)
            event.set()
