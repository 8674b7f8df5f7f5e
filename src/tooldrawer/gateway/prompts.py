"""The servers' prompts, under names of their own."""

from dataclasses import replace

from tooldrawer.admission import Admission
from tooldrawer.gateway.items import Item, describe_item
from tooldrawer.gateway.lists import Lists, Raw, Upstreams
from tooldrawer.naming import unique


class Prompts:
    """All prompts of a scope: listed together, got from the server that has them."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._lists = Lists(upstreams, method="prompts/list", key="prompts", capability="prompts")
        self.forget = self._lists.forget

    async def listed(self, admission: Admission) -> list[Raw]:
        """In configured order, each under its unique name."""
        return [{**item.tool.raw, "name": item.tool.name} for item in await self._items(admission)]

    async def find(self, admission: Admission, name: str) -> Item | None:
        """The prompt of that name."""
        items = await self._items(admission)
        return next((item for item in items if item.tool.name == name), None)

    async def _items(self, admission: Admission) -> list[Item]:
        """The prompts that the scope admits: what it does not admit leaves no trace in a name."""
        found: dict[tuple[str, str], Item] = {}
        for upstream, prompts in await self._lists.of(admission):
            for prompt in prompts:
                name = str(prompt.get("name") or "")
                tool = describe_item(admission, upstream, name, kind="prompt", raw=prompt)
                if name and admission.admits(tool):
                    item = Item(upstream=upstream, tool=tool, address=name)
                    found.setdefault((upstream.name, name), item)
        names = unique([item.tool for item in found.values()])
        return [replace(item, tool=tool) for item, tool in zip(found.values(), names, strict=True)]
