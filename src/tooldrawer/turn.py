"""What a turn's array was made of, and why it may stay as it is."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio.to_thread

from tooldrawer.admission import Admission
from tooldrawer.assembly import Assembly, AssemblyPolicy, assemble
from tooldrawer.catalog import Catalog
from tooldrawer.catalogs import Catalogs
from tooldrawer.errors import UnknownTool
from tooldrawer.scope import Scope
from tooldrawer.tokens import SchemaCosts

_WORTH_A_THREAD = 50
"""New tools beyond this number are counted and indexed off the event loop."""


class Host(Protocol):
    """Who runs a session, and knows what its drawer cannot: which servers are not there yet."""

    async def wait(self, scope: Scope, is_needed: Callable[[], bool]) -> bool:
        """Wait a little for servers of this scope that are starting; returns whether it waited."""
        ...

    def keep_closed(self, plain: Assembly, scope: Scope) -> str:
        """Why the drawer is closed though the settings would open it; nothing when it is not."""
        ...

    def missing(self, scope: Scope, tool: str = "") -> str:
        """What a search of this scope cannot have found, in a sentence; nothing when it can.

        With the name of a tool only about the server that it would be of.
        """
        ...


def explain_unknown(error: UnknownTool, host: Host | None, scope: Scope) -> str:
    """What to tell the model: its tool may be one of a server of the scope that is not there."""
    if host is None:
        return str(error)
    if absence := host.missing(scope, error.asked):
        return f"{absence.rstrip('.')}. Use another tool meanwhile, or tell the user."
    return f"{error} {host.missing(scope)}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An assembly and what it was made of."""

    catalog: Catalog
    policy: AssemblyPolicy
    context_length: int | None
    plain: Assembly
    """As the settings alone decide."""
    kept_closed: str
    """Why the drawer is closed all the same."""
    assembly: Assembly
    searched: Catalog
    """What `tool_search` looks into: the drawer's contents, or everything when it is open."""
    native: bool
    """Whether the provider loads what is found."""

    def holds_for(
        self, catalog: Catalog, policy: AssemblyPolicy, context: int | None, *, native: bool
    ) -> bool:
        """Whether deciding anew would decide the same."""
        same = self.catalog is catalog and self.policy is policy and self.native == native
        return same and self.context_length == context


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """A listing that a model has seen."""

    scope: Scope
    policy: AssemblyPolicy
    text: str
    toolsets: tuple[str, ...]
    """Those of the scope when it was written."""

    def holds_for(self, scope: Scope, policy: AssemblyPolicy, admission: Admission) -> bool:
        """Whether it may be shown again: with no toolset that the scope has come to hide."""
        is_same = (self.scope, self.policy) == (scope, policy)
        return is_same and not any(map(admission.hides, self.toolsets))


class Turns:
    """Decides each turn anew, and keeps what must not change in between."""

    def __init__(self, host: Host | None) -> None:
        self._host = host
        self._last: Turn | None = None
        self._listing: _Listing | None = None

    @property
    def has_call_tool(self) -> bool:
        """Whether the model calls deferred tools through the bridge, as far as is known."""
        last = self._last
        return last is None or (last.assembly.active and not last.native)

    async def decided(
        self,
        catalog: Catalog,
        scope: Scope,
        policy: AssemblyPolicy,
        *,
        context_length: int | None,
        catalogs: Catalogs,
        costs: SchemaCosts,
        admission: Callable[[], Admission],
        native: bool = False,
    ) -> Turn:
        """The last turn itself when nothing changed; then `admission` is not asked for either."""
        last = self._last
        same = last is not None and last.holds_for(catalog, policy, context_length, native=native)
        if last and same and last.kept_closed == self._why_closed(last.plain, scope):
            return last
        admitted, kept = admission(), self._listing
        if kept is not None and not kept.holds_for(scope, policy, admitted):
            kept = None
        decide = partial(
            assemble,
            catalog.tools,
            policy,
            context_length=context_length,
            costs=costs,
            toolsets=admitted.toolsets(),
            listed=kept.text if kept else None,
            native=native,
        )
        big = len(catalog) > _WORTH_A_THREAD
        assembly = plain = await anyio.to_thread.run_sync(decide) if big else decide()
        if kept_closed := self._why_closed(plain, scope):
            assembly = decide(closed=kept_closed)
        searched = catalog
        if assembly.active:
            # The listing is in the cached prompt: once given it stays, whatever comes and goes
            # behind it, for as long as the scope and the settings do. Only a toolset of which
            # the scope admits nothing any more must not be named.
            self._listing = kept or _Listing(
                scope=scope, policy=policy, text=assembly.listing, toolsets=admitted.toolsets()
            )
            searched = catalogs.part(catalog, assembly.deferred)
        self._last = Turn(
            catalog=catalog,
            policy=policy,
            context_length=context_length,
            plain=plain,
            kept_closed=kept_closed,
            assembly=assembly,
            searched=searched,
            native=native,
        )
        return self._last

    def _why_closed(self, plain: Assembly, scope: Scope) -> str:
        return "" if self._host is None or plain.active else self._host.keep_closed(plain, scope)
