"""Servers whose tools are not known yet, in sentences for a model."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from tooldrawer.admission import Server, unknown_servers
from tooldrawer.scope import Scope
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.standing import UpstreamStatus

_MAX_NAMED = 30


@runtime_checkable
class LoadingServer(Server, Protocol):
    """A server that may not have listed its tools yet."""

    spec: UpstreamSpec

    @property
    def status(self) -> UpstreamStatus:
        """Where it stands."""
        ...

    async def settled(self) -> None:
        """Return when it is up or idle, or when its first attempt has failed."""
        ...


def describe_loading(servers: Iterable[LoadingServer], scope: Scope) -> str:
    """Name the servers of a scope that are starting or down; nothing when all tools are known.

    `servers` are all of them: which names look alike decides which patterns of the scope apply.
    Those that the configuration disables are not in it.
    """
    unknown = [each for each in unknown_servers(servers, scope.may_name) if not each.spec.problem]
    down = [each.spec.name for each in unknown if each.status.state == "down"]
    starting = [each.spec.name for each in unknown if each.status.state != "down"]
    notes: list[str] = []
    if starting:
        notes.append(f"Still starting: {join_names(starting)}; search again in a few seconds.")
    if down:
        notes.append(f"Cannot be reached: {join_names(down)}.")
    return " ".join(notes)


def join_names(names: Iterable[str]) -> str:
    """The first names in order, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - _MAX_NAMED
    first = ", ".join(ordered[:_MAX_NAMED])
    return f"{first} and {more} more" if more > 0 else first
