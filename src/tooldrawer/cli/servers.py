"""The MCP servers of an agent, while some of them still start."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import anyio

from tooldrawer.admission import unknown_servers
from tooldrawer.assembly import Assembly
from tooldrawer.drawer import Drawer
from tooldrawer.scope import Scope

if TYPE_CHECKING:
    from tooldrawer.turn import Host
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

    async def settled(self, late: Callable[[str], None]) -> None:
        """Wait a moment for those whose tools are not known; once. `late` is told who took longer.

        Who failed is in the activity.
        """
        if self._has_waited or not self.unknown():
            return
        self._has_waited = True
        with anyio.move_on_after(self._wait) as waiting:
            for upstream in self.unknown():
                await upstream.settled()
        if not waiting.cancelled_caught:  # each came or failed; one that failed may start again
            return
        for upstream in self.unknown():
            if upstream.status.state != "down":
                late(
                    f"{upstream.spec.name} did not answer within {self._wait:g} s; its tools come "
                    "when it does."
                )

    def host(self, scope: Callable[[], Scope]) -> "Host | None":
        """What they add to the decisions of a session; nothing when there are none."""
        if self._pool is None:
            return None
        # Imported here: MCP is half a second that an agent without servers does without.
        from tooldrawer.gateway.shown import Stance  # noqa: PLC0415

        return _Starting(
            Stance(scope, self._all, direct=lambda: False),
            lambda: [each.spec.name for each in self._awaited(scope())],
        )

    def _all(self) -> Sequence["Upstream"]:
        return self._pool.upstreams if self._pool else ()

    def _awaited(self, scope: Scope) -> Iterator["Upstream"]:
        if self._drawer is None or self._drawer.parts.policy.enabled == "off":
            return iter(())
        return (
            each
            for each in unknown_servers(self._all(), scope.can_admit)
            if each.status.state != "down"
        )


class _Starting:
    """A `Host`: the drawer stays closed while a server starts, so that its tools change no array.

    For one that is down it does not: the bridge would cost every request, perhaps for nothing.
    """

    def __init__(self, host: "Host", awaited: Callable[[], Sequence[str]]) -> None:
        self._host, self._awaited = host, awaited

    def keep_closed(self, plain: Assembly) -> str:
        """Why the drawer is closed though the settings would open it."""
        del plain
        names = ", ".join(sorted(self._awaited()))
        return f"the tools of {names} are not known yet" if names else ""

    def missing(self, scope: Scope) -> str:
        """The servers that no search can have looked into."""
        return self._host.missing(scope)
