"""What a turn's array was made of, and why it may stay as it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio.to_thread

from tooldrawer.assembly import Assembly, AssemblyPolicy, assemble
from tooldrawer.catalog import Catalog
from tooldrawer.catalogs import Catalogs
from tooldrawer.scope import Scope
from tooldrawer.tokens import SchemaCosts

_WORTH_A_THREAD = 200
"""New tools beyond this number are counted and indexed off the event loop."""


class Host(Protocol):
    """Who runs a session, and knows what its drawer cannot: which servers are not there yet."""

    def keep_closed(self, plain: Assembly) -> str:
        """Why the drawer is closed though the settings would open it; nothing when it is not."""
        ...

    def missing(self, scope: Scope) -> str:
        """What a search of this scope cannot have found, in a sentence; nothing when it can."""
        ...


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


class Turns:
    """Decides each turn anew, and keeps what must not change in between."""

    def __init__(self, host: Host | None) -> None:
        self._host = host
        self._last: Turn | None = None
        self._listing: tuple[Scope, AssemblyPolicy, str] | None = None

    @property
    def last(self) -> Turn | None:
        """What was decided last; nothing before the first time."""
        return self._last

    async def decided(
        self,
        catalog: Catalog,
        scope: Scope,
        policy: AssemblyPolicy,
        *,
        context_length: int | None,
        catalogs: Catalogs,
        costs: SchemaCosts,
        toolsets: Callable[[], Sequence[str]],
        native: bool = False,
    ) -> Turn:
        """The last turn itself when nothing changed; then nobody asks for the toolsets either."""
        last = self._last
        same = last is not None and last.holds_for(catalog, policy, context_length, native=native)
        if last and same and last.kept_closed == self._why_closed(last.plain):
            return last
        kept = self._listing
        decide = partial(
            assemble,
            catalog.tools,
            policy,
            context_length=context_length,
            costs=costs,
            toolsets=toolsets(),
            listed=kept[2] if kept and kept[:2] == (scope, policy) else None,
            native=native,
        )
        big = len(catalog) > _WORTH_A_THREAD
        assembly = plain = await anyio.to_thread.run_sync(decide) if big else decide()
        if kept_closed := self._why_closed(plain):
            assembly = decide(closed=kept_closed)
        searched = catalog
        if assembly.active:
            # The listing is in the cached prompt: once given it stays, whatever comes and goes
            # behind it, for as long as the scope and the settings do.
            self._listing = (scope, policy, assembly.listing)
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

    def _why_closed(self, plain: Assembly) -> str:
        return "" if self._host is None or plain.active else self._host.keep_closed(plain)
