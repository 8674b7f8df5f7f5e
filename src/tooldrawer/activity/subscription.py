"""Events for a task: an async iterator that begins with the next one."""

from threading import Thread, get_ident
from types import TracebackType
from typing import Self

import anyio
import anyio.from_thread
import anyio.lowlevel

from tooldrawer.activity.event_queue import EventQueue
from tooldrawer.activity.events import Event


class Subscription:
    """Iterates over the events from now on. Made in the event loop that iterates.

    A reader that falls behind loses the oldest events; it never holds up a call.
    """

    def __init__(self, *, session: str | None = None, waiting: int = 10_000) -> None:
        self._session = session
        self._waiting = EventQueue(max_events=waiting)
        self._is_closed = False
        self._arrived = anyio.Event()
        self._thread = get_ident()
        self._loop = anyio.lowlevel.current_token()

    @property
    def is_local(self) -> bool:
        """Whether this thread is the one that iterates."""
        return self._thread == get_ident()

    @property
    def is_closed(self) -> bool:
        """Whether it takes no more events."""
        return self._is_closed

    def write(self, event: Event) -> None:
        """Take one event; from a thread that is not the reader's, this waits for its loop."""
        if self._is_closed or (self._session is not None and event.session != self._session):
            return
        self._waiting.append(event)
        self._wake()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._waiting:
            if self._is_closed:
                raise StopAsyncIteration
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return self._waiting.popleft()

    def close(self) -> None:
        """End the iteration, after what is waiting. Waits for nobody, in whatever thread."""
        self._is_closed = True
        if self.is_local:
            self._wake()
        else:
            Thread(target=self._wake, name="tooldrawer-close", daemon=True).start()

    def _wake(self) -> None:
        if self.is_local:
            self._arrived.set()
            return
        try:
            anyio.from_thread.run_sync(self._set, token=self._loop)
        except RuntimeError:  # the reader's loop is over, so nobody reads any more
            self._is_closed = True

    def _set(self) -> None:
        self._arrived.set()
