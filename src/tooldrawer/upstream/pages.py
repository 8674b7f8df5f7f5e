"""The pages of a server's list, read until there is no more of it or no more room."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import anyio.to_thread

from tooldrawer.bounds.definition import MAX_LIST_BYTES
from tooldrawer.bounds.size import Size, SizeLimits
from tooldrawer.tool import Json, JsonObject

_MAX_NAMED = 100
"""Items without room that are told by name."""
_REST = "all that follows"
Ask = Callable[[JsonObject], Awaitable[Mapping[str, Json]]]
"""Gets the page for the parameters of a list request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The items of a list as they came."""

    items: Sequence[Json]
    beyond: Sequence[str] = ()
    """The names of those for which there was no room, and of what was not asked for."""


async def read_pages(ask: Ask, key: str, *, max_pages: int, max_items: int) -> Pages:
    """All items under `key`, up to the bytes that a list may have.

    A page that has more is the last one: a server could fill the memory with those after it.
    """
    items: list[Json] = []
    seen: set[str] = set()
    left, params = MAX_LIST_BYTES, cast("JsonObject", {})
    for _ in range(max_pages):
        page = await ask(params)
        given = page.get(key)
        found = given if isinstance(given, list) else []
        following = page.get("nextCursor")
        # A long page takes long to count, in which other servers must be served.
        size = await anyio.to_thread.run_sync(_measure, found, left)
        if size.excess:
            fitting, beyond = await anyio.to_thread.run_sync(_split_fitting, found, left)
            rest = [_REST] if following else []
            return Pages(items=[*items, *fitting], beyond=[*beyond, *rest])
        left -= size.bytes
        items += found
        # A cursor that comes again would go round for ever.
        if not isinstance(following, str) or not following or following in seen:
            break
        if len(items) > max_items:
            break
        seen.add(following)
        params = {"cursor": following}
    return Pages(items=items)


def _measure(value: Json, most: int) -> Size:
    limits = SizeLimits(levels=sys.getrecursionlimit(), values=sys.maxsize, bytes=max(most, 0))
    return Size(value, limits)


def _split_fitting(items: Sequence[Json], left: int) -> tuple[list[Json], list[str]]:
    """The items that there is room for, and the names of the others."""
    fitting: list[Json] = []
    beyond: list[str] = []
    for item in items:
        size = _measure(item, left)
        if not size.excess:
            left -= size.bytes
            fitting.append(item)
        elif len(beyond) < _MAX_NAMED:
            beyond.append(_name(item))
    return fitting, beyond


def _name(item: Json) -> str:
    for key in ("name", "uriTemplate", "uri"):
        name = item.get(key) if isinstance(item, Mapping) else None
        if isinstance(name, str) and name:
            return name[:80]
    return "without a name"
