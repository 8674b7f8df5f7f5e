"""Limits how many turns in a row a model only searches."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from tooldrawer.bridge.policy import SearchPolicy

_IDLE_RESET_S = 60.0
"""Seconds without a search after which counting starts again."""


class SearchLimit:
    """Counts the turns of one session that contain only searches.

    A turn begins with an assembly or with a batch of calls. Some hosts do neither before each
    request, so searches that follow one another in what looks like one turn count as well, while
    those that overlap do not.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._turns = 0
        """Turns in a row that contain searches and nothing else, the current one included."""
        self._single_searches = 0
        """Searches one after another since the current turn began."""
        self._in_flight = 0
        self._has_searched = False
        """Whether the current turn contains a search."""
        self._has_acted = False
        """Whether the current turn contains any other call."""
        self._last_search = 0.0

    def begin_turn(self) -> None:
        """Begin the next turn of the model."""
        self._has_searched = self._has_acted = False
        self._single_searches = 0

    def reset(self) -> None:
        """Count from the start: the user wrote something."""
        self.begin_turn()
        self._turns = 0

    def record_call(self) -> None:
        """Count from the start: the model called something else than a search."""
        self.reset()
        self._has_acted = True

    @contextmanager
    def batch(self) -> Generator[None]:
        """Treat all searches inside the block as one turn."""
        self.begin_turn()
        with self._overlap():
            yield

    @contextmanager
    def search(self, policy: SearchPolicy) -> Generator[int]:
        """Count one search while it runs; yields how many turns in a row only searched.

        A number above `policy.most_in_a_row` is over the limit; after it, counting starts again.
        """
        now = self._clock()
        if now - self._last_search >= _IDLE_RESET_S:
            self.reset()
        self._last_search = now
        if not self._has_searched and not self._has_acted:
            self._turns += 1
        self._has_searched = True
        if not self._in_flight:
            self._single_searches += 1
        in_a_row = 0 if self._has_acted else max(self._turns, self._single_searches)
        if in_a_row > policy.most_in_a_row:
            self._turns = self._single_searches = 0
        with self._overlap():
            yield in_a_row

    @contextmanager
    def _overlap(self) -> Generator[None]:
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
