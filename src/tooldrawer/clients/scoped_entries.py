"""Which servers of a client's list stay usable when the client is given a scope."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tooldrawer.clients.connection import ServedEntry
from tooldrawer.clients.replacement import own_name
from tooldrawer.patterns import Reach, reach, server_namings
from tooldrawer.scope import Scope
from tooldrawer.tool import UPSTREAM_PREFIX, ServerNaming


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedEntries:
    """The servers that the gateway serves, as a scope divides them."""

    admitted: tuple[ServedEntry, ...]
    in_part: tuple[str, ...]
    """Of those, the names of servers that may have tools which the scope does not admit."""
    others: tuple[str, ...]
    """Names of servers that the scope does not admit, or not for certain."""


def divide_by_scope(
    entries: Iterable[ServedEntry], scope: Scope, served: Iterable[str], *, template: str
) -> ScopedEntries:
    """Decide by patterns alone: which tools a server lists is not known before it is started.

    `served` are the names of all servers of the gateway: a pattern is about the one that it names
    most exactly.
    """
    namings = server_namings((f"{UPSTREAM_PREFIX}{name}" for name in served), template=template)
    admitted: list[ServedEntry] = []
    in_part: list[str] = []
    others: list[str] = []
    for one in entries:
        toolset = f"{UPSTREAM_PREFIX}{own_name(one.served)}"
        naming = namings.get(toolset, ServerNaming(template=template))
        if not scope.may_name(toolset, naming):
            others.append(one.name)
            continue
        admitted.append(one)
        if not scope.admits_everything_of(toolset, naming) or _denies_some(scope, toolset, naming):
            in_part.append(one.name)
    return ScopedEntries(admitted=tuple(admitted), in_part=tuple(in_part), others=tuple(others))


def _denies_some(scope: Scope, toolset: str, naming: ServerNaming) -> bool:
    return any(
        reach(toolset, each.deny, naming, forbids=True) is not Reach.NOTHING
        for each in _with_ancestors(scope)
    )


def _with_ancestors(scope: Scope | None) -> Iterator[Scope]:
    while scope is not None:
        yield scope
        scope = scope.parent
