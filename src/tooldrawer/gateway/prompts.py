"""The servers' prompts, under names of their own."""

from collections.abc import Callable

from tooldrawer.admission import Admission
from tooldrawer.gateway.lists import Lists, Raw, Upstreams
from tooldrawer.naming import fitting, mcp_name
from tooldrawer.upstream.upstream import Upstream


class Prompts:
    """All prompts of a scope: listed together, got from whoever has them."""

    def __init__(self, upstreams: Upstreams, *, template: Callable[[], str]) -> None:
        self._template = template
        self._lists = Lists(upstreams, method="prompts/list", key="prompts", capability="prompts")
        self.forget = self._lists.forget

    async def listed(self, admission: Admission) -> list[Raw]:
        """In configured order, each under its unique name."""
        return [{**prompt, "name": name} for name, _, prompt in await self._named(admission)]

    async def find(self, admission: Admission, name: str) -> tuple[Upstream, str] | None:
        """Who has the prompt, and what it is called there."""
        for own, upstream, prompt in await self._named(admission):
            if own == name:
                return upstream, str(prompt.get("name"))
        return None

    async def _named(self, admission: Admission) -> list[tuple[str, Upstream, Raw]]:
        taken: set[str] = set()
        named: list[tuple[str, Upstream, Raw]] = []
        for upstream, prompts in await self._lists.of(admission):
            for prompt in prompts:
                plain = str(prompt.get("name") or "")
                full = mcp_name(upstream.spec.name, plain, template=self._template())
                name = fitting(full, identity=f"{upstream.name}\0{plain}")
                if not plain or name in taken:
                    name = fitting(f"{upstream.spec.name}_{plain}", identity=upstream.name)
                if plain and name not in taken:
                    taken.add(name)
                    named.append((name, upstream, prompt))
        return named
