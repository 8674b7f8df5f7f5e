"""What a changed configuration file changed, and which of its mistakes kept what in force."""

import re
from collections.abc import Iterable, Sequence
from typing import TypedDict

from tooldrawer.errors import ConfigError, ToolDrawerError
from tooldrawer.upstream.spec import UpstreamSpec

_LINE_NUMBER = re.compile(r":\d+:")
"""In "file:57: key ..."; a line that was added above changes it."""


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


def describe_rejected(error: ToolDrawerError, disabled: Iterable[UpstreamSpec]) -> str:
    """Return what to tell a person about a file of which nothing was applied.

    What already kept one of the `disabled` servers from starting is not why, so it is left out.
    """
    lines = error.mistakes if isinstance(error, ConfigError) else (str(error),)
    known = {
        _LINE_NUMBER.sub(":", detail, count=1)
        for spec in disabled
        if spec.problem
        for detail in spec.problem.details
    }
    causes = [line for line in lines if _LINE_NUMBER.sub(":", line, count=1) not in known]
    return "The settings from before stay in force: " + "\n".join(causes or lines)


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
