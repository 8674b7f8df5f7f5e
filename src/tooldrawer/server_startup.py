"""MCP servers that are still starting, and what that means for the sessions of a drawer."""

from collections.abc import Callable, Iterable
from math import inf
from time import monotonic

import anyio

from tooldrawer.admission import unknown_servers
from tooldrawer.assembly import Assembly
from tooldrawer.loading_servers import (
    LoadingServer,
    describe_loading,
    explain_absence,
    find_starting,
    join_names,
)
from tooldrawer.patterns import server_namings
from tooldrawer.scope import Scope
from tooldrawer.toolset import Toolset, has_known_tools
from tooldrawer.upstream.disabled import describe_disabled
from tooldrawer.upstream.spec import UpstreamSpec


class ServerStartup:
    """The `Host` of a drawer's sessions. All of them wait until the same moment.

    While a server starts, the bridge is shown, so that its tools can be searched when they come
    and change no array. For a server that is down the bridge is not shown: it would cost every
    request, perhaps for nothing.
    """

    def __init__(
        self,
        toolsets: Iterable[Toolset],
        *,
        configured: Callable[[], Iterable[UpstreamSpec]],
        template: Callable[[], str],
        is_switched_off: Callable[[], bool],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`toolsets` are those registered now, whenever they are iterated over."""
        self._toolsets, self._configured, self._template = toolsets, configured, template
        self._is_switched_off, self._clock = is_switched_off, clock
        self._deadline = -inf

    def begin(self, wait_s: float) -> None:
        """Start the time that the first requests may wait: the servers are starting now."""
        self._deadline = self._clock() + wait_s

    async def wait(self, scope: Scope, is_needed: Callable[[], bool] = lambda: True) -> bool:
        """Wait for the servers of a scope whose tools are not known; returns whether it waited.

        Ends when each of them is up or has failed, or when the time is over. After that time
        `is_needed` is not called.
        """
        left = self._deadline - self._clock()
        if left <= 0 or self._are_all_known() or not is_needed():
            return False
        with anyio.move_on_after(left):
            for server in unknown_servers(self._servers(), scope.can_admit):
                await server.settled()
        return True

    def keep_closed(self, plain: Assembly, scope: Scope) -> str:
        """Why the bridge is shown though the settings would show the tools."""
        del plain
        if self._is_switched_off() or self._are_all_known():
            return ""
        starting = find_starting(self._servers(), scope)
        return f"the tools of {join_names(starting)} are not known yet" if starting else ""

    def missing(self, scope: Scope, tool: str = "") -> str:
        """Name the servers of a scope whose tools cannot be found, and why.

        With the name of a tool only the server that it would be of.
        """
        specs = tuple(spec for spec in self._configured() if spec.enabled)
        namings = server_namings((spec.toolset for spec in specs), template=self._template())
        admitted = [spec for spec in specs if scope.may_name(spec.toolset, namings[spec.toolset])]
        if tool:
            return explain_absence(tool, self._servers(), admitted, scope)
        disabled = describe_disabled(admitted)
        loading = "" if self._are_all_known() else describe_loading(self._servers(), scope)
        return " ".join(filter(None, (loading, disabled)))

    def _are_all_known(self) -> bool:
        return all(map(has_known_tools, self._toolsets))

    def _servers(self) -> list[LoadingServer]:
        return [each for each in self._toolsets if isinstance(each, LoadingServer)]
