"""What each principal may use at once and within a minute, so that none uses up another's share.

A principal is a token or a process. What a client calls itself plays no part: it can say anything.
"""

from collections import Counter, defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from math import ceil
from time import monotonic

import anyio

from tooldrawer.config.settings import QuotaOptions

_WINDOW_S = 60.0
_MAX_WAIT_S = 30.0
"""How long a call waits for one of its principal's other calls to finish."""


class QuotaExceeded(Exception):
    """A principal has used up a quota; the text says what to do next."""


@dataclass(slots=True)
class _Usage:
    """What one principal uses now."""

    in_flight: int = 0
    waiting: deque[anyio.Event] = field(default_factory=deque[anyio.Event])
    searches: deque[float] = field(default_factory=deque[float])
    """When the searches of the last minute were made."""
    calls: deque[float] = field(default_factory=deque[float])
    subscriptions: int = 0


class Quotas:
    """Counts what each principal uses, for one event loop."""

    def __init__(
        self, options: Callable[[], QuotaOptions], *, clock: Callable[[], float] = monotonic
    ) -> None:
        """`options` is asked each time: the settings may change."""
        self._options, self._clock = options, clock
        # There are as many principals as tokens, which people make; so none is ever forgotten.
        self._usages: defaultdict[str, _Usage] = defaultdict(_Usage)

    def count_searches(self, principal: str, count: int = 1) -> None:
        """Count searches of the last minute.

        Raises:
            QuotaExceeded: They are too many; none of them is counted.
        """
        limit = self._options().searches_per_minute
        self._count(self._usages[principal].searches, count, limit, "searches")

    def count_call(self, principal: str) -> None:
        """Count one call of the last minute.

        Raises:
            QuotaExceeded: It is one too many.
        """
        limit = self._options().calls_per_minute
        self._count(self._usages[principal].calls, 1, limit, "calls")

    @contextmanager
    def subscription(self, principal: str) -> Generator[None]:
        """As long as a principal is told when one resource changes.

        Raises:
            QuotaExceeded: It has too many of them.
        """
        usage, limit = self._usages[principal], self._options().subscriptions
        if usage.subscriptions >= limit:
            raise QuotaExceeded(
                f"There are {usage.subscriptions:,} subscriptions to resources with this access; "
                f"{limit:,} are allowed. Unsubscribe from one first, or raise "
                "gateway.quotas.subscriptions."
            )
        usage.subscriptions += 1
        try:
            yield
        finally:
            usage.subscriptions -= 1

    @asynccontextmanager
    async def in_flight(self, principal: str) -> AsyncGenerator[None]:
        """Around one call, which waits for others of its principal if too many are in flight.

        Raises:
            QuotaExceeded: None of them finished for long.
        """
        usage = self._usages[principal]
        if usage.waiting or usage.in_flight >= self._options().calls_in_flight:
            await self._wait(usage)
        else:
            usage.in_flight += 1
        try:
            yield
        finally:
            usage.in_flight -= 1
            self._admit(usage)

    async def _wait(self, usage: _Usage) -> None:
        turn = anyio.Event()
        usage.waiting.append(turn)
        try:
            with anyio.move_on_after(_MAX_WAIT_S):
                await turn.wait()
                return
        except BaseException:
            if turn.is_set():
                usage.in_flight -= 1
                self._admit(usage)
            else:
                usage.waiting.remove(turn)
            raise
        if turn.is_set():
            return
        usage.waiting.remove(turn)
        raise QuotaExceeded(
            f"{usage.in_flight} calls are running, which is as many as are allowed at once, and "
            f"none finished within {_MAX_WAIT_S:g} s. Wait for one of them, then call again."
        )

    def _admit(self, usage: _Usage) -> None:
        while usage.waiting and usage.in_flight < self._options().calls_in_flight:
            usage.in_flight += 1
            usage.waiting.popleft().set()

    def _count(self, made: deque[float], count: int, limit: int, what: str) -> None:
        now = self._clock()
        while made and made[0] <= now - _WINDOW_S:
            made.popleft()
        if made and len(made) + count > limit:
            wait = ceil(made[0] + _WINDOW_S - now)
            raise QuotaExceeded(
                f"More than {limit} {what} in a minute. Wait {wait} s, then try again."
            )
        made.extend([now] * count)


class OpenRequests:
    """The HTTP requests under way. A principal may have as many open as there are left for others.

    So one principal gets at most half of the connections, the next at most half of the rest, and
    there is always some left for another.
    """

    def __init__(self, max_open: int) -> None:
        self._max_open = max_open
        self._open: Counter[str] = Counter()

    @contextmanager
    def opened(self, principal: str) -> Generator[None]:
        """Around one request.

        Raises:
            QuotaExceeded: The principal has too many open.
        """
        mine = self._open[principal]
        if mine >= self._max_open - self._open.total():
            raise QuotaExceeded(
                f"{mine} requests are open with this access, as many as the gateway has left for "
                "others. Close streams that are not needed, or try again later."
            )
        self._open[principal] += 1
        try:
            yield
        finally:
            self._open[principal] -= 1
            if not self._open[principal]:
                del self._open[principal]
