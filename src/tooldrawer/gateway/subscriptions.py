"""Who wants to hear of which resource."""

from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, field

import anyio

from tooldrawer.errors import ToolFailed
from tooldrawer.gateway.changes import Leave
from tooldrawer.gateway.items import Item
from tooldrawer.upstream.upstream import Upstream

Wish = tuple[str, str]
"""A scope, and the address that the resource has in it."""
_PATIENCE = 5.0
"""Seconds for a server to hear that nobody wants a resource any more."""


@dataclass(slots=True)
class _Wanted:
    """One resource of a server, and who wants its updates."""

    item: Item
    wishes: Counter[Wish] = field(default_factory=Counter[Wish])
    asking: anyio.Lock = field(default_factory=anyio.Lock)
    is_subscribed: bool = False
    """Whether the server has agreed."""


class Subscriptions:
    """A server is asked for a resource's updates while anybody wants them, whoever that is."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[str, str], _Wanted] = {}

    def of(self, upstream: Upstream, uri: str) -> Iterable[tuple[Item, Wish]]:
        """A server's resource with each place where it is wanted."""
        wanted = self._wanted.get((upstream.name, uri))
        return tuple((wanted.item, wish) for wish in wanted.wishes) if wanted else ()

    async def add(self, item: Item, wish: Wish) -> None:
        """Ask for the updates of a resource, if the server has not agreed to them yet.

        Raises:
            ToolFailed: The server cannot be reached, or does not want to.
        """
        wanted = self._wanted.setdefault(_key(item), _Wanted(item))
        wanted.item = item
        wanted.wishes[wish] += 1
        try:
            # One at a time: a second client must not be told yes while the first is refused.
            async with wanted.asking:
                if not wanted.is_subscribed:
                    await item.upstream.request("resources/subscribe", {"uri": item.address})
                    wanted.is_subscribed = True
        except BaseException:
            self._take(item, wish)
            raise

    async def hold(self, item: Item, wish: Wish, room: AbstractContextManager[None]) -> Leave:
        """Ask for the updates of a resource in the `room` of a quota; what is returned ends both.

        Raises:
            ToolFailed: The server cannot be reached, or does not want to.
        """
        async with AsyncExitStack() as holding:
            holding.enter_context(room)
            await self.add(item, wish)
            holding.push_async_callback(self.remove, item, wish)
            return holding.pop_all().aclose

    async def remove(self, item: Item, wish: Wish) -> None:
        """Somebody wants it no longer."""
        if self._take(item, wish):
            # Whoever wanted it is gone already: nothing waits long for this, and nothing stops it.
            with anyio.move_on_after(_PATIENCE, shield=True), suppress(ToolFailed):
                await item.upstream.request("resources/unsubscribe", {"uri": item.address})

    def _take(self, item: Item, wish: Wish) -> bool:
        """Whether that was the last wish for the resource."""
        wanted = self._wanted.get(_key(item))
        if wanted is None:
            return False
        if wanted.wishes[wish] <= 1:
            del wanted.wishes[wish]
        else:
            wanted.wishes[wish] -= 1
        if wanted.wishes:
            return False
        del self._wanted[_key(item)]
        return True


def _key(item: Item) -> tuple[str, str]:
    return item.upstream.name, item.address
