"""All toolsets of the process, and which of them runs a tool."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from threading import Lock

from tooldrawer.errors import BridgeNameTaken, ToolsetTaken, ToolsetUnknown
from tooldrawer.naming import named
from tooldrawer.tool import Tool
from tooldrawer.toolset import Toolset


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Snapshot:
    """Everything registered at one moment. The same object for as long as nothing changes."""

    generation: int
    toolsets: dict[str, Toolset]
    listed: tuple[tuple[Tool, ...], ...]
    """What each toolset offered, as it gave it."""
    tools: tuple[Tool, ...]
    """In registration order, each under a name of its own."""

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

    def snapshot(self) -> Snapshot:
        """What every toolset offers now; the last snapshot itself when nothing changed."""
        with self._lock:
            toolsets, generation, last = self._toolsets, self._generation, self._snapshot
        listed = tuple(tuple(toolset.tools()) for toolset in toolsets.values())
        if last is not None and last.generation == generation and last.listed == listed:
            return last
        tools = tuple(named(chain.from_iterable(listed), reserved=self._reserved))
        new = Snapshot(generation=generation, toolsets=toolsets, listed=listed, tools=tools)
        with self._lock:
            if self._generation == generation:
                self._snapshot = new
        return new

    def _publish(self, toolsets: dict[str, Toolset]) -> None:
        self._toolsets = toolsets
        self._generation += 1

    def _check_names(self, toolset: Toolset) -> None:
        for tool in toolset.tools():
            if tool.name in self._reserved:
                raise BridgeNameTaken(tool.name, toolset=toolset.name)
