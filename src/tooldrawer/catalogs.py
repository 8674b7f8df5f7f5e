"""Catalogs derived from the live registry, each for as long as nothing changes."""

from collections import OrderedDict
from collections.abc import Collection
from threading import Lock
from weakref import WeakKeyDictionary

from tooldrawer.catalog import Catalog
from tooldrawer.naming import identity
from tooldrawer.registry import Snapshot
from tooldrawer.scope import Scope
from tooldrawer.tool import Tool

_MOST_SCOPES = 256


class Catalogs:
    """Derives the catalog of a scope from a snapshot, once for as long as both stay the same.

    Names are made unique within a scope: a tool outside it leaves no trace, not even in a name. A
    name once given is kept for its tool while the toolset is registered, so that what a model has
    seen never comes to mean another tool.
    """

    def __init__(self, *, reserved: Collection[str] = ()) -> None:
        self._reserved = frozenset(reserved)
        self._lock = Lock()
        self._derived: WeakKeyDictionary[Snapshot, dict[Scope, Catalog]] = WeakKeyDictionary()
        self._holders: OrderedDict[Scope, dict[str, Tool]] = OrderedDict()
        self._parts: WeakKeyDictionary[Catalog, dict[int, Catalog]] = WeakKeyDictionary()

    def derive(self, snapshot: Snapshot, scope: Scope) -> Catalog:
        """The tools of `snapshot` that `scope` admits, in registration order."""
        with self._lock:
            known = self._derived.setdefault(snapshot, {})
            found = known.get(scope)
            if found is None:
                found = known[scope] = self._named(snapshot, scope)
            return found

    def part(self, catalog: Catalog, tools: tuple[Tool, ...]) -> Catalog:
        """The catalog of some of another's tools, shared by all who ask for as many of them."""
        if len(tools) == len(catalog):
            return catalog
        known = self._parts.setdefault(catalog, {})
        found = known.get(len(tools))
        if found is None or found.tools != tools:
            found = known[len(tools)] = Catalog(tools)
        return found

    def _named(self, snapshot: Snapshot, scope: Scope) -> Catalog:
        held = {
            name: tool
            for name, tool in self._holders.pop(scope, {}).items()
            if tool.source in snapshot.toolsets
        }
        found = Catalog(
            (tool for tool in snapshot.tools if scope.admits(tool)),
            reserved=self._reserved,
            holders={name: identity(tool) for name, tool in held.items()},
        )
        self._holders[scope] = {**held, **{tool.name: tool for tool in found}}
        while len(self._holders) > _MOST_SCOPES:
            self._holders.popitem(last=False)
        return found
