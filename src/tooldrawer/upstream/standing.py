"""Where one server stands, and who waits for it to move."""

from collections.abc import Callable
from dataclasses import dataclass
from time import time
from typing import Literal

import anyio

State = Literal["idle", "connecting", "up", "down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamStatus:
    """What a person wants to know of a server."""

    name: str
    state: State
    """`idle`: started by the first call. `connecting`: calls wait. `down`: calls fail at once."""
    protocol: str
    tools: int
    error: str
    """Why it is not up, or what is strange about it; a sentence."""
    since: float
    """When it came into its state, in seconds since the epoch."""
    starts: int
    """How often it was started, or connected to."""
    dropped: tuple[str, ...] = ()
    """What it lists and cannot be used, each with the reason."""


class Standing:
    """The state of a server as its supervisor sees it."""

    def __init__(self, *, told: Callable[[], None]) -> None:
        self.state: State = "connecting"
        self.error = ""
        self.since = time()
        self.starts = 0
        self.next_try = 0.0
        """On the pace's clock."""
        self.is_settled = False
        """Whether the first attempt is over, or there is none to make."""
        self._told = told
        self._moved = anyio.Event()

    def move(self, state: State, *, error: str = "") -> None:
        """Stand elsewhere, or for another reason."""
        if state != self.state:
            self.since = time()
        is_news = (state, error) != (self.state, self.error)
        self.state, self.error = state, error
        self.wake()
        if is_news:
            self._told()

    def settle(self) -> None:
        """The first attempt is over."""
        self.is_settled = True
        self.wake()

    async def moved(self) -> None:
        """Return when something here is other than now."""
        await self._moved.wait()

    async def settled(self) -> None:
        """Return when the first attempt is over."""
        while not self.is_settled:
            await self.moved()

    def wake(self) -> None:
        """Let whoever waits look again."""
        self._moved.set()
        self._moved = anyio.Event()
