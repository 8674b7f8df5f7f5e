"""Being told what changed, since 2026-07-28: a stream that is opened, and opened again."""

import logging
from collections.abc import Callable

import anyio
from mcp import MCPError
from mcp.client.subscriptions import listen
from mcp_types import METHOD_NOT_FOUND

from tooldrawer.exception_groups import leaves
from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.relay import RelaySession

_KINDS = ("tools", "prompts", "resources")
_logger = logging.getLogger(__name__)


class Subscribed:
    """The resources whose updates somebody wants to hear of."""

    def __init__(self) -> None:
        self.uris: frozenset[str] = frozenset()
        self._moved = anyio.Event()

    def change(self, *, added: str = "", removed: str = "") -> None:
        """Want one more, or one less."""
        uris = (self.uris | {added}) - {removed, ""}
        if uris != self.uris:
            self.uris = uris
            self._moved.set()
            self._moved = anyio.Event()

    async def moved(self) -> None:
        """Return when other resources are wanted than now."""
        await self._moved.wait()


class Listening:
    """Keeps one `subscriptions/listen` stream open. What it says arrives as notifications."""

    def __init__(
        self,
        session: RelaySession,
        capabilities: JsonObject,
        *,
        subscribed: Subscribed,
        pace: Pace,
        opened: Callable[[], None],
    ) -> None:
        self._session = session
        self._wanted = {kind for kind in _KINDS if _tells_changes(capabilities.get(kind))}
        self._subscribed = subscribed
        self._pace = pace
        self._opened = opened
        self._failures = 0

    async def run(self) -> None:
        """Listen until cancelled, or until the server says that it has no such thing."""
        while True:
            if not self._wanted and not self._subscribed.uris:
                await self._subscribed.moved()
            try:
                await self._listen()
            except Exception as error:  # the boundary to a server, and to groups out of the SDK
                codes = {each.code for each in leaves(error) if isinstance(each, MCPError)}
                if METHOD_NOT_FOUND in codes:
                    return
                _logger.debug("A stream of changes was lost.", exc_info=True)
                self._failures += 1
                await self._pace.sleep(self._pace.pause(self._failures))

    async def _listen(self) -> None:
        """Until the server ends the stream, or other resources are wanted."""
        uris = self._subscribed.uris
        async with listen(
            self._session,
            tools_list_changed="tools" in self._wanted,
            prompts_list_changed="prompts" in self._wanted,
            resources_list_changed="resources" in self._wanted,
            resource_subscriptions=sorted(uris),
        ) as stream:
            self._opened()  # whatever changed before was told to nobody
            was_moved = False
            async with anyio.create_task_group() as group:

                async def until_moved() -> None:
                    nonlocal was_moved
                    while self._subscribed.uris == uris:  # they may have moved before the stream
                        await self._subscribed.moved()
                    was_moved = True
                    group.cancel_scope.cancel()

                group.start_soon(until_moved)
                async for _ in stream:
                    self._failures = 0
                group.cancel_scope.cancel()
        if not was_moved:
            raise EOFError("the server ended the stream")


def _tells_changes(capability: Json) -> bool:
    return isinstance(capability, dict) and capability.get("listChanged") is True
