"""The MCP servers of an agent, while some of them still start."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tooldrawer.drawer import Drawer
from tooldrawer.scope import Scope

if TYPE_CHECKING:
    from tooldrawer.upstream.pool import Pool
    from tooldrawer.upstream.upstream import Upstream


class Servers:
    """Knows which servers are there, and waits for the others, but not for long."""

    def __init__(self, pool: "Pool | None" = None, *, drawer: Drawer | None = None) -> None:
        self._pool = pool
        self._drawer = drawer
        self._wait = drawer.config.gateway.first_search_wait if drawer else 0.0
        self._has_waited = False

    def unknown(self) -> Sequence["Upstream"]:
        """Those whose tools are not known."""
        return [each for each in self._all() if not each.is_known]

    def starting(self) -> Sequence["Upstream"]:
        """Those of them that may still come by themselves."""
        return [each for each in self.unknown() if each.status.state != "down"]

    async def settled(self, late: Callable[[str], None]) -> None:
        """Wait a moment for those whose tools are not known; once. `late` is told who took longer.

        Who failed is in the activity.
        """
        if self._has_waited or not self.unknown():
            return
        self._has_waited = True
        if self._drawer is not None:
            await self._drawer.startup.wait(Scope())
        for upstream in self.unknown():
            if not upstream.is_settled:  # one that failed may start again
                late(
                    f"{upstream.spec.name} did not answer within {self._wait:g} s; its tools come "
                    "when it does."
                )

    def _all(self) -> Sequence["Upstream"]:
        return self._pool.upstreams if self._pool else ()
