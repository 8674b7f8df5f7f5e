"""Limits on HTTP connections: how many there may be, and how long a request may take to arrive.

uvicorn waits for the rest of a header or body for ever, and accepts connections until the process
has no file descriptor left. So 1,100 half-sent headers were enough to lock everybody out.
"""

import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from http import HTTPStatus
from time import monotonic
from typing import Any, ClassVar, Protocol

import anyio
from uvicorn.protocols.http.h11_impl import H11Protocol

from tooldrawer.config.settings import ConnectionOptions

if sys.platform != "win32":
    import resource

_MAX_SWEEP_INTERVAL_S = 1.0
_RESERVED_FILES = 256
"""Descriptors for the servers' pipes and sockets, and for files."""
_MIN_CONNECTIONS = 16
_logger = logging.getLogger(__name__)


class Phase(Enum):
    """How much of its next request a connection has sent."""

    HEADERS = "headers"
    """Nothing, or a part of the headers."""
    BODY = "body"
    COMPLETE = "complete"
    """All of it; how long the answer takes is not the client's doing."""


_PHASES = {"IDLE": Phase.HEADERS, "SEND_BODY": Phase.BODY}
"""By h11's names for the state of the other side."""


class Connection(Protocol):
    """A connection as its table knows it."""

    @property
    def peer(self) -> str:
        """The address that it comes from."""
        ...

    def refuse(self, status: int, reason: str) -> None:
        """Close it, after an answer with `status` where a request has begun and no answer to it."""
        ...


class ConnectionTable:
    """The open connections, and since when those without a complete request are incomplete."""

    def __init__(
        self, options: ConnectionOptions, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._timeouts = {
            Phase.HEADERS: options.header_timeout,
            Phase.BODY: options.body_timeout,
        }
        self._max_open = options.max_open
        self._max_incomplete = options.max_incomplete
        self._clock = clock
        self._phases: dict[Connection, Phase] = {}
        self._deadlines: dict[str, dict[Connection, float]] = {}
        """Of incomplete connections, by peer; in each peer the oldest is first."""

    def __len__(self) -> int:
        return len(self._phases)

    @property
    def incomplete(self) -> int:
        """How many connections have not sent a complete request."""
        return sum(map(len, self._deadlines.values()))

    def add(self, connection: Connection) -> None:
        """Take in a new connection, in place of an incomplete one where there is no room."""
        is_full = len(self._phases) >= self._max_open
        if (is_full or self.incomplete >= self._max_incomplete) and not self._close_oldest():
            connection.refuse(
                HTTPStatus.SERVICE_UNAVAILABLE, "All connections are in use; try again later."
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
        if self._phases.pop(connection, None) is not None:
            self._forget(connection)

    def close_late(self) -> None:
        """Close the connections whose request has not arrived in time."""
        now = self._clock()
        late = [
            connection
            for waiting in self._deadlines.values()
            for connection, deadline in waiting.items()
            if deadline <= now
        ]
        for connection in late:
            self._close(connection, "The request did not arrive in time.")

    async def run(self) -> None:
        """Close late connections until cancelled."""
        interval = min(_MAX_SWEEP_INTERVAL_S, *(each / 2 for each in self._timeouts.values()))
        while True:
            await anyio.sleep(interval)
            self.close_late()

    def _close_oldest(self) -> bool:
        """Close the oldest incomplete connection of the peer that has most of them, if any."""
        busiest = max(self._deadlines.values(), key=len, default=None)
        if busiest is None:
            return False
        self._close(next(iter(busiest)), "Too many connections wait for a request.")
        return True

    def _close(self, connection: Connection, reason: str) -> None:
        # Forgotten now: the transport reports the end of the connection only later.
        self.remove(connection)
        connection.refuse(HTTPStatus.REQUEST_TIMEOUT, reason)

    def _await(self, connection: Connection, phase: Phase) -> None:
        deadline = self._clock() + self._timeouts[phase]
        self._deadlines.setdefault(connection.peer, {})[connection] = deadline

    def _forget(self, connection: Connection) -> None:
        waiting = self._deadlines.get(connection.peer, {})
        waiting.pop(connection, None)
        if not waiting:
            self._deadlines.pop(connection.peer, None)


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
        # Sent on an idle connection, it would be taken for the answer to the next request.
        if status == HTTPStatus.SERVICE_UNAVAILABLE or self._is_unanswered():
            self.transport.write(_response(status, reason))
        self.transport.close()

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
