"""The last events, and everyone who wants the next ones."""

from collections import deque
from collections.abc import Iterable, Iterator
from threading import Lock
from weakref import WeakKeyDictionary, finalize, ref

from tooldrawer.activity.event_bounds import mask_bounded
from tooldrawer.activity.events import Event
from tooldrawer.activity.masking import Masker
from tooldrawer.activity.sinks import Sink, SinkThread
from tooldrawer.activity.subscription import Subscription

GATHER_S = 0.02
"""For sinks that keep nothing: waking a thread for each event costs calls more than its work."""
_LAST_EVENTS = 1.0
"""Seconds that a reader in another thread has to take the last events before its subscription ends.
"""


class ActivityLog:
    """A bounded record of events. Calling it records one, so it is an `Emit`."""

    def __init__(
        self, *, keep: int = 1000, masker: Masker | None = None, sinks: Iterable[Sink] = ()
    ) -> None:
        # With the usual 1,000 events of at most 20 kB (`MAX_EVENT_BYTES`) these are 20 MB.
        self._events: deque[Event] = deque(maxlen=keep)
        self._masker = masker or Masker()
        self._lock = Lock()
        self._sinks: tuple[SinkThread, ...] = ()
        self._subscriptions: WeakKeyDictionary[Subscription, SinkThread | None] = (
            WeakKeyDictionary()
        )
        for sink in sinks:
            self.attach(sink)

    def __call__(self, event: Event) -> None:
        """Record `event`, its secrets masked, and pass it on without waiting for anyone.

        Long texts and large arguments are cut: one event costs little, whatever is in it.
        """
        masked = mask_bounded(event, self._masker)
        self._events.append(masked)
        for sink in self._sinks:
            sink.put(masked)
        if self._subscriptions:
            with self._lock:
                waiting = list(self._subscriptions)
            for subscription in waiting:
                self._pass_on(subscription, masked)

    def __iter__(self) -> Iterator[Event]:
        """Oldest first."""
        return iter(tuple(self._events))

    def attach(self, sink: Sink, *, gather_s: float = 0.0) -> SinkThread:
        """Pass every event from now on to `sink`, in a thread of its own.

        A sink that keeps events gets them at once; another may let them gather for some seconds.
        """
        thread = SinkThread(sink, gather_s=gather_s)
        with self._lock:
            self._sinks = (*self._sinks, thread)
        return thread

    def subscribe(self, *, session: str | None = None) -> Subscription:
        """An async iterator of the events from now on, of one session or of all."""
        subscription = Subscription(session=session)
        with self._lock:
            self._subscriptions[subscription] = None
        return subscription

    def flush(self) -> None:
        """Wait until the sinks have written what they were given."""
        for sink in self._sinks:
            sink.flush()

    def close(self) -> None:
        """Write what is waiting and end every subscription."""
        for sink in self._sinks:
            sink.close()
        with self._lock:
            waiting = list(self._subscriptions.items())
        for subscription, thread in waiting:
            if thread is not None:
                thread.flush(_LAST_EVENTS)
                thread.stop()
            subscription.close()

    def _pass_on(self, subscription: Subscription, event: Event) -> None:
        if subscription.is_closed:
            self._forget(subscription)
        elif subscription.is_local:
            subscription.write(event)
        else:
            self._thread_of(subscription).put(event)

    def _thread_of(self, subscription: Subscription) -> SinkThread:
        # From another thread a wake-up has to wait for the reader's loop: that waiting is a sink's.
        with self._lock:
            thread = self._subscriptions.get(subscription)
            if thread is None:
                thread = SinkThread(_Relay(subscription), gather_s=GATHER_S)
                self._subscriptions[subscription] = thread
                finalize(subscription, thread.stop)
            return thread

    def _forget(self, subscription: Subscription) -> None:
        with self._lock:
            thread = self._subscriptions.pop(subscription, None)
        if thread is not None:
            thread.stop()


class _Relay:
    """Passes events on to a subscription for as long as somebody holds it."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = ref(subscription)

    def write(self, event: Event) -> None:
        subscription = self._subscription()
        if subscription is not None:
            subscription.write(event)
