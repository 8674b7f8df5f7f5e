"""Mistakes in the entry of one server: they keep that server from starting, and nothing else."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.sentences import sentences
from tooldrawer.config.server_names import server_names
from tooldrawer.config.trust_items import trust_command
from tooldrawer.tool import Json
from tooldrawer.upstream.spec import StartProblem, UpstreamSpec

_KEY = "mcp_servers"


def start_problem(
    mistakes: Sequence[Mistake], line_of: Callable[[Path], int], name: str
) -> StartProblem | None:
    """Return why a server with these mistakes in the file `name` cannot start."""
    if not mistakes:
        return None
    variables = tuple(dict.fromkeys(each.variable for each in mistakes if each.variable))
    reason = "its entry in the configuration is wrong"
    if all(each.variable for each in mistakes):
        are = "s" if len(variables) > 1 else ""
        reason = f"missing environment variable{are}: {', '.join(variables)}"
    command = ""
    if any(each.is_untrusted for each in mistakes):
        reason, command = "a person has to trust it first", trust_command(name)
    details = tuple(sentences(mistakes, line_of, name))
    return StartProblem(reason=reason, details=details, variables=variables, command=command)


def split_by_server(
    mistakes: Iterable[Mistake], value: Json
) -> tuple[dict[str, list[Mistake]], list[Mistake]]:
    """Sort the mistakes of our own file `value`: those within one server's entry, and the others.

    A server that is switched off needs no variables.
    """
    by_server: dict[str, list[Mistake]] = {}
    others: list[Mistake] = []
    entries = _entries(value)
    for mistake in mistakes:
        key = mistake.path[1] if len(mistake.path) > 1 and mistake.path[0] == _KEY else None
        if not isinstance(key, str):
            others.append(mistake)
        elif not (mistake.variable and _is_off(entries.get(key))):
            by_server.setdefault(key, []).append(mistake)
    return by_server, others


def disable_servers(
    servers: Iterable[UpstreamSpec],
    mistakes: dict[str, list[Mistake]],
    *,
    value: Json,
    line_of: Callable[[Path], int],
    name: str,
) -> tuple[UpstreamSpec, ...]:
    """Return all servers of the file `name`, in its order; those with mistakes are not started."""
    entries = _entries(value)
    built = {spec.name: spec for spec in servers}
    valid_names = server_names(entries)
    found: list[UpstreamSpec] = []
    for key, entry in entries.items():
        # Of an entry with a mistake nothing is used: half of a command is another command.
        spec = UpstreamSpec(name=valid_names[key]) if key in mistakes else built[key]
        problem = start_problem(mistakes.get(key, ()), line_of, name)
        found.append(replace(spec, problem=problem, enabled=not _is_off(entry)))
    return tuple(found)


def _entries(value: Json) -> dict[str, Json]:
    entries = value.get(_KEY) if isinstance(value, dict) else None
    return entries if isinstance(entries, dict) else {}


def _is_off(entry: Json) -> bool:
    return isinstance(entry, dict) and entry.get("enabled") is False
