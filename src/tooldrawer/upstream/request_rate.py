"""How many requests of a server are answered, so that a flood of them holds up nothing else."""

import logging
from collections.abc import Callable
from time import monotonic

_MAX_BURST = 200
_MAX_PER_S = 20.0
_logger = logging.getLogger(__name__)


class RequestRate:
    """A token bucket over the requests of one server: elicitations, sampling, roots, pings.

    Over HTTP each answer is a request of our own, and they are sent one after another. A server
    that asks faster than that would hold up the calls to itself, and the event loop for all.
    """

    def __init__(self, server: str, clock: Callable[[], float] = monotonic) -> None:
        self._server, self._clock = server, clock
        self._has_warned = False
        self._left = float(_MAX_BURST)
        self._counted = clock()

    def admits_one(self) -> bool:
        """Count one request; False when it is one too many and gets no answer."""
        now = self._clock()
        self._left = min(_MAX_BURST, self._left + (now - self._counted) * _MAX_PER_S)
        self._counted = now
        if self._left < 1:
            self._warn_once()
            return False
        self._left -= 1
        return True

    def _warn_once(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            _logger.warning(
                "The server %s sends more than %g requests a second; the rest get no answer.",
                self._server,
                _MAX_PER_S,
            )
