"""What a session uses of its drawer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tooldrawer.activity import Emit
from tooldrawer.assembly import AssemblyPolicy
from tooldrawer.bridge import SearchPolicy
from tooldrawer.catalogs import Catalogs
from tooldrawer.dispatch import Dispatcher, Limits, ResultMemory
from tooldrawer.registry import Registry
from tooldrawer.scope import Scope
from tooldrawer.search import SearchEngine
from tooldrawer.tokens import SchemaCosts, TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The shared parts behind a session. A change of the settings makes a new object."""

    registry: Registry
    catalogs: Catalogs
    engine: SearchEngine
    costs: SchemaCosts
    counter: TokenCounter
    dispatcher: Dispatcher
    emit: Emit
    policy: AssemblyPolicy
    search: SearchPolicy
    limits: Limits
    results: ResultMemory
    """For results that were cut, of all sessions."""
    scopes: Mapping[str, Scope]


class PartsSource(Protocol):
    """The drawer, as its sessions know it."""

    @property
    def parts(self) -> Parts:
        """The parts as they are."""
        ...

    async def refresh(self) -> Parts:
        """The parts after a changed configuration was applied."""
        ...
