"""Glob patterns over tools: the server's name and the tool's own name are matched separately.

A pattern that begins like a full name, `mcp_docs_get_*` with the usual template, is about a server
and a tool, and each part must match the whole of that name. Every other pattern, `*delete*`, is
about the tool's own name; where it forbids something, about the server's name too, so that neither
`allow: ["*read*"]` opens the server `spreadsheets` nor `deny: ["*vault*"]` overlooks the server
`vault`. Names of tools that are not a server's do not contain the toolset's name, so a glob that
forbids something is compared with that as well. Case never counts.

The notations in which a tool may be called, `github__create_issue`, `github.create_issue` and
`github/create_issue`, name a server (or another toolset) and a tool as well; each part may be a
glob. In a list that admits something, a server's part of stars alone counts as part of the tool's
own name: `*.read` is about tools such as `files.read`, not about `read` of every server.

Underscores join the parts and occur inside them, so one text has several readings:
`mcp_docs_internal_*` is server `docs` and tool `internal_*`, or server `docs_internal` and any
tool. Where a server of the longer name exists, the pattern is about that one.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import translate
from functools import lru_cache
from itertools import takewhile
from string import Formatter

from tooldrawer.naming import mcp_name, with_accepted_characters
from tooldrawer.tool import DEFAULT_TEMPLATE, UPSTREAM_PREFIX, ServerNaming, Tool

_STAR = "*"
_WILDCARD = re.compile(r"[*?\[]")
_NOTATIONS = (("/",), (".",), ("_", "_"))
"""What stands between a server's name and a tool's own where a tool is called."""


class Reach(IntEnum):
    """How much of a server some patterns can match, whatever tools it lists."""

    NOTHING = 0
    SOME = 1
    """Tools of a certain name, of whichever server."""
    NAMED = 2
    """Tools of a certain name, of a server that a pattern names without a star."""
    ALL = 3


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to divide a pattern into a server's part and a tool's part."""

    server: str
    tool: str

    @property
    def names_server(self) -> bool:
        return _STAR not in self.server

    @property
    def is_about_every_tool(self) -> bool:
        return self.tool == _STAR


@dataclass(frozen=True, slots=True)
class _Template:
    """The text around the two names in a name template; `is_reversed` when the tool comes first."""

    before: str
    between: str
    after: str
    is_reversed: bool


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether one of the globs matches the whole `name`, whatever the case."""
    return _compiled(tuple(patterns)).match(name.casefold()) is not None


def tool_matches(
    tool: Tool, patterns: Sequence[str], *, forbids: bool = False, only_visible: bool = False
) -> bool:
    """Whether one of the patterns is about `tool`; `forbids` when such a tool is kept away.

    The name before it was shortened or made unique counts too, unless `only_visible`.
    """
    if _STAR in patterns:
        return True
    if forbids and _forbids_toolset(tool.source, patterns):
        return True
    for readings in _notations(tuple(patterns), forbids=forbids):
        if any(_is_about(each, readings, tool, only_visible=only_visible) for each in readings):
            return True
    names = (tool.name,) if only_visible else (tool.name, tool.long_name or tool.name)
    if not any(matches(name, patterns) for name in names):
        return False
    template = _template(tool.naming.template)
    if template is None or not _follows_template(tool):
        return True
    return any(
        _is_about(reading, readings, tool, only_visible=only_visible)
        for pattern in patterns
        for readings in (_readings(pattern, template, forbids=forbids),)
        for reading in readings
    )


def reach(
    toolset: str, patterns: Sequence[str], naming: ServerNaming, *, forbids: bool = False
) -> Reach:
    """How much of `toolset` the patterns can match, when it is not known what it lists."""
    if _STAR in patterns or (forbids and _forbids_toolset(toolset, patterns)):
        return Reach.ALL
    template = _template(naming.template)
    server = toolset.removeprefix(UPSTREAM_PREFIX)
    in_notations = _notations(tuple(patterns), forbids=forbids)
    if template is None or not toolset.startswith(UPSTREAM_PREFIX):
        found, of_names = (Reach.SOME if patterns else Reach.NOTHING), []
    else:
        found = Reach.NOTHING
        of_names = [_readings(pattern, template, forbids=forbids) for pattern in patterns]
    for readings in (*in_notations, *of_names):
        for reading in readings:
            if _is_about_server(reading, readings, server, naming.similar):
                found = max(found, _reach(reading))
    return found


def names_no_server(pattern: str, toolsets: Iterable[str], *, template: str) -> bool:
    """Whether a pattern is about a certain server, or several, and none of `toolsets` is one."""
    found = [each for some in _notations((pattern,), forbids=True) for each in some]
    if parts := _template(template):
        found += _readings(pattern, parts, forbids=True)
    if not found or any(reading.server == _STAR for reading in found):
        return False
    servers = {name.removeprefix(UPSTREAM_PREFIX) for name in toolsets}
    servers |= set(map(with_accepted_characters, servers))
    return not any(matches(server, (each.server,)) for each in found for server in servers)


def similar_servers(toolsets: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each toolset of a server, the other servers whose names begin like its own.

    Only a pattern that names one of those can be mistaken for one about this server.
    """
    servers = sorted(
        (with_accepted_characters(name.removeprefix(UPSTREAM_PREFIX)).casefold(), name)
        for name in toolsets
    )
    found: dict[str, tuple[str, ...]] = {}
    for plain, name in servers:
        start = bisect_left(servers, (plain,))
        longer = takewhile(lambda each: each[0].startswith(plain), servers[start:])  # noqa: B023
        found[name] = tuple(
            other.removeprefix(UPSTREAM_PREFIX) for _, other in longer if other != name
        )
    return found


def server_namings(
    toolsets: Iterable[str], *, template: str = DEFAULT_TEMPLATE
) -> dict[str, ServerNaming]:
    """How the names of the servers' tools are made, by toolset."""
    return {
        name: ServerNaming(template=template, similar=similar)
        for name, similar in similar_servers(toolsets).items()
    }


def _forbids_toolset(toolset: str, patterns: Sequence[str]) -> bool:
    """Whether a glob matches the name of a toolset that is not a server's.

    A text without wildcards is the name of a tool; toolsets are often called like one of theirs.
    """
    if toolset.startswith(UPSTREAM_PREFIX):
        return False
    globs = tuple(pattern for pattern in patterns if _WILDCARD.search(pattern))
    return bool(globs) and matches(toolset, globs)


def _reach(reading: _Reading) -> Reach:
    if reading.is_about_every_tool:
        return Reach.ALL
    return Reach.NAMED if reading.names_server else Reach.SOME


def _is_about(
    reading: _Reading, readings: Sequence[_Reading], tool: Tool, *, only_visible: bool
) -> bool:
    if not _is_about_server(reading, readings, tool.server, tool.naming.similar):
        return False
    names = set(_visible_tool_name(tool))
    if not only_visible:
        names |= {tool.local_name, with_accepted_characters(tool.local_name)}
    return any(matches(name, (reading.tool,)) for name in names)


def _is_about_server(
    reading: _Reading, readings: Sequence[_Reading], server: str, similar: Sequence[str]
) -> bool:
    if matches(server, (reading.server,)):
        rivals = [each for each in readings if len(each.server) > len(reading.server)]
    elif matches(with_accepted_characters(server), (reading.server,)):
        # `docs.new` is shown as `docs_new`, which may be the name of another server.
        rivals = [each for each in readings if len(each.server) >= len(reading.server)]
    else:
        return False
    if not reading.names_server:
        return True
    return not any(
        matches(other, (rival.server,))
        for rival in rivals
        if rival.names_server
        for other in similar
    )


def _follows_template(tool: Tool) -> bool:
    """Whether the name was made from the names of a server and its tool."""
    if not tool.is_upstream:
        return False
    full = mcp_name(tool.server, tool.local_name, template=tool.naming.template)
    return full in (tool.name, tool.long_name) or with_accepted_characters(full) == tool.name


def _visible_tool_name(tool: Tool) -> Iterable[str]:
    """What follows the server's part in the name that clients see."""
    template = _template(tool.naming.template)
    if template is None or template.is_reversed:
        return
    head = with_accepted_characters(f"{template.before}{tool.server}{template.between}")
    if tool.name.startswith(head) and tool.name != head:
        yield tool.name.removeprefix(head)


@lru_cache(maxsize=1024)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(each.casefold()) for each in patterns) or r"(?!)")


@lru_cache(maxsize=64)
def _template(text: str) -> _Template | None:
    """The template's parts; `None` for one whose names cannot be told apart by the text between."""
    parts = list(Formatter().parse(text))
    fields = [name for _, name, _, _ in parts if name is not None]
    literals = [literal for literal, _, _, _ in parts]
    if sorted(fields) != ["server", "tool"] or not literals[1]:
        return None
    after = literals[2] if len(literals) > len(fields) else ""
    before, between, after = (each.casefold() for each in (literals[0], literals[1], after))
    return _Template(before, between, after, is_reversed=fields[0] == "tool")


@lru_cache(maxsize=1024)
def _notations(patterns: tuple[str, ...], *, forbids: bool) -> tuple[tuple[_Reading, ...], ...]:
    """The readings of the patterns that are written in a notation of calls, by pattern."""
    found = (tuple(_divide_at_notation(pattern, forbids=forbids)) for pattern in patterns)
    return tuple(readings for readings in found if readings)


def _divide_at_notation(pattern: str, *, forbids: bool) -> Iterator[_Reading]:
    tokens = _tokens(pattern.casefold())
    for between in _NOTATIONS:
        for at in range(1, len(tokens) - len(between)):
            if tokens[at : at + len(between)] != between:
                continue
            server, tool = "".join(tokens[:at]), "".join(tokens[at + len(between) :])
            if forbids or server != _STAR:
                yield _Reading(server, tool)
                # The toolset's name is accepted too: `mcp-github.create_issue`.
                if server.startswith(UPSTREAM_PREFIX):
                    yield _Reading(server.removeprefix(UPSTREAM_PREFIX), tool)


@lru_cache(maxsize=4096)
def _readings(pattern: str, template: _Template, *, forbids: bool) -> tuple[_Reading, ...]:
    """All ways to read a pattern, given how full names are made."""
    tokens = _tokens(pattern.casefold())
    before, between, after = template.before, tuple(template.between), template.after
    if template.is_reversed:
        tokens, between = tokens[::-1], between[::-1]
        before, after = after[::-1], before[::-1]
    divided = _divide(_strip_end(tokens, after), before, between, forbids=forbids)
    step = -1 if template.is_reversed else 1
    return tuple(
        _Reading("".join(server[::step]), "".join(tool[::step])) for server, tool in divided
    )


def _divide(
    tokens: tuple[str, ...], before: str, between: tuple[str, ...], *, forbids: bool
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    for position, character in enumerate(before):
        token = tokens[position] if position < len(tokens) else ""
        if token == _STAR:
            return _any_server(tokens[position:], between, forbids=forbids)
        if not _is_match(token, character):
            return []
    rest, width = tokens[len(before) :], len(between)
    star = rest.index(_STAR) if _STAR in rest else len(rest)
    joints = [at for at in range(len(rest)) if rest[at : at + width] == between]
    early = [at for at in joints if at < star]
    if star == len(rest) or early:
        return [(rest[:at], rest[at + width :]) for at in early]
    if star == 0 and not before:  # with such a template nothing tells it from a tool's own name
        return _any_server(rest, between, forbids=forbids)
    late = [(rest[:at], rest[at + width :]) for at in joints[:1]]
    wide = [(rest, (_STAR,))] if forbids else []
    return [(rest[: star + 1], rest[star:]), *late, *wide]


def _any_server(
    tokens: tuple[str, ...], between: tuple[str, ...], *, forbids: bool
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """A pattern whose first star covers the server: `*delete*`; `*_delete` finds `delete` too."""
    readings: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((_STAR,), tokens)]
    if tokens[1 : 1 + len(between)] == between:
        readings.append(((_STAR,), tokens[1 + len(between) :]))
    if forbids:
        readings.append((tokens, (_STAR,)))
    return readings


def _strip_end(tokens: tuple[str, ...], text: str) -> tuple[str, ...]:
    for character in reversed(text):
        if tokens and tokens[-1] == _STAR:
            return tokens
        if not tokens or not _is_match(tokens[-1], character):
            return ()
        tokens = tokens[:-1]
    return tokens


def _is_match(token: str, character: str) -> bool:
    return bool(token) and re.match(translate(token), character) is not None


def _tokens(pattern: str) -> tuple[str, ...]:
    """Characters, `?`, `*` and `[...]`, as `fnmatch` reads them; stars in a row are one."""
    found: list[str] = []
    position = 0
    while position < len(pattern):
        end = _bracket_end(pattern, position) if pattern[position] == "[" else position + 1
        token = pattern[position:end]
        if token != _STAR or found[-1:] != [_STAR]:
            found.append(token)
        position = end
    return tuple(found)


def _bracket_end(pattern: str, start: int) -> int:
    first = start + 1
    if pattern[first : first + 1] == "!":
        first += 1
    end = pattern.find("]", first + 1)
    return end + 1 if end >= 0 else start + 1
