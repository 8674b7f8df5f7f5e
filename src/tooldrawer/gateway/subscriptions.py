"""Who wants to hear of which resource."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

import anyio

from tooldrawer.errors import ToolFailed
from tooldrawer.gateway.items import Item
from tooldrawer.upstream.upstream import Upstream

Wish = tuple[str, str]
"""A scope, and the address that the resource has in it."""
_PATIENCE = 5.0
"""Seconds for a server to hear that nobody wants a resource any more."""


class Subscriptions:
    """A server is asked for a resource's updates while anybody wants them, whoever that is."""

    def __init__(self) -> None:
        self._wishes: dict[tuple[str, str], Counter[Wish]] = {}
        self._items: dict[tuple[str, str], Item] = {}

    def of(self, upstream: Upstream, uri: str) -> Iterable[tuple[Item, Wish]]:
        """A server's resource with each place where it is wanted."""
        key = (upstream.name, uri)
        return tuple((self._items[key], wish) for wish in self._wishes.get(key, ()))

    async def add(self, item: Item, wish: Wish) -> None:
        """Ask for the updates of a resource, if this is the first wish for them.

        Raises:
            ToolFailed: The server cannot be reached, or does not want to.
        """
        wishes = self._wishes.setdefault(_key(item), Counter())
        self._items[_key(item)] = item
        wishes[wish] += 1
        if wishes.total() == 1:
            try:
                await item.upstream.request("resources/subscribe", {"uri": item.address})
            except BaseException:
                self._take(item, wish)
                raise

    async def remove(self, item: Item, wish: Wish) -> None:
        """Somebody wants it no longer."""
        if self._take(item, wish):
            # Whoever wanted it is gone already: nothing waits long for this, and nothing stops it.
            with anyio.move_on_after(_PATIENCE, shield=True), suppress(ToolFailed):
                await item.upstream.request("resources/unsubscribe", {"uri": item.address})

    def _take(self, item: Item, wish: Wish) -> bool:
        """Whether that was the last wish for the resource."""
        wishes = self._wishes.get(_key(item), Counter[Wish]())
        if wishes[wish] <= 1:
            del wishes[wish]
        else:
            wishes[wish] -= 1
        if wishes:
            return False
        self._items.pop(_key(item), None)
        return self._wishes.pop(_key(item), None) is not None


def _key(item: Item) -> tuple[str, str]:
    return item.upstream.name, item.address
