"""Limits on HTTP connections: how many there may be, and how long a client may keep one waiting.

uvicorn waits for the rest of a header or body for ever, and accepts connections until the process
has no file descriptor left. So 1,100 half-sent headers were enough to lock everybody out. It also
waits for ever for a client to read its answer, which locked everybody out in the same way.
"""

import logging
import socket
import struct
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from time import monotonic
from typing import Any, ClassVar, Protocol

import anyio
from uvicorn.protocols.http.h11_impl import H11Protocol

from tooldrawer.config.settings import ConnectionOptions

if sys.platform != "win32":
    import fcntl
    import resource
    import termios

_MAX_SWEEP_INTERVAL_S = 1.0
_MIN_STALL_S = 1.0
"""How long an answer was not read before its connection may be closed for a new one."""
_RESERVED_FILES = 256
"""Descriptors for the servers' pipes and sockets, and for files."""
_MIN_CONNECTIONS = 16
_DISCARD_UNSENT = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
"""For SO_LINGER: the system too forgets what was not sent, and resets the connection."""
_logger = logging.getLogger(__name__)


class Phase(Enum):
    """How much of its next request a connection has sent."""

    HEADERS = "headers"
    """Nothing, or a part of the headers."""
    BODY = "body"
    COMPLETE = "complete"
    """All of it; how long the answer takes is not the client's doing, but reading it is."""


_PHASES = {"IDLE": Phase.HEADERS, "SEND_BODY": Phase.BODY}
"""By h11's names for the state of the other side."""


class Connection(Protocol):
    """A connection as its table knows it."""

    @property
    def peer(self) -> str:
        """The address that it comes from."""
        ...

    @property
    def unsent(self) -> int:
        """Bytes of answers that the client has not taken; 0 if the system has room for them."""
        ...

    def refuse(self, status: int, reason: str) -> None:
        """Close it, after an answer with `status` where a request has begun and no answer to it."""
        ...

    def abort(self) -> None:
        """Close it at once, whatever was not sent."""
        ...


@dataclass(frozen=True, slots=True)
class _Stall:
    """An answer that waits for its client to read."""

    unsent: int
    since: float
    """When a part of it was last read."""


class ConnectionTable:
    """The open connections, and since when each keeps the gateway waiting.

    Either its request has not arrived, or its answers are not read.
    """

    def __init__(
        self, options: ConnectionOptions, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._timeouts = {
            Phase.HEADERS: options.header_timeout,
            Phase.BODY: options.body_timeout,
        }
        self._write_timeout = options.write_timeout
        self._max_open = options.max_open
        self._max_incomplete = options.max_incomplete
        self._clock = clock
        self._phases: dict[Connection, Phase] = {}
        self._deadlines: dict[str, dict[Connection, float]] = {}
        """Of incomplete connections, by peer; in each peer the oldest is first."""
        self._stalls: dict[Connection, _Stall] = {}
        """Of connections whose answers are not read; the longest without progress is first."""
        self._closing: dict[Connection, float] = {}
        """Until when refused connections have time to take the refusal."""

    def __len__(self) -> int:
        return len(self._phases)

    @property
    def incomplete(self) -> int:
        """How many connections have not sent a complete request."""
        return sum(map(len, self._deadlines.values()))

    def add(self, connection: Connection) -> None:
        """Take in a new connection, in place of an incomplete one where there is no room."""
        is_full = len(self._phases) >= self._max_open
        if (is_full or self.incomplete >= self._max_incomplete) and not self._make_room():
            self._refuse(
                connection,
                HTTPStatus.SERVICE_UNAVAILABLE,
                "All connections are in use; try again later.",
            )
            return
        self._phases[connection] = Phase.HEADERS
        self._await(connection, Phase.HEADERS)

    def update(self, connection: Connection, phase: Phase) -> None:
        """Note how far the request of a connection has come."""
        before = self._phases.get(connection)
        if before is None or before is phase:
            return
        self._forget(connection)
        self._phases[connection] = phase
        if phase is not Phase.COMPLETE:
            self._await(connection, phase)

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        self._closing.pop(connection, None)
        self._stalls.pop(connection, None)
        if self._phases.pop(connection, None) is not None:
            self._forget(connection)

    def close_late(self) -> None:
        """Close the connections whose request has not arrived, or answer not been read, in time."""
        now = self._clock()
        for waiting in tuple(self._deadlines.values()):
            for connection in _late(waiting.items(), now):
                self._close(connection, "The request did not arrive in time.")
        self._note_stalls(now)
        unread = [each for each in self._stalls if self._has_stalled(each, self._write_timeout)]
        for connection in (*unread, *_late(self._closing.items(), now)):
            self._abort(connection)

    async def run(self) -> None:
        """Close late connections until cancelled."""
        timeouts = (*self._timeouts.values(), self._write_timeout)
        interval = min(_MAX_SWEEP_INTERVAL_S, *(each / 2 for each in timeouts))
        while True:
            await anyio.sleep(interval)
            self.close_late()

    def _make_room(self) -> bool:
        """Close a connection that keeps the gateway waiting, if any.

        That is the oldest incomplete one of the peer that has most of them; without one, the
        connection that has not read its answer for longest.
        """
        busiest = max(self._deadlines.values(), key=len, default=None)
        if busiest is not None:
            self._close(next(iter(busiest)), "Too many connections wait for a request.")
            return True
        for connection in self._stalls:
            if self._has_stalled(connection, _MIN_STALL_S):
                self._abort(connection)
                return True
        return False

    def _note_stalls(self, now: float) -> None:
        """Look which answers are not read.

        One that has become shorter gets new time, and one that has become longer as well: uvicorn
        adds nothing to more than 64 KiB, so that does not go on for ever.
        """
        for connection in self._phases:
            unsent, known = connection.unsent, self._stalls.get(connection)
            if known is not None and unsent == known.unsent:
                continue
            self._stalls.pop(connection, None)
            if unsent:
                self._stalls[connection] = _Stall(unsent, now)

    def _has_stalled(self, connection: Connection, seconds: float) -> bool:
        """Whether nothing of its answer was read for so long."""
        stall = self._stalls[connection]
        return stall.since + seconds <= self._clock() and connection.unsent == stall.unsent

    def _close(self, connection: Connection, reason: str) -> None:
        # Forgotten now: the transport reports the end of the connection only later.
        self.remove(connection)
        self._refuse(connection, HTTPStatus.REQUEST_TIMEOUT, reason)

    def _refuse(self, connection: Connection, status: int, reason: str) -> None:
        self._closing[connection] = self._clock() + self._write_timeout
        connection.refuse(status, reason)

    def _abort(self, connection: Connection) -> None:
        self.remove(connection)
        connection.abort()

    def _await(self, connection: Connection, phase: Phase) -> None:
        deadline = self._clock() + self._timeouts[phase]
        self._deadlines.setdefault(connection.peer, {})[connection] = deadline

    def _forget(self, connection: Connection) -> None:
        waiting = self._deadlines.get(connection.peer, {})
        waiting.pop(connection, None)
        if not waiting:
            self._deadlines.pop(connection.peer, None)


def _late(deadlines: Iterable[tuple[Connection, float]], now: float) -> list[Connection]:
    return [connection for connection, deadline in deadlines if deadline <= now]


class LimitedProtocol(H11Protocol):
    """uvicorn's protocol, which keeps a table informed of each connection."""

    table: ClassVar[ConnectionTable]

    @property
    def peer(self) -> str:
        """The address that it comes from."""
        return self.client[0] if self.client else ""

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        super().connection_made(transport)
        self.table.add(self)

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        super().data_received(data)
        self._report()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self._report()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self.table.remove(self)
        super().connection_lost(exc)

    def refuse(self, status: int, reason: str) -> None:
        """Close it, after an answer where a request has begun and no answer to it."""
        if self.transport.get_write_buffer_size():
            self.abort()  # closing would wait until the client reads what came before
            return
        # Sent on an idle connection, it would be taken for the answer to the next request.
        if status == HTTPStatus.SERVICE_UNAVAILABLE or self._is_unanswered():
            self.transport.write(_response(status, reason))
        self.transport.close()

    def abort(self) -> None:
        """Close it at once, whatever was not sent."""
        if (connected := self._socket()) is not None:
            with suppress(OSError):
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DISCARD_UNSENT)
        self.transport.abort()

    @property
    def unsent(self) -> int:
        """Bytes that wait here and in the system, once the system has no room for more."""
        waiting = self.transport.get_write_buffer_size()
        # The system takes more only when a good part of its own buffer, which may have megabytes,
        # is free again. So without that part a slow client would seem to read nothing for long.
        return waiting and waiting + _count_queued_bytes(self._socket())

    def _socket(self) -> socket.socket | None:
        found: socket.socket | None = self.transport.get_extra_info("socket")
        return found

    def _phase(self) -> Phase:
        return _PHASES.get(self.conn.their_state.__name__, Phase.COMPLETE)

    def _is_unanswered(self) -> bool:
        if self._phase() is Phase.BODY:
            return not self.cycle.response_started
        received, _ = self.conn.trailing_data
        return bool(received)

    def _report(self) -> None:
        self.table.update(self, self._phase())


def limited_protocol(table: ConnectionTable) -> type[LimitedProtocol]:
    """The protocol of one server; uvicorn makes the instances, so the class has the table."""
    return type("LimitedProtocol", (LimitedProtocol,), {"table": table})


def fit_to_open_files(options: ConnectionOptions) -> ConnectionOptions:
    """Raise the soft limit of open files as needed; as many connections as it then allows."""
    allowed = _raise_file_limit(options.max_open + _RESERVED_FILES) - _RESERVED_FILES
    max_open = min(options.max_open, max(allowed, _MIN_CONNECTIONS))
    if max_open < options.max_open:
        _logger.warning(
            "At most %d connections instead of gateway.connections.max_open, %d: the limit of open "
            "files is too low. Raise it with `ulimit -n`.",
            max_open,
            options.max_open,
        )
    return replace(
        options,
        max_open=max_open,
        max_incomplete=min(options.max_incomplete, max(max_open // 2, 1)),
    )


def _raise_file_limit(wanted: int) -> int:
    """The soft limit of open files, raised to `wanted` where the system allows it."""
    if sys.platform == "win32":
        return wanted  # sockets are not counted there
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= wanted:
        return wanted
    raised = wanted if hard == unlimited else min(wanted, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _count_queued_bytes(connected: socket.socket | None) -> int:
    """Bytes of a connection that the system has and its client has not, where that is known."""
    if sys.platform != "linux" or connected is None:
        return 0
    try:
        queued = fcntl.ioctl(connected.fileno(), termios.TIOCOUTQ, bytes(4))
    except OSError:  # closed by now
        return 0
    return int.from_bytes(queued, sys.byteorder)


def _response(status: int, reason: str) -> bytes:
    lines = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(reason)}",
        "Connection: close",
        "",
        reason,
    )
    return "\r\n".join(lines).encode("ascii")
