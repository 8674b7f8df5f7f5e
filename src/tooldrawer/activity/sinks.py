"""Where events go, each sink in its own thread: a slow or broken one never holds up a call."""

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from threading import Condition, Thread
from types import UnionType
from typing import Any, Protocol, cast, get_args, get_origin, runtime_checkable

from tooldrawer.activity.event_queue import EventQueue
from tooldrawer.activity.events import Event
from tooldrawer.private_files import open_private

_logger = logging.getLogger(__name__)
_MAX_EVENTS_PER_WRITE = 500
"""A line has at most 120 kB (`MAX_EVENT_BYTES`), so no more than 60 MB are written at once."""
_KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}


class Sink(Protocol):
    """Takes events, one after the other, in a thread of its own."""

    def write(self, event: Event) -> None:
        """Take one event."""
        ...


@runtime_checkable
class BatchSink(Protocol):
    """Takes all events that wait at once, where that is cheaper than one after the other."""

    def write_all(self, events: Sequence[Event]) -> None:
        """Take these events, oldest first."""
        ...


class JsonLines:
    """Appends each event to a file, which only its owner can read, as one line of JSON."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._is_private = False

    def __repr__(self) -> str:
        return f"JsonLines({str(self._path)!r})"

    def write(self, event: Event) -> None:
        """Append one line."""
        self.write_all([event])

    def write_all(self, events: Sequence[Event]) -> None:
        """Append a line for each; the file is opened every time, so that it may be moved away."""
        # After each system call this thread may wait for busy calls before it goes on, and what is
        # not written yet is lost when the process is killed. So there are two calls, not three.
        flags = os.O_WRONLY | os.O_APPEND
        descriptor = open_private(self._path, flags, restrict=not self._is_private)
        self._is_private = True
        try:
            for start in range(0, len(events), _MAX_EVENTS_PER_WRITE):
                _write_lines(descriptor, events[start : start + _MAX_EVENTS_PER_WRITE])
        finally:
            os.close(descriptor)


def _write_lines(descriptor: int, events: Sequence[Event]) -> None:
    data = "".join(as_json(event) + "\n" for event in events).encode("utf-8")
    while data:
        data = data[os.write(descriptor, data) :]


def as_json(event: Event) -> str:
    """One event as one line of JSON, its kind first."""
    return json.dumps({"event": type(event).__name__, **asdict(event)}, default=str)


def from_json(line: str) -> Event | None:
    """The event of such a line; of another version's, what is not known here is left out."""
    try:
        found = cast("dict[str, Any]", json.loads(line))
        kind = _KINDS[found["event"]]
        values = {
            field.name: _restored(found[field.name], field.type)
            for field in fields(kind)
            if field.name in found or field.default is MISSING
        }
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return kind(**values)


def _restored(value: object, kind: Any) -> Any:
    """A value as the event has it: JSON knows no tuples, and whole numbers for fractions."""
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(cast("list[object]", value))
    plain = kind if isinstance(kind, type | UnionType) else get_origin(kind)
    if not isinstance(value, (int, float) if kind is float else plain):
        raise TypeError(f"{value!r} is not of the type {kind}.")
    return value


class SinkThread:
    """Feeds one sink from a bounded queue. When the sink is too slow, the oldest events go.

    An idle sink gets an event at once: what only waits in memory is lost when the process is
    killed. With `gather_s` it is woken that many seconds later, which costs calls less.
    """

    def __init__(self, sink: Sink, *, waiting: int = 10_000, gather_s: float = 0.0) -> None:
        self._sink = sink
        self._gather_s = gather_s
        self._queue = EventQueue(max_events=waiting)
        self._condition = Condition()
        self._is_closed = False
        self._is_writing = False
        self._waited_for = 0
        self.dropped = 0
        """Events that the sink was too slow for."""
        self.failed = 0
        """Events that the sink raised an error on."""
        self._thread = Thread(target=self._work, name="tooldrawer-sink", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Hand an event over, without waiting."""
        with self._condition:
            if self._is_closed:
                return
            self.dropped += self._queue.append(event)
            if len(self._queue) == 1:
                self._condition.notify_all()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until every event is written; false when that takes too long."""
        with self._condition:
            self._waited_for += 1
            self._condition.notify_all()
            try:
                return self._condition.wait_for(self._is_idle, timeout)
            finally:
                self._waited_for -= 1

    def close(self, timeout: float = 5.0) -> None:
        """Write what is waiting, then stop."""
        self.flush(timeout)
        self.stop()
        self._thread.join(timeout)

    def stop(self) -> None:
        """Take no more events, and end without anyone waiting for it."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()

    def _is_idle(self) -> bool:
        return not self._queue and not self._is_writing

    def _is_urgent(self) -> bool:
        return self._is_closed or self._waited_for > 0

    def _work(self) -> None:
        while events := self._next():
            try:
                self._write(events)
            except Exception:  # the boundary to a sink that anyone may have written
                if not self.failed:
                    _logger.exception("The activity sink %r fails; it is tried again.", self._sink)
                self.failed += len(events)
            with self._condition:
                self._is_writing = False
                if self._waited_for:
                    self._condition.notify_all()

    def _write(self, events: Sequence[Event]) -> None:
        if isinstance(self._sink, BatchSink):
            self._sink.write_all(events)
        else:
            for event in events:
                self._sink.write(event)

    def _next(self) -> Sequence[Event]:
        """Wait for events: all of them for a sink that takes batches, else one; none at the end."""
        with self._condition:
            if not self._queue:
                self._condition.wait_for(lambda: self._queue or self._is_closed)
                if self._gather_s:
                    self._condition.wait_for(self._is_urgent, self._gather_s)
            if not self._queue:
                return ()
            self._is_writing = True
            if not isinstance(self._sink, BatchSink):
                return (self._queue.popleft(),)
            return self._queue.take_all()
