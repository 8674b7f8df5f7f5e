"""The servers' prompts, under names of their own."""

from collections.abc import Hashable, Mapping
from dataclasses import replace

import anyio
import anyio.to_thread

from tooldrawer.admission import Admission
from tooldrawer.gateway.items import Item, describe_item
from tooldrawer.gateway.lists import Lists, Raw, Upstreams
from tooldrawer.naming import unique
from tooldrawer.scope import Scope
from tooldrawer.upstream.upstream import Upstream

_MAX_DECIDED_SCOPES = 100
_WORTH_A_THREAD = 50
"""More prompts than this are described and named off the event loop."""
_Listed = list[tuple[Upstream, tuple[Raw, ...]]]
_Decided = tuple[tuple[Hashable, ...], _Listed, Mapping[str, Item]]
"""What the prompts of a scope were decided from, by identity, and the prompts by name."""


class Prompts:
    """All prompts of a scope: listed together, got from the server that has them."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._lists = Lists(upstreams, method="prompts/list", key="prompts", capability="prompts")
        self.forget = self._lists.forget
        self._decided: dict[Scope, _Decided] = {}
        self._deciding = anyio.Lock()

    async def listed(self, admission: Admission) -> list[Raw]:
        """In configured order, each under its unique name."""
        items = await self._items(admission)
        return [{**item.tool.raw, "name": name} for name, item in items.items()]

    async def find(self, admission: Admission, name: str) -> Item | None:
        """The prompt of that name."""
        return (await self._items(admission)).get(name)

    async def _items(self, admission: Admission) -> Mapping[str, Item]:
        """The prompts of the scope by name, decided once for each list: it may have 10,000."""
        listed = await self._lists.of(admission)
        snapshot, scope = admission.snapshot, admission.scope
        key = tuple((id(each), snapshot.naming(each.name), id(raws)) for each, raws in listed)
        async with self._deciding:
            known = self._decided.get(scope)
            if known is not None and known[0] == key:
                return known[2]
            if sum(len(raws) for _, raws in listed) > _WORTH_A_THREAD:
                items = await anyio.to_thread.run_sync(_name_prompts, admission, listed)
            else:
                items = _name_prompts(admission, listed)
            if len(self._decided) >= _MAX_DECIDED_SCOPES:
                self._decided.clear()
            self._decided[scope] = (key, listed, items)
            return items


def _name_prompts(admission: Admission, listed: _Listed) -> Mapping[str, Item]:
    """The prompts that the scope admits: what it does not admit leaves no trace in a name."""
    found: dict[tuple[str, str], Item] = {}
    for upstream, prompts in listed:
        for prompt in prompts:
            name = str(prompt.get("name") or "")
            tool = describe_item(admission, upstream, name, kind="prompt", raw=prompt)
            if name and admission.admits(tool):
                item = Item(upstream=upstream, tool=tool, address=name)
                found.setdefault((upstream.name, name), item)
    tools = unique([item.tool for item in found.values()])
    pairs = zip(found.values(), tools, strict=True)
    return {tool.name: replace(item, tool=tool) for item, tool in pairs}
