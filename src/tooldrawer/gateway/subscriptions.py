"""Who wants to hear of which resource."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

import anyio

from tooldrawer.errors import ToolFailed
from tooldrawer.upstream.upstream import Upstream

Wish = tuple[str, str]
"""A scope, and the address that the resource has in it."""
_PATIENCE = 5.0
"""Seconds for a server to hear that nobody wants a resource any more."""


class Subscriptions:
    """A server is asked for a resource's updates while anybody wants them, whoever that is."""

    def __init__(self) -> None:
        self._wishes: dict[tuple[str, str], Counter[Wish]] = {}

    def of(self, upstream: Upstream, uri: str) -> Iterable[Wish]:
        """Where, and under which address, a server's resource is wanted."""
        return tuple(self._wishes.get((upstream.name, uri), ()))

    async def add(self, upstream: Upstream, uri: str, wish: Wish) -> None:
        """Somebody wants the resource that the server calls `uri`.

        Raises:
            ToolFailed: The server cannot be reached, or does not want to.
        """
        wishes = self._wishes.setdefault((upstream.name, uri), Counter())
        wishes[wish] += 1
        if wishes.total() == 1:
            try:
                await upstream.request("resources/subscribe", {"uri": uri})
            except BaseException:
                self._take(upstream, uri, wish)
                raise

    async def remove(self, upstream: Upstream, uri: str, wish: Wish) -> None:
        """Somebody wants it no longer."""
        if self._take(upstream, uri, wish):
            # Whoever wanted it is gone already: nothing waits long for this, and nothing stops it.
            with anyio.move_on_after(_PATIENCE, shield=True), suppress(ToolFailed):
                await upstream.request("resources/unsubscribe", {"uri": uri})

    def _take(self, upstream: Upstream, uri: str, wish: Wish) -> bool:
        """Whether that was the last wish for the resource."""
        wishes = self._wishes.get((upstream.name, uri), Counter[Wish]())
        if wishes[wish] <= 1:
            del wishes[wish]
        else:
            wishes[wish] -= 1
        return not wishes and self._wishes.pop((upstream.name, uri), None) is not None
