"""Servers of the configuration whose tools a command does not know, in a line for people."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tooldrawer.cli.output import notice
from tooldrawer.loading_servers import join_names, server_of

if TYPE_CHECKING:
    from tooldrawer.upstream.upstream import Upstream


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentServer:
    """A server that is configured and not there."""

    name: str
    reason: str
    is_misconfigured: bool
    """Whether the configuration keeps it from starting."""
    is_starting: bool = False
    """Whether it is still starting or tried again, so that its tools may come by themselves."""
    needs_trust: bool = False
    """Whether a person has to trust it first; that is told with the command for it."""


def find_absent(upstreams: Iterable["Upstream"], *, waited_s: float) -> tuple[AbsentServer, ...]:
    """Return the servers whose tools are not known."""
    return tuple(
        AbsentServer(
            name=each.spec.name,
            reason=each.status.error or f"It did not answer within {waited_s:g} s.",
            is_misconfigured=each.spec.problem is not None,
            is_starting=each.status.state != "down",
            needs_trust=each.spec.problem is not None and bool(each.spec.problem.command),
        )
        for each in upstreams
        if not each.is_known
    )


def tell_absent(absent: Iterable[AbsentServer]) -> None:
    """Name them in one line; a single one with its reason."""
    found = [each for each in absent if not each.needs_trust]
    if len(found) == 1:
        notice(describe_absent(found[0]))
    elif found:
        names = join_names(each.name for each in found)
        other = next((each for each in found if not each.is_misconfigured), None)
        command = f"tools --toolset mcp-{other.name}" if other else "config check"
        notice(
            f"{len(found)} servers are not available: {names}; `tooldrawer {command}` tells why."
        )


def absent_server_of(tool: str, absent: Iterable[AbsentServer]) -> AbsentServer | None:
    """Return the server that a tool of this name would be of."""
    by_name = {each.name: each for each in absent}
    return by_name.get(server_of(tool, by_name))


def describe_absent(server: AbsentServer) -> str:
    """Say that it is not available, and why."""
    return f"{server.name} is not available: {server.reason}"


def hush_disabled() -> None:
    """Keep the drawer from logging each server that cannot start: `tell_absent` names them."""
    logging.getLogger("tooldrawer.drawer").addFilter(
        lambda record: not str(record.msg).startswith("The server %r is not started")
    )
