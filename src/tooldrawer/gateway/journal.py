"""What clients of the handshake era were sent over HTTP, for those whose stream breaks off."""

from collections import deque
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple, cast

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import (
    EventCallback,
    EventMessage,
    EventStore,
    StreamableHTTPServerTransport,
)
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST, JSONRPCMessage
from pydantic import BaseModel
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

_MOST = 16 * 1024 * 1024
_MOST_OF_ONE = 2 * 1024 * 1024
_EACH = 64
"""Bytes that any value takes, however short it is."""
_RETRY = 1000
"""Milliseconds that a client waits before it takes up a stream that broke off."""
_FIRST_ERROR = 400
"""The lowest status of HTTP that is an error."""


class Journal:
    """The last messages to all sessions, in bounded memory: the oldest go first."""

    def __init__(self, *, most: int = _MOST, most_of_one: int = _MOST_OF_ONE) -> None:
        self.most_of_one = most_of_one
        self._most = most
        self._size = 0
        self._kept: deque[tuple[Pages, str, int]] = deque()

    def keep(self, pages: "Pages", event_id: str, size: int) -> None:
        """Note what a session keeps, and let the oldest be forgotten for it."""
        self._kept.append((pages, event_id, size))
        self._size += size
        while self._size > self._most:
            oldest, first, freed = self._kept.popleft()
            oldest.forget(first)
            self._size -= freed


class _Event(NamedTuple):
    stream: str
    message: JSONRPCMessage | None
    """Nothing at the beginning of a stream, and when it was too large to be kept."""
    is_lost: bool


class Pages(EventStore):
    """What one session was sent.

    One store for all would show one client's messages to another: the SDK calls a stream by the
    number of its request, and every client counts from the same one.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._count = 0
        self._events: dict[str, _Event] = {}

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message, or the mark that begins a stream."""
        self._count += 1
        event_id, size = str(self._count), _size(message, self._journal.most_of_one)
        is_lost = size > self._journal.most_of_one
        self._events[event_id] = _Event(stream_id, None if is_lost else message, is_lost)
        self._journal.keep(self, event_id, _EACH if is_lost else size)
        return event_id

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send what came after; the stream to go on with, if all of it is still there."""
        last = self._events.get(last_event_id)
        if last is None:
            return None
        ids = list(self._events)
        later = ids[ids.index(last_event_id) + 1 :]
        events = {each: self._events[each] for each in later}
        missed = {each: event for each, event in events.items() if event.stream == last.stream}
        if any(event.is_lost for event in missed.values()):
            return None
        for each, event in missed.items():
            if event.message is not None:
                await send_callback(EventMessage(event.message, each))
        return last.stream

    def forget(self, event_id: str) -> None:
        """Let go of a message."""
        del self._events[event_id]


class _NoRoom(Exception):
    """All sessions of a client's principal are in use."""


class ResumableSessions(StreamableHTTPSessionManager):
    """Lets clients of the handshake era take up a stream that broke off; so many per principal.

    The SDK's own limit is one for all: 10,000 requests of one client kept everybody else out.
    """

    def __init__(
        self, server: Server[Any], *, max_request_body_size: int, max_sessions: Callable[[], int]
    ) -> None:
        """`max_sessions` is for each principal."""
        super().__init__(
            server,
            max_request_body_size=max_request_body_size,
            retry_interval=_RETRY,
            max_sessions=None,
        )
        self._journal = Journal()
        self._max_own_sessions = max_sessions

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super()._handle_stateful_request(scope, receive, send)
        except _NoRoom:
            text = (
                f"All {self._max_own_sessions()} sessions of this access are in use. End one with "
                "DELETE, or raise gateway.quotas.sessions."
            )
            error = {"code": INVALID_REQUEST, "message": text}
            body = {"jsonrpc": "2.0", "id": None, "error": error}
            await JSONResponse(body, status_code=429)(scope, receive, send)

    def _admit_session(
        self, requestor: AuthorizationContext | None
    ) -> StreamableHTTPServerTransport | None:
        own = self._own_sessions(requestor)
        in_use = sum(_idle_until(self._server_instances[key]) == inf for key in own)
        if in_use >= self._max_own_sessions():
            raise _NoRoom
        transport = super()._admit_session(requestor)
        if transport is not None:
            # Given to the manager, it would be one for all sessions.
            transport._event_store = Pages(self._journal)  # pyright: ignore[reportPrivateUsage]
        return transport

    async def _serve_opening_request(
        self,
        http_transport: StreamableHTTPServerTransport,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        async def make_room_first(message: Message) -> None:
            # Only now: a request that is refused begins no session, so it must not end one.
            if message["type"] == "http.response.start" and message["status"] < _FIRST_ERROR:
                self._make_room(str(http_transport.mcp_session_id))
            await send(message)

        await super()._serve_opening_request(http_transport, scope, receive, make_room_first)

    def _own_sessions(self, requestor: AuthorizationContext | None) -> list[str]:
        owners = self._session_owners
        return [key for key in self._server_instances if owners.get(key) == requestor]

    def _make_room(self, new: str) -> None:
        """End those sessions of the owner of `new` that were idle longest, if there are too many.

        Their clients are answered 404 and begin others, as after the idle time.
        """
        own = self._own_sessions(self._session_owners.get(new))
        deadlines = {key: _idle_until(self._server_instances[key]) for key in own if key != new}
        idle = sorted((at, key) for key, at in deadlines.items() if at != inf)
        for _, key in idle[: max(len(own) - self._max_own_sessions(), 0)]:
            transport = self._server_instances.pop(key)
            self._session_owners.pop(key, None)
            if transport.idle_scope is not None:
                transport.idle_scope.cancel()


def _idle_until(transport: StreamableHTTPServerTransport) -> float:
    """When the session ends if nothing comes; never, while a request is open."""
    return inf if transport.idle_scope is None else transport.idle_scope.deadline


def _size(message: JSONRPCMessage | None, most: int) -> int:
    """About how many bytes a message takes, counted no further than `most`."""
    size, rest = 0, [cast("object", message)]
    while rest and size <= most:
        each = rest.pop()
        size += _EACH
        if isinstance(each, BaseModel):
            rest.extend(vars(each).values())
        elif isinstance(each, str | list | tuple | Mapping):
            size += len(cast("list[object]", each))
            if isinstance(each, Mapping):
                rest.extend(cast("Mapping[object, object]", each).items())
            elif not isinstance(each, str):
                rest.extend(cast("list[object]", each))
    return size
