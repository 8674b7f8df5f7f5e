"""A queue of events that is bounded by their number and by their memory."""

from collections import deque
from collections.abc import Sequence
from threading import Lock

from tooldrawer.activity.event_bounds import event_bytes
from tooldrawer.activity.events import Event

MAX_QUEUE_BYTES = 50_000_000
"""10,000 events of the largest size (`MAX_EVENT_BYTES`, 20 kB) would be 200 MB for each queue, and
every sink and subscription has one. An ordinary event has about 500 bytes, and 10,000 are 5 MB."""


class EventQueue:
    """Takes every event; the oldest ones are dropped for it when there are too many.

    One thread may add events while another takes them.
    """

    def __init__(self, *, max_events: int, max_bytes: int = MAX_QUEUE_BYTES) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._events: deque[tuple[Event, int]] = deque()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._events)

    def append(self, event: Event) -> int:
        """Add an event; how many older ones were dropped for it."""
        size = event_bytes(event)
        dropped = 0
        with self._lock:
            while self._events and not self._has_room(size):
                self._bytes -= self._events.popleft()[1]
                dropped += 1
            self._events.append((event, size))
            self._bytes += size
        return dropped

    def popleft(self) -> Event:
        """Remove the oldest event."""
        with self._lock:
            event, size = self._events.popleft()
            self._bytes -= size
        return event

    def take_all(self) -> Sequence[Event]:
        """Remove all events, oldest first."""
        with self._lock:
            events = tuple(event for event, _ in self._events)
            self._events.clear()
            self._bytes = 0
        return events

    def _has_room(self, size: int) -> bool:
        is_few = len(self._events) < self._max_events
        return is_few and self._bytes + size <= self._max_bytes
