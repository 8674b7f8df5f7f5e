"""How fast a server is tried again, and listed again. Tests bring a clock of their own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import random
from time import monotonic

import anyio


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Pauses, in seconds."""

    first: float = 0.5
    most: float = 60.0
    listing: float = 1.0
    """At least this long from one listing to the next, however often a server says it changed."""
    clock: Callable[[], float] = monotonic
    random: Callable[[], float] = random
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    def pause(self, failures: int) -> float:
        """How long to wait after so many failures in a row: twice as long each time, jittered.

        Without the jitter, all servers behind one broken network would be tried in step.
        """
        longest = min(self.most, self.first * 2.0 ** min(failures - 1, 20))
        return longest * (0.5 + self.random() / 2)
