"""What servers list besides tools."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

import anyio
import anyio.to_thread

from tooldrawer.admission import Admission
from tooldrawer.bounds.definition import BEYOND_LIST, ListRoom
from tooldrawer.errors import ToolFailed
from tooldrawer.upstream.pages import Pages, read_pages
from tooldrawer.upstream.upstream import Upstream

Raw = dict[str, Any]
Upstreams = Callable[[], Iterable[Upstream]]
_PATIENCE = 10.0
"""Seconds that one server may keep a list of all of them waiting."""
_MOST_PAGES = 200
_MAX_ITEMS = 10_000
_MAX_REASONS = 50


class Lists:
    """One kind of list, of every server; each is asked again only when it said that it changed."""

    def __init__(self, upstreams: Upstreams, *, method: str, key: str, capability: str) -> None:
        self._upstreams = upstreams
        self._method, self._key, self._capability = method, key, capability
        self._known: dict[str, tuple[str, tuple[Raw, ...]]] = {}

    async def of(self, admission: Admission) -> list[tuple[Upstream, tuple[Raw, ...]]]:
        """Each server of the scope that has such a list, in configured order."""
        asked = [
            upstream for upstream in self._upstreams() if self.is_served_by(upstream, admission)
        ]
        found: dict[str, tuple[Raw, ...]] = {}

        async def ask(upstream: Upstream) -> None:
            found[upstream.name] = await self._listed(upstream)

        async with anyio.create_task_group() as tasks:
            for upstream in asked:
                tasks.start_soon(ask, upstream)
        return [(upstream, found[upstream.name]) for upstream in asked]

    def is_served_by(self, upstream: Upstream, admission: Admission) -> bool:
        """Whether the server is up, in the scope, and has lists of this kind."""
        has_it = upstream.capabilities.get(self._capability) is not None
        return has_it and upstream.status.state == "up" and admission.admits_toolset(upstream.name)

    def forget(self, upstream: Upstream) -> None:
        """Ask this server anew."""
        self._known.pop(upstream.name, None)

    async def _listed(self, upstream: Upstream) -> tuple[Raw, ...]:
        start = str(upstream.status.starts)
        known = self._known.get(upstream.name)
        if known is not None and known[0] == start:
            return known[1]
        with anyio.move_on_after(_PATIENCE):
            try:
                found = await read_pages(
                    partial(upstream.request, self._method),
                    self._key,
                    max_pages=_MOST_PAGES,
                    max_items=_MAX_ITEMS,
                )
            except ToolFailed:
                return ()
            items, reasons = await anyio.to_thread.run_sync(_split_usable, found, self._key)
            upstream.report_dropped(self._key, reasons)
            listed = tuple(items)
            self._known[upstream.name] = (start, listed)
            return listed  # the very same as later: what is decided about it is kept by identity
        return ()


def _split_usable(listed: Pages, key: str) -> tuple[list[Raw], list[str]]:
    """The items that can be used, and the others by name with the reason."""
    items = [cast("Raw", item) for item in listed.items if isinstance(item, dict)]
    usable: list[Raw] = []
    reasons: list[str] = []
    room = ListRoom()
    for item in items[:_MAX_ITEMS]:
        if reason := room.find_excess(item):
            name = item.get("name") or item.get("uriTemplate") or item.get("uri")
            reasons.append(f"{key} {name!s:.80}: {reason}")
        else:
            usable.append(item)
    reasons += [f"{key} {name}: {BEYOND_LIST}" for name in listed.beyond]
    if len(items) > _MAX_ITEMS:
        reasons.insert(
            0, f"{len(items) - _MAX_ITEMS:,} {key}: are beyond the {_MAX_ITEMS:,} of a list"
        )
    more = len(reasons) - _MAX_REASONS
    return usable, [*reasons[:_MAX_REASONS], *([f"{more:,} more {key}"] if more > 0 else [])]
