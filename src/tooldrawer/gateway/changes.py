"""Telling clients that what they listed has changed, in the words of their era."""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from tooldrawer.gateway.principal import Principal

Context = ServerRequestContext[Any, Any]
Leave = Callable[[], Coroutine[Any, Any, None]]
_PATIENCE = 5.0
"""Seconds that a client may take to accept a notification; then it goes without."""

_NOTIFICATIONS: dict[type[ServerEvent], Callable[[], types.ServerNotification]] = {
    ToolsListChanged: types.ToolListChangedNotification,
    PromptsListChanged: types.PromptListChangedNotification,
    ResourcesListChanged: types.ResourceListChangedNotification,
}


@dataclass(slots=True)
class _Audience:
    """Everyone who uses one scope."""

    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    connections: dict[object, "_Connection"] = field(default_factory=dict[object, "_Connection"])
    listening: ListenHandler = field(init=False)

    def __post_init__(self) -> None:
        self.listening = ListenHandler(self.bus)


@dataclass(slots=True)
class _Connection:
    """One client of the handshake era."""

    session: ServerSession
    leaves: dict[str, Leave] = field(default_factory=dict[str, "Leave"])
    """The addresses of resources that it subscribed to, and what ends that."""


class Changes:
    """Who is to be told what. The scopes keep apart: a change in one says nothing in another."""

    def __init__(self, opened: Callable[[str], None] = lambda _: None) -> None:
        """`opened` is called when a scope gets its first listener."""
        self._opened = opened
        self._audiences: dict[str, _Audience] = {}

    def scopes(self) -> Iterable[str]:
        """The scopes that have ever had a listener."""
        return tuple(self._audiences)

    def joined(self, ctx: Context, principal: Principal) -> None:
        """Remember a client of the handshake era until its connection ends."""
        # The connection is the only thing that knows its own end, and the SDK hides it.
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]
        known = self._audience(principal.scope).connections
        if connection not in known:
            known[connection] = _Connection(ctx.session)
            connection.exit_stack.push_async_callback(_part, known, connection)

    def follows(self, ctx: Context, principal: Principal, uri: str) -> bool:
        """Whether this client of the handshake era is told when `uri` changes."""
        known = self._known(ctx, principal)
        return known is not None and uri in known.leaves

    def follow(self, ctx: Context, principal: Principal, uri: str, leave: Leave) -> None:
        """Tell it, until it wants no more or is gone; then `leave`."""
        self.joined(ctx, principal)  # a client may subscribe before it says that it is initialized
        if (known := self._known(ctx, principal)) is not None:
            known.leaves[uri] = leave

    async def unfollow(self, ctx: Context, principal: Principal, uri: str) -> None:
        """Tell it no longer."""
        known = self._known(ctx, principal)
        if known is not None and (leave := known.leaves.pop(uri, None)) is not None:
            await leave()

    def _known(self, ctx: Context, principal: Principal) -> _Connection | None:
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]
        return self._audience(principal.scope).connections.get(connection)

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams, principal: Principal
    ) -> types.SubscriptionsListenResult:
        """Serve one `subscriptions/listen` of the stateless era."""
        return await self._audience(principal.scope).listening(ctx, params)

    async def tell(self, scope: str, event: ServerEvent) -> None:
        """Tell everyone of `scope`; nobody who is slow holds up the others."""
        audience = self._audience(scope)
        await audience.bus.publish(event)
        async with anyio.create_task_group() as tasks:
            for connection in tuple(audience.connections.values()):
                if notification := _notification(event, connection):
                    tasks.start_soon(_send, connection.session, notification)

    def _audience(self, scope: str) -> _Audience:
        if scope not in self._audiences:
            self._audiences[scope] = _Audience()
            self._opened(scope)
        return self._audiences[scope]

    def close(self) -> None:
        """End the streams of those who listen, so that they know it was meant."""
        for audience in self._audiences.values():
            audience.listening.close()


async def _part(known: dict[object, _Connection], connection: object) -> None:
    """Forget a client that is gone, and end its subscriptions."""
    gone = known.pop(connection, None)
    if gone is None:
        return
    async with anyio.create_task_group() as tasks:
        for leave in gone.leaves.values():
            tasks.start_soon(leave)


def _notification(event: ServerEvent, to: _Connection) -> types.ServerNotification | None:
    if isinstance(event, ResourceUpdated):
        if event.uri not in to.leaves:
            return None
        params = types.ResourceUpdatedNotificationParams(uri=event.uri)
        return types.ResourceUpdatedNotification(params=params)
    return _NOTIFICATIONS[type(event)]()


async def _send(session: ServerSession, notification: types.ServerNotification) -> None:
    with anyio.move_on_after(_PATIENCE):
        await session.send_notification(notification)
