"""A server's own list of tools as ours. One bad tool costs that tool, never its siblings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from tooldrawer.bounds.definition import BEYOND_LIST, ListRoom
from tooldrawer.naming import fitting, mcp_name
from tooldrawer.patterns import matches, tool_matches
from tooldrawer.tool import Json, JsonObject, ServerNaming, Tool
from tooldrawer.upstream.spec import UpstreamSpec

MOST_TOOLS = 20_000
_MOST_REASONS = 50
Objection = Callable[[str, JsonObject], str]
"""Why a tool with this name and schema cannot be called; nothing when it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is other than in the list before."""

    added: int
    removed: int
    changed: int

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def _no_objection(name: str, schema: JsonObject) -> str:
    del name, schema
    return ""


class Listing:
    """What a server last listed. An unchanged list is the same tuple of the same tools."""

    def __init__(self, spec: UpstreamSpec, *, template: str) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.dropped: tuple[str, ...] = ()
        """Tools that cannot be used, each with the reason."""
        self._spec = spec
        self.naming = ServerNaming(template=template)

    def read(
        self,
        definitions: Sequence[Json],
        *,
        beyond: Sequence[str] = (),
        objection: Objection = _no_objection,
    ) -> Difference:
        """Take over a new list; `beyond` names what there was no room for while it was read."""
        before = {tool.local_name: tool for tool in self.tools}
        found: dict[str, Tool] = {}
        dropped: list[str] = []
        room = ListRoom()
        for position, definition in enumerate(definitions[:MOST_TOOLS]):
            name = _name(definition) or f"tools[{position}]"
            reason = _defect(definition, objection, room) or (
                "is there twice; the first one is used" if name in found else ""
            )
            if reason:
                dropped.append(f"{name:.80}: {reason}")
                continue
            found[name] = self._tool(cast("JsonObject", definition), before.get(name))
        dropped += [f"{name}: {BEYOND_LIST}" for name in beyond]
        tools = tuple(filter(self._is_wanted, found.values()))
        difference = _difference(self.tools, tools)
        if difference or [t.name for t in tools] != [t.name for t in self.tools]:
            self.tools = tools
        self.dropped = _bounded(dropped, len(definitions))
        return difference

    def _tool(self, definition: JsonObject, old: Tool | None) -> Tool:
        if old is not None and old.raw == definition:
            return old
        plain = Tool.from_mcp(definition, source=self._spec.toolset, trusted=self._spec.trusted)
        full = mcp_name(self._spec.name, plain.name, template=self.naming.template)
        name = fitting(full, identity=f"{plain.source}\0{plain.name}")
        long_name = "" if name == full else full
        return replace(
            plain, name=name, origin_name=plain.name, long_name=long_name, naming=self.naming
        )

    def _is_wanted(self, tool: Tool) -> bool:
        spec = self._spec
        # Beside a server's entry a pattern may be just a tool's name: no other server is meant.
        is_denied = matches(tool.local_name, spec.deny) or tool_matches(
            tool, spec.deny, forbids=True
        )
        is_allowed = matches(tool.local_name, spec.allow) or tool_matches(tool, spec.allow)
        return is_allowed and not is_denied


def _name(definition: Json) -> str:
    name = definition.get("name") if isinstance(definition, Mapping) else None
    return name if isinstance(name, str) else ""


def _defect(definition: Json, objection: Objection, room: ListRoom) -> str:
    if not isinstance(definition, Mapping):
        return "is not an object"
    if not _name(definition):
        return "has no name"
    schema = definition.get("inputSchema")
    if not isinstance(schema, Mapping):
        return "has no inputSchema" if schema is None else "has an inputSchema that is no object"
    return room.find_excess(definition) or objection(_name(definition), schema)


def _difference(before: Sequence[Tool], now: Sequence[Tool]) -> Difference:
    old = {tool.local_name: tool for tool in before}
    new = {tool.local_name: tool for tool in now}
    changed = sum(1 for name, tool in new.items() if name in old and old[name] is not tool)
    return Difference(
        added=len(new.keys() - old.keys()),
        removed=len(old.keys() - new.keys()),
        changed=changed,
    )


def _bounded(reasons: list[str], listed: int) -> tuple[str, ...]:
    if listed > MOST_TOOLS:
        reasons.insert(0, f"{listed - MOST_TOOLS:,} tools: are beyond the {MOST_TOOLS:,} of a list")
    more = len(reasons) - _MOST_REASONS
    rest = [f"{more:,} more: for the like"] if more > 0 else []
    return (*reasons[:_MOST_REASONS], *rest)
