"""What a changed configuration file changed, and which of its mistakes kept what in force."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from tooldrawer.upstream.spec import UpstreamSpec


class ServerChanges(TypedDict):
    """The names of the servers that differ between two configurations, in configured order."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


def compare_servers(before: Iterable[UpstreamSpec], after: Iterable[UpstreamSpec]) -> ServerChanges:
    """Return which servers came, went, or have another entry."""
    old = {spec.name: spec for spec in before}
    new = {spec.name: spec for spec in after}
    return ServerChanges(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name in new if name in old and new[name] != old[name]),
    )


def describe_rejected(reason: str) -> str:
    """Return what to tell a person about a file of which nothing was applied."""
    return f"The settings from before stay in force: {reason}"


def describe_kept(servers: Sequence[UpstreamSpec]) -> str:
    """Return what to tell a person about a file that was applied except for these servers."""
    if not servers:
        return ""
    names = ", ".join(repr(spec.name) for spec in servers)
    subject = (
        f"server {names}, which keeps its entry"
        if len(servers) == 1
        else f"servers {names}, which keep their entries"
    )
    reasons = (line for spec in servers if spec.problem for line in spec.problem.details)
    return "\n".join([f"The change is applied, except for the {subject} from before:", *reasons])
