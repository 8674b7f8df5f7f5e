"""A second connection to a server, for clients of the handshake era.

Since 2026-07-28 a server cannot send a request: it returns its questions. Many that speak both eras
still push them, which works for a client that shook hands and fails for everybody else with "no
back-channel". So what such a client may be asked goes to the server the way the client came to us.

A server that is a process has no companion: a second process would have a state of its own.
"""

import logging
from collections.abc import Mapping
from math import inf

import anyio
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tooldrawer.upstream.behind import EndClient
from tooldrawer.upstream.connection import Connection, Kept, connected
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.relay import Noticed
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.unreachable import Unreachable

_PATIENCE = 10.0
"""Seconds for the handshake; meanwhile a call waits that could go the other way."""
_ASKABLE = ("elicitation", "sampling", "roots")
_logger = logging.getLogger(__name__)


def wants_handshake(client: EndClient | None) -> bool:
    """Whether a server may have something to ask this client that it can only push.

    One that answers no questions is better off without: a handshake is shared by all clients, so
    its server would not learn that asking is no use.
    """
    if client is None or client.protocol not in HANDSHAKE_PROTOCOL_VERSIONS:
        return False
    return any(name in client.capabilities for name in _ASKABLE)


class Companion:
    """Opened when it is first needed, opened again after its end."""

    def __init__(self, spec: UpstreamSpec, *, noticed: Noticed, pace: Pace) -> None:
        self.kept = Kept()
        self._spec = spec
        self._noticed = noticed
        self._pace = pace
        self._open: Connection | None = None
        self._is_wanted = self._is_refused = False
        self._failures, self._next_try = 0, -inf
        """On the pace's clock."""
        self._needed = anyio.Event()
        self._moved = anyio.Event()

    @property
    def connection(self) -> Connection | None:
        """The one that is open."""
        return None if self._open is None or self._open.ended.is_set() else self._open

    def stand_by(self, *, is_wanted: bool) -> None:
        """From now on `ready` may wait for `serve`, or need not any more."""
        if is_wanted != self._is_wanted:
            self._is_wanted, self._is_refused = is_wanted, False
            self._failures, self._next_try = 0, -inf
            self._move(None)

    async def ready(self) -> Connection | None:
        """The connection, opened if need be; nothing when there is none to be had."""
        while (found := self.connection) is None:
            is_early = self._pace.clock() < self._next_try
            if not self._is_wanted or self._is_refused or is_early:
                return None
            self._needed.set()
            await self._moved.wait()
        return found

    async def serve(self) -> None:
        """Open it when that is needed, until cancelled. What goes wrong is told to nobody."""
        pause = 0.0
        while self._is_wanted and not self._is_refused:
            if self.kept.subscribed.uris:
                await self._pace.sleep(pause)  # who is subscribed does not ask again
            else:
                await self._needed.wait()
            await self._live()
            pause = self._pace.pause(max(self._failures, 1))

    async def _live(self) -> None:
        was_open = False
        try:
            async with connected(self._spec, kept=self.kept, noticed=self._noticed) as connection:
                await self._shake_hands(connection)
                was_open, self._failures = True, 0
                async with anyio.create_task_group() as group:
                    group.start_soon(connection.watch, self._pace)
                    self._move(connection)
                    await connection.ended.wait()
                    group.cancel_scope.cancel()
        except Exception:  # the boundary to servers, and to groups out of the SDK
            _logger.debug("The server %r has no companion now.", self._spec.name, exc_info=True)
            if not was_open:
                self._failures += 1
                self._next_try = self._pace.clock() + self._pace.pause(self._failures)
        finally:
            self._move(None)

    async def _shake_hands(self, connection: Connection) -> None:
        try:
            with anyio.fail_after(_PATIENCE):
                await connection.open(skip_discover=True)
        except (MCPError, Unreachable) as error:
            self._is_refused = _is_refusal(error)
            raise
        if connection.is_modern:  # it refused, and named the version instead
            self._is_refused = True
            raise Unreachable("it does not shake hands")
        with anyio.fail_after(_PATIENCE):
            await connection.say_again()

    def _move(self, connection: Connection | None) -> None:
        self._open = connection
        self._needed = anyio.Event()  # whoever waits looks again, and says so again
        self._moved.set()
        self._moved = anyio.Event()


def subscribes(connection: Connection) -> bool:
    """Whether the server takes `resources/subscribe` over this connection."""
    found = connection.hello.capabilities.get("resources")
    return isinstance(found, Mapping) and found.get("subscribe") is True


def _is_refusal(error: MCPError | Unreachable) -> bool:
    """Whether it is of no use to try again, other than after a failure on the way."""
    if isinstance(error, Unreachable):
        return not error.is_gone
    return error.code not in (CONNECTION_CLOSED, INTERNAL_ERROR)
