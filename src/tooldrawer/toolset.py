"""The one interface that everything which provides tools satisfies."""

from collections.abc import Sequence
from typing import Protocol

from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.option_checks import Expected
from tooldrawer.tool import Tool


def keeps_time(toolset: "Toolset") -> bool:
    """Whether the toolset sees to the time limit itself; those that say nothing do not."""
    return getattr(toolset, "keeps_time", False) is True


def has_known_tools(toolset: "Toolset") -> bool:
    """Whether its tools are known; a server may not have listed them yet."""
    return getattr(toolset, "is_known", True) is True


def is_toolset(value: object) -> bool:
    """Whether an object has what a toolset has; a class of toolsets is not one."""
    has_methods = all(callable(getattr(value, name, None)) for name in ("tools", "run"))
    return has_methods and hasattr(value, "name") and not isinstance(value, type)


def stops_when_cancelled(toolset: "Toolset", tool: Tool) -> bool:
    """Whether the work of a call ends when the call is cancelled; unknown counts as no."""
    answer = getattr(toolset, "stops_when_cancelled", None)
    return callable(answer) and answer(tool) is True


class Toolset(Protocol):
    """A named group of tools from one origin, able to list and to run them.

    One whose `keeps_time` is true ends its calls in time by itself. A server's tool may put a
    question to a person, and only the toolset knows how long that took.

    One that can guarantee that cancelling a call ends its work has a method
    `stops_when_cancelled(tool) -> bool`. Without it, a model is told that a call which timed out
    may still be running.
    """

    @property
    def name(self) -> str:
        """Unique in a registry."""
        ...

    def tools(self) -> Sequence[Tool]:
        """The tools offered now. Never waits: a server answers with what it last listed.

        An unchanged list is the same object, so that an unchanged catalog costs nothing.
        """
        ...

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Run one of its tools. Cancelling this call cancels the tool.

        Raises:
            InvalidArguments: The arguments cannot be used; nothing ran.
            ToolFailed: The tool could not be reached, or broke.
        """
        ...


TOOLSETS = Expected(
    "a list of toolsets such as FunctionToolset('notes', [put])",
    lambda value: isinstance(value, tuple) and all(map(is_toolset, value)),  # pyright: ignore[reportUnknownArgumentType]
)
