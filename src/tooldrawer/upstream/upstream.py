"""An MCP server as a toolset."""

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, cast

import anyio
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST

from tooldrawer.activity import Emit
from tooldrawer.bounds.server_error import MAX_ERROR_CHARS, bound_data, cut_message
from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.errors import ServerRefused, ToolFailed, ToolTimedOut
from tooldrawer.naming import DEFAULT_TEMPLATE
from tooldrawer.tool import Json, JsonObject, ServerNaming, Tool
from tooldrawer.upstream.behind import BEHIND
from tooldrawer.upstream.companion import subscribes, wants_handshake
from tooldrawer.upstream.connection import Connection
from tooldrawer.upstream.explanation import http_complaint
from tooldrawer.upstream.listing import Listing
from tooldrawer.upstream.manifest import Manifests
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.post_status import watch_post
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.standing import UpstreamStatus
from tooldrawer.upstream.supervisor import Supervisor
from tooldrawer.upstream.turns import Flight, Turns

_GONE = 1.0
"""Seconds for the end of a connection to be noticed by everybody."""
_SET_LEVEL = "logging/setLevel"
_SUBSCRIBE = "resources/subscribe"
_UNSUBSCRIBE = "resources/unsubscribe"
_SUBSCRIBING = (_SUBSCRIBE, _UNSUBSCRIBE)
_LISTING = ("prompts/list", "resources/list", "resources/templates/list")
_STANDING = (_SET_LEVEL, *_SUBSCRIBING)
"""Requests of the handshake era that hold until the next one."""
_logger = logging.getLogger(__name__)


def _ignore(*_: object) -> None: ...


class _Forgotten(ToolFailed):
    """The server knows nothing of the session that a call was made in."""


class Upstream:
    """The tools of one MCP server, which is started, watched and restarted by `serve`."""

    keeps_time = True

    @staticmethod
    def stops_when_cancelled(tool: Tool) -> bool:
        """No: a server is told of the cancellation, and need not act on it."""
        del tool
        return False

    def __init__(
        self,
        spec: UpstreamSpec,
        *,
        emit: Emit,
        template: str = DEFAULT_TEMPLATE,
        manifests: Manifests | None = None,
        changed: "Callable[[Upstream], None]" = _ignore,
        notified: "Callable[[Upstream, str, JsonObject], None]" = _ignore,
        longest: Callable[[], float] = lambda: inf,
        pace: Pace | None = None,
    ) -> None:
        """`longest` bounds what the entry allows for a call; asked each time, for it may change."""
        self.name = spec.toolset
        self.spec = spec
        self._listing = Listing(spec, template=template)
        self._changed = changed
        self._notified = notified
        self._longest = longest
        self._pace = pace or Pace()
        self._calls = 0
        self._is_closing = False
        self._landed = anyio.Event()
        self._supervisor = Supervisor(
            spec,
            listing=self._listing,
            emit=emit,
            manifests=manifests,
            told=self._on_change,
            noticed=self._on_notice,
            pace=self._pace,
        )

    @property
    def status(self) -> UpstreamStatus:
        """Where it stands."""
        standing = self._supervisor.standing
        return UpstreamStatus(
            name=self.spec.name,
            state=standing.state,
            protocol=self.protocol,
            tools=len(self._listing.tools),
            error=standing.error,
            since=standing.since,
            starts=standing.starts,
            dropped=(*self._listing.dropped, *chain(*self._supervisor.dropped.values())),
        )

    @property
    def is_known(self) -> bool:
        """Whether its tools are known: listed in this run, or from the manifest."""
        return self._supervisor.is_known

    @property
    def instructions(self) -> str:
        """How the server wants to be used, in its words."""
        return self._supervisor.hello.instructions

    @property
    def capabilities(self) -> JsonObject:
        """What the server can do, in MCP's words."""
        return self._supervisor.hello.capabilities

    @property
    def naming(self) -> ServerNaming:
        """How the names of what it offers are made."""
        return self._listing.naming

    @property
    def protocol(self) -> str:
        """The version of MCP that was agreed on, now or the last time."""
        return self._supervisor.hello.protocol

    def report_dropped(self, kind: str, reasons: Sequence[str]) -> None:
        """Tell which of its prompts, resources or templates cannot be used, and why."""
        self._supervisor.report_dropped(kind, reasons)

    def tools(self) -> tuple[Tool, ...]:
        """The tools that it last listed; the same object while they are unchanged."""
        return self._listing.tools

    async def serve(self) -> None:
        """Keep it connected until cancelled, then stop it. Never raises anything else."""
        await self._supervisor.serve()

    @property
    def is_settled(self) -> bool:
        """Whether it is up or idle, or its first attempt has failed."""
        return self._supervisor.standing.is_settled

    async def settled(self) -> None:
        """Return when it is up or idle, or when its first attempt has failed."""
        await self._supervisor.standing.settled()

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Run one of its tools.

        Raises:
            ToolFailed: The server cannot be reached, or gave no result.
            ServerRefused: It answered with a protocol error.
        """
        params: JsonObject = {"name": tool.local_name, "arguments": dict(call.arguments)}
        return self._result(await self.request("tools/call", params))

    async def request(
        self,
        method: str,
        params: JsonObject,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - a question to a person stops its clock
    ) -> dict[str, Any]:
        """Any request, for the client that `BEHIND` names; the answer as it came.

        Raises:
            ToolFailed: The server cannot be reached, or gave no answer.
            ServerRefused: It answered with a protocol error.
        """
        seconds = min(self.spec.timeout, self._longest()) if timeout is None else timeout
        if self._is_closing:
            raise ToolFailed(f"The server {self.spec.name!r} is being stopped. Tell the user.")
        if method == _UNSUBSCRIBE:  # also when the server cannot be told
            self._forget_subscription(params)
        self._calls += 1
        try:
            return await self._answer(method, params, seconds)
        except _Forgotten:
            # Servers end sessions that were idle for long. Nothing was done: once more.
            return await self._answer(method, params, seconds)
        finally:
            self._calls -= 1
            if self._is_closing and not self._calls:
                self._landed.set()

    async def _answer(self, method: str, params: JsonObject, seconds: float) -> dict[str, Any]:
        main = self._live() or await self._connected(seconds)
        if method in _LISTING:
            self._supervisor.listed.add(method.split("/")[0])
        connection = await self._suited(main, method)
        is_standing = method in _STANDING
        # 2026-07-28 has no such requests any more: they are in each call, and in the listening.
        answer: dict[str, Any] = {}
        if not is_standing or not connection.is_modern:
            answer = await self._exchange(connection, method, params, seconds)
        if is_standing:
            self._remember(connection, method, params)
        return answer

    async def drained(self) -> None:
        """Take no more calls, and return when those in flight are over."""
        self._is_closing = True
        if self._calls:
            await self._landed.wait()

    def _live(self) -> Connection | None:
        connection = self._supervisor.connection
        return None if connection is None or connection.ended.is_set() else connection

    async def _connected(self, seconds: float) -> Connection:
        """The connection, when it is there in time."""
        with anyio.move_on_after(seconds):
            while True:
                if (connection := self._live()) is not None:
                    return connection
                state = self._supervisor.standing.state
                left = self._supervisor.standing.next_try - self._pace.clock()
                self._supervisor.want()
                if state == "down":
                    raise ToolFailed(self._down(left))
                await self._supervisor.standing.moved()
        error = self._supervisor.standing.error
        raise ToolTimedOut(
            f"The server {self.spec.name!r} was not ready within {seconds:g} s, so the call was "
            f"not made. {error + ' ' if error else ''}Try again later, or use another tool."
        )

    def _down(self, left: float) -> str:
        error = self._supervisor.standing.error
        is_soon = self._supervisor.standing.next_try <= self._pace.clock()
        when = "right now" if is_soon else f"in {max(left, 1):.0f} s"
        return (
            f"The server {self.spec.name!r} is down, so the call was not made. {error} It is tried "
            f"again {when}. Use another tool meanwhile, or tell the user."
        )

    async def _suited(self, main: Connection, method: str) -> Connection:
        """The companion for what needs the handshake, where there is one."""
        companion = self._supervisor.companion
        if not main.is_modern:
            return main
        if method == _SET_LEVEL:  # it will be told when it is opened
            return companion.connection or main
        if method in _SUBSCRIBING:
            found = await companion.ready()
            return found if found is not None and subscribes(found) else main
        return (await companion.ready() if wants_handshake(BEHIND.get()) else None) or main

    def _remember(self, connection: Connection, method: str, params: JsonObject) -> None:
        """What is said once and holds for every connection that follows."""
        if method == _SET_LEVEL:
            for kept in (self._supervisor.kept, self._supervisor.companion.kept):
                kept.level = str(params.get("level"))
        elif method == _SUBSCRIBE:
            connection.kept.subscribed.change(added=str(params.get("uri")))

    def _forget_subscription(self, params: JsonObject) -> None:
        for kept in (self._supervisor.kept, self._supervisor.companion.kept):
            kept.subscribed.change(removed=str(params.get("uri")))

    async def _exchange(
        self, connection: Connection, method: str, params: JsonObject, seconds: float
    ) -> dict[str, Any]:
        flight, turns = Flight(BEHIND.get(), seconds), connection.kept.turns
        if not turns.enter(flight):
            await self._turn(turns, flight, seconds)
        failure: ToolFailed | None = None
        try:
            with watch_post() as post:
                try:
                    with flight.limit:
                        return await connection.request(method, params, flight)
                except MCPError as error:
                    failure = await self._failure(connection, error, post.code)
        finally:
            turns.leave(flight)
        if failure is not None:
            # Not from the SDK's error: the result of the call would keep its whole text.
            raise failure
        raise ToolTimedOut(
            f"The server {self.spec.name!r} did not answer within {seconds:g} s and was told to "
            "stop. It may still be running; do not repeat blindly: check what it has done first."
        )

    async def _turn(self, turns: Turns, flight: Flight, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await turns.wait(flight)
            return
        raise ToolTimedOut(
            f"The server {self.spec.name!r} is busy with another client's call, so this one was "
            "not made. Try again later."
        )

    async def _failure(self, connection: Connection, error: MCPError, status: int) -> ToolFailed:
        name = repr(self.spec.name)
        if _tells_forgotten(connection, error) or await connection.is_forgotten(status):
            connection.end("it has forgotten the session")
            return _Forgotten(
                f"The server {name} has forgotten this session, so the call was not made. It is "
                "being connected again: try again."
            )
        if error.code == CONNECTION_CLOSED:
            # A server may use the code itself; then the connection is still there.
            with anyio.move_on_after(_GONE):
                await connection.ended.wait()
            if connection.ended.is_set():
                return ToolFailed(
                    f"The server {name} stopped during the call, which may or may not have taken "
                    "effect: check before you try again. The server is being restarted."
                )
            if self.spec.url:
                return ToolFailed(
                    f"The connection to the server {name} broke during the call, which may or may "
                    "not have taken effect: check before you try again."
                )
        if self.spec.url and error.message == "Server returned an error response":
            said = http_complaint(status) if status else error.message
            return ToolFailed(f"The server {name} gave no answer: {said}. Tell the user.")
        message, data = cut_message(error.message), bound_data(error.data)
        return ServerRefused(message, code=error.code, data=data)

    def _result(self, raw: Mapping[str, Any]) -> ToolResult:
        content = raw.get("content", [])
        blocks = cast("list[Json]", content) if isinstance(content, list) else [None]
        if all(isinstance(block, Mapping) for block in blocks):
            return ToolResult.from_mcp(raw)
        raise ToolFailed(
            f"The server {self.spec.name!r} answered with something that is no result. Tell the "
            "user; do not try again."
        )

    def _on_change(self) -> None:
        try:
            self._changed(self)
        except Exception:  # the boundary to whoever uses it
            _logger.exception("A change of the server %r was not taken in.", self.spec.name)

    def _on_notice(self, method: str, params: JsonObject) -> None:
        try:
            self._notified(self, method, params)
        except Exception:  # the boundary to whoever uses it
            _logger.exception("A notice of the server %r was not taken in.", self.spec.name)


def _tells_forgotten(connection: Connection, error: MCPError) -> bool:
    """Whether the answer itself says that only a new session helps."""
    if connection.is_modern:
        return False
    if error.code == INVALID_REQUEST and error.message == "Session terminated":
        return True  # the SDK's words for a 404 that says nothing itself
    return connection.way.needs_person and "session" in error.message[:MAX_ERROR_CHARS].lower()
