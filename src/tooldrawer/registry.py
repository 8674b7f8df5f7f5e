"""All toolsets of the process, and which of them runs a tool."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

from tooldrawer.errors import BridgeNameTaken, ToolsetBroken, ToolsetTaken, ToolsetUnknown
from tooldrawer.naming import fitted
from tooldrawer.patterns import similar_servers
from tooldrawer.tool import UPSTREAM_PREFIX, ServerNaming, Tool
from tooldrawer.toolset import Toolset

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Snapshot:
    """Everything registered at one moment. The same object for as long as nothing changes."""

    generation: int
    toolsets: dict[str, Toolset]
    listed: tuple[tuple[Tool, ...], ...]
    """What each toolset offered, as it gave it."""
    tools: tuple[Tool, ...]
    """In registration order, each under a name that providers accept."""
    similar: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """For the toolset of each server, the servers whose names begin like its own."""

    def naming(self, toolset: str) -> ServerNaming:
        """How the names of what `toolset` offers are made."""
        own = getattr(self.toolsets.get(toolset), "naming", None)
        naming = own if isinstance(own, ServerNaming) else ServerNaming()
        return replace(naming, similar=self.similar.get(toolset, ()))

    def listed_by(self, toolset: str) -> tuple[Tool, ...]:
        """What `toolset` offered."""
        return dict(zip(self.toolsets, self.listed, strict=True)).get(toolset, ())

    def owner(self, tool: Tool) -> Toolset:
        """The toolset that runs `tool`."""
        return self.toolsets[tool.source]


class Registry:
    """Everything that could be called, before any scope is applied.

    Threads and tasks see the state before a change or after it, never between: the toolsets are
    one immutable-by-convention dict that is replaced as a whole.
    """

    def __init__(self, toolsets: Iterable[Toolset] = (), *, reserved: Collection[str] = ()) -> None:
        self._reserved = frozenset(reserved)
        self._lock = Lock()
        self._toolsets: dict[str, Toolset] = {}
        self._generation = 0
        self._snapshot: Snapshot | None = None
        self._broken: set[str] = set()
        for toolset in toolsets:
            self.add(toolset)

    @property
    def generation(self) -> int:
        """Counts the changes to the set of toolsets."""
        return self._generation

    def __iter__(self) -> Iterator[Toolset]:
        """The toolsets, in registration order."""
        return iter(self._toolsets.values())

    def add(self, toolset: Toolset) -> None:
        """Offer `toolset` under its name.

        Raises:
            ToolsetTaken: The name is in use.
            BridgeNameTaken: One of its tools is called like a bridge tool.
            ToolsetBroken: It cannot list its tools.
        """
        self._check_names(toolset)
        with self._lock:
            if toolset.name in self._toolsets:
                raise ToolsetTaken(
                    f"A toolset named {toolset.name!r} is registered already; "
                    "use Registry.replace, or give this one another name."
                )
            self._publish({**self._toolsets, toolset.name: toolset})

    def replace(self, toolset: Toolset) -> None:
        """Offer `toolset` in place of the one of its name, or as a new one."""
        self._check_names(toolset)
        with self._lock:
            self._publish({**self._toolsets, toolset.name: toolset})

    def remove(self, name: str) -> None:
        """Offer the toolset `name` no longer.

        Raises:
            ToolsetUnknown: There is none of that name.
        """
        with self._lock:
            if name not in self._toolsets:
                known = ", ".join(sorted(self._toolsets)) or "none"
                raise ToolsetUnknown(
                    f"There is no toolset named {name!r}; registered are: {known}."
                )
            self._publish({key: value for key, value in self._toolsets.items() if key != name})

    def exchange(self, removed: Iterable[str], added: Iterable[Toolset]) -> None:
        """Take some toolsets away and offer others, in one step that either happens or does not.

        Raises:
            ToolsetTaken: One of the new ones has the name of one that stays.
            BridgeNameTaken: One of their tools is called like a bridge tool.
        """
        gone, new = set(removed), {toolset.name: toolset for toolset in added}
        for toolset in new.values():
            self._check_names(toolset)
        with self._lock:
            for name in (self._toolsets.keys() - gone) & new.keys():
                raise ToolsetTaken(f"A toolset named {name!r} is registered already.")
            # What is in both keeps its place, or the array's order would change with it.
            kept = {
                key: new.get(key, value)
                for key, value in self._toolsets.items()
                if key not in gone or key in new
            }
            self._publish({**kept, **new})

    def snapshot(self) -> Snapshot:
        """What every toolset offers now; the last snapshot itself when nothing changed."""
        with self._lock:
            toolsets, generation, last = self._toolsets, self._generation, self._snapshot
        listed = tuple(map(self._listed, toolsets.values()))
        if last is not None and last.generation == generation and last.listed == listed:
            return last
        similar = similar_servers(_servers(toolsets))
        tools = tuple(
            fitted(_attributed(tool, name, similar.get(name, ())))
            for name, offered in zip(toolsets, listed, strict=True)
            for tool in offered
        )
        new = Snapshot(
            generation=generation, toolsets=toolsets, listed=listed, tools=tools, similar=similar
        )
        with self._lock:
            if self._generation == generation:
                self._snapshot = new
        return new

    def _listed(self, toolset: Toolset) -> tuple[Tool, ...]:
        try:
            found = tuple(toolset.tools())
        except Exception:  # the boundary to a toolset that anyone may have written
            # One that breaks has no tools for now; the others keep theirs.
            if toolset.name not in self._broken:
                _logger.exception("The toolset %r cannot list its tools.", toolset.name)
                self._broken.add(toolset.name)
            return ()
        self._broken.discard(toolset.name)
        return found

    def _publish(self, toolsets: dict[str, Toolset]) -> None:
        self._toolsets = toolsets
        self._generation += 1

    def _check_names(self, toolset: Toolset) -> None:
        try:
            names = [tool.name for tool in toolset.tools()]
        except Exception as error:  # the boundary to a toolset that anyone may have written
            said = " ".join(str(error).split()) or type(error).__name__
            raise ToolsetBroken(
                f"The toolset {toolset.name!r} cannot list its tools: {said}."
            ) from error
        for name in names:
            if name in self._reserved:
                raise BridgeNameTaken(name, toolset=toolset.name)


def _servers(toolsets: Iterable[str]) -> list[str]:
    """The toolsets that are MCP servers."""
    return [name for name in toolsets if name.startswith(UPSTREAM_PREFIX)]


def _attributed(tool: Tool, toolset: str, similar: tuple[str, ...]) -> Tool:
    """The tool as its toolset's that lists it, whatever it says itself: scopes depend on it."""
    if tool.source != toolset:
        tool = replace(tool, source=toolset)
    if tool.naming.similar != similar:
        tool = replace(tool, naming=replace(tool.naming, similar=similar))
    return tool
