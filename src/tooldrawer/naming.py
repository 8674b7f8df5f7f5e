"""Names that every provider accepts, that stay the same, and that are never shared by two tools."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from types import MappingProxyType

from tooldrawer.tool import DEFAULT_TEMPLATE, Tool

MAX_LENGTH = 64
"""OpenAI and Gemini refuse longer names (Anthropic takes 128)."""
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_HASH_LENGTH = 8


def mcp_name(server: str, tool: str, *, template: str = DEFAULT_TEMPLATE) -> str:
    """The name of a server's tool before it is made to fit."""
    return template.format(server=server, tool=tool)


def fitting(name: str, *, identity: str) -> str:
    """`name` with refused characters replaced, shortened by a stable hash of `identity`."""
    clean = with_accepted_characters(name) or "tool"
    return clean if len(clean) <= MAX_LENGTH else _with_hash(clean, identity)


def with_accepted_characters(name: str) -> str:
    """`name` with an underscore for every character that a provider refuses."""
    return _REFUSED.sub("_", name)


def fitted(tool: Tool) -> Tool:
    """The tool under a name that every provider accepts; itself when it has one."""
    return _renamed(tool, fitting(tool.name, identity=identity(tool)))


def gave_way(tool: Tool) -> bool:
    """Whether the tool's name is another than it would be alone."""
    if not tool.long_name:
        return False
    return fitting(tool.long_name, identity=identity(tool)) != tool.name


def hashed(tool: Tool) -> str:
    """The name under which the tool gives way to another of the same name."""
    return _with_hash(tool.name, identity(tool))


def unique(
    tools: Iterable[Tool],
    *,
    reserved: Collection[str] = (),
    holders: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Tool]:
    """The same tools, in the same order, each with a name of its own.

    Tools whose names are unique are the same objects. Who keeps a name that several want: whoever
    held it before, by identity; else a tool declared under it before one whose name was derived
    from a server's; of several declared ones, the first. When only derived names meet, none keeps
    it. So a name that a model has seen never comes to mean another tool.
    """
    found = tuple(tools)
    names = [tool.name for tool in found]
    counts = Counter(names)
    keepers: dict[str, int] = {}
    for position, (tool, name) in enumerate(zip(found, names, strict=True)):
        is_declared = not tool.origin_name or tool.origin_name == name
        may_keep = is_declared or counts[name] == 1
        if name in holders:
            may_keep = holders[name] == identity(tool)
        if may_keep and name not in reserved:
            keepers.setdefault(name, position)
    if len(keepers) == len(found):
        return found
    taken = {*reserved, *keepers}
    for position, (tool, name) in enumerate(zip(found, names, strict=True)):
        if keepers.get(name) != position:
            names[position] = _unique(tool, name, taken)
            taken.add(names[position])
    return tuple(map(_renamed, found, names))


def _unique(tool: Tool, name: str, taken: Collection[str]) -> str:
    for attempt in range(len(taken) + 1):
        candidate = _with_hash(name, f"{identity(tool)}\0{attempt}" if attempt else identity(tool))
        if candidate not in taken:
            return candidate
    raise AssertionError("one of n + 1 different names is not among n")


def _with_hash(name: str, whose: str) -> str:
    digest = blake2b(whose.encode(errors="surrogatepass"), digest_size=_HASH_LENGTH // 2)
    return f"{name[: MAX_LENGTH - _HASH_LENGTH - 1]}_{digest.hexdigest()}"


def identity(tool: Tool) -> str:
    """What makes a tool the same one whatever it is called: its source, and its name there."""
    return f"{tool.source}\0{tool.local_name}"


def _renamed(tool: Tool, name: str) -> Tool:
    if name == tool.name:
        return tool
    return replace(
        tool, name=name, origin_name=tool.local_name, long_name=tool.long_name or tool.name
    )
