"""Servers whose tools are not known yet, in sentences for a model."""

import re
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from tooldrawer.admission import Server, unknown_servers
from tooldrawer.scope import Scope
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.standing import UpstreamStatus

_MAX_NAMED = 30
_MAX_REASON_CHARS = 160
_NOTATION = re.compile(r"[\W_]+")


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


def find_starting(servers: Iterable[LoadingServer], scope: Scope) -> list[str]:
    """Name the servers whose tools may still come by themselves and that a scope can admit.

    A server is not among them when it is down: its command is missing, its entry is wrong, or it
    failed too often. `servers` are all of them, as below.
    """
    unknown = unknown_servers(servers, scope.can_admit)
    return [each.spec.name for each in unknown if each.status.state != "down"]


def describe_loading(servers: Iterable[LoadingServer], scope: Scope) -> str:
    """Name the servers of a scope that are starting or down; nothing when all tools are known.

    `servers` are all of them: which names look alike decides which patterns of the scope apply.
    Those that the configuration disables are not in it.
    """
    unknown = [each for each in unknown_servers(servers, scope.may_name) if not each.spec.problem]
    down = [each.spec.name for each in unknown if each.status.state == "down"]
    coming = [each.status for each in unknown if each.status.state != "down"]
    starting = [status.name for status in coming if not status.error]
    failing = [f"{each.name} ({_shorten(each.error)})" for each in coming if each.error]
    notes: list[str] = []
    if starting:
        notes.append(f"Still starting: {join_names(starting)}; search again in a few seconds.")
    if failing:
        notes.append(f"Failed to start, and tried again by itself: {join_names(failing)}.")
    if down:
        notes.append(f"Cannot be reached: {join_names(down)}.")
    return " ".join(notes)


def _shorten(reason: str) -> str:
    line = " ".join(reason.split()).rstrip(".")
    return line if len(line) <= _MAX_REASON_CHARS else f"{line[: _MAX_REASON_CHARS - 1]}…"


def explain_absence(
    tool: str, servers: Iterable[LoadingServer], disabled: Iterable[UpstreamSpec], scope: Scope
) -> str:
    """Say why the server of a tool is not there, if the tool's name begins with its name.

    `servers` are all of them, as above; `disabled` are further ones, of which the scope may name
    each.
    """
    reasons = {spec.name: spec.problem.reason for spec in disabled if spec.problem}
    for each in unknown_servers(servers, scope.may_name):
        if each.spec.problem:
            reasons[each.spec.name] = each.spec.problem.reason
        else:
            reasons[each.spec.name] = each.status.error or "it is still starting"
    if not (name := server_of(tool, reasons)):
        return ""
    return f"The server {name!r} is not available, so its tools are not known: {reasons[name]}"


def server_of(tool: str, servers: Iterable[str]) -> str:
    """The server whose name the tool's begins with, in any notation; nothing when there is none."""
    asked = f"{_plain(tool)}_"
    found = [
        name for name in servers if asked.startswith((f"{_plain(name)}_", f"mcp_{_plain(name)}_"))
    ]
    return max(found, key=len, default="")


def _plain(name: str) -> str:
    return _NOTATION.sub("_", name.casefold()).strip("_")


def join_names(names: Iterable[str]) -> str:
    """The first names in order, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - _MAX_NAMED
    first = ", ".join(ordered[:_MAX_NAMED])
    return f"{first} and {more} more" if more > 0 else first
