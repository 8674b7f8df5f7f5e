"""The tool that hands a task to a subagent."""

from dataclasses import dataclass
from typing import Protocol

from tooldrawer.agent.core.calling import session_of_call
from tooldrawer.call import ToolResult
from tooldrawer.errors import InvalidArguments

_MOST_TOOLSETS, _LONGEST = 100, 200
"""Each is a pattern that every tool is held against, while nothing else runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """A task for a subagent, as a model described it."""

    task: str
    toolsets: tuple[str, ...] | None = None
    """What it may use, within what its parent may; nothing said is all of that."""
    context: str | None = None
    max_turns: int | None = None


class Delegate(Protocol):
    """Runs subagents."""

    async def __call__(self, session: str, task: Delegation) -> ToolResult:
        """What the subagent of `session` came to."""
        ...


class Delegations:
    """Tasks of a model, handed over."""

    def __init__(self, delegate: Delegate) -> None:
        self._delegate = delegate

    async def delegate_task(
        self,
        task: str,
        toolsets: list[str] | None = None,
        context: str | None = None,
        max_turns: int | None = None,
    ) -> ToolResult:
        """Give a task to a subagent, which knows only what you write; returns its answer.

        Args:
            task: What to do and to report
            toolsets: Only these
            context: What it must know
        """
        if not task.strip():
            raise InvalidArguments("There is no task. Describe it in /task.")
        if max_turns is not None and max_turns < 1:
            raise InvalidArguments("/max_turns starts at 1. Correct it, or leave it out.")
        if toolsets and (len(toolsets) > _MOST_TOOLSETS or max(map(len, toolsets)) > _LONGEST):
            raise InvalidArguments(
                f"/toolsets may have {_MOST_TOOLSETS} names of {_LONGEST} characters. Name fewer, "
                "or leave it out."
            )
        only = None if toolsets is None else tuple(toolsets)
        delegation = Delegation(task=task, toolsets=only, context=context, max_turns=max_turns)
        return await self._delegate(session_of_call.get(), delegation)
