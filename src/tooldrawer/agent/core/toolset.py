"""The core tools as a toolset: what an agent in a terminal works with, always direct."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import anyio

from tooldrawer.agent.core.asking import Person, Questions
from tooldrawer.agent.core.calling import session_of_call
from tooldrawer.agent.core.delegating import Delegate, Delegations
from tooldrawer.agent.core.finding import Finder
from tooldrawer.agent.core.lean import lean
from tooldrawer.agent.core.notes import Notes
from tooldrawer.agent.core.reading import Reader
from tooldrawer.agent.core.remembering import Past, Recollection
from tooldrawer.agent.core.rules import SOURCE
from tooldrawer.agent.core.shell import Shell
from tooldrawer.agent.core.todos import Todos
from tooldrawer.agent.core.workplace import Workplace
from tooldrawer.agent.core.writing import Writer
from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.errors import ToolTimedOut
from tooldrawer.functions import Function, FunctionToolset
from tooldrawer.tool import Tool

_LONGEST = 60.0
"""Seconds for everything that is only a matter of files."""
_OWN_TIME = frozenset({"terminal", "clarify", "delegate_task"})
"""A command has its own limit; a person and a subagent take as long as they take."""
_STOPPABLE = frozenset({"terminal", "search_files", "clarify", "delegate_task"})
"""Tools whose work ends with the call; the others run in threads, which cannot be stopped."""


class CoreTools:
    """Commands, files, notes, questions, subagents; what nobody stands behind is not offered."""

    name = SOURCE
    keeps_time = True

    def __init__(
        self,
        workplace: Workplace,
        *,
        person: Person | None = None,
        delegate: Delegate | None = None,
        past: Past | None = None,
        memory: Path | None = None,
    ) -> None:
        functions = (
            *_work(workplace),
            *([Function(Notes(memory).memory)] if memory else ()),
            *([Function(Questions(person).clarify, read_only=True)] if person else ()),
            *([Function(Delegations(delegate).delegate_task)] if delegate else ()),
            *([Function(Recollection(past).session_search, read_only=True)] if past else ()),
        )
        self._functions = FunctionToolset(self.name, functions)
        self._tools = tuple(
            replace(tool, parameters=lean(tool.parameters)) for tool in self._functions.tools()
        )

    def tools(self) -> Sequence[Tool]:
        """The tools, always the same."""
        return self._tools

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Run one of them for the session of the call.

        Raises:
            CallRejected: The arguments cannot be used, or lead out of the workplace.
            ToolFailed: It broke, or took too long.
        """
        limit = inf if tool.local_name in _OWN_TIME else _LONGEST
        before = session_of_call.set(call.session)
        try:
            with anyio.move_on_after(limit):
                return await self._functions.run(tool, call)
        finally:
            session_of_call.reset(before)
        raise ToolTimedOut.after(limit, tool.name, is_stopped=self.stops_when_cancelled(tool))

    def stops_when_cancelled(self, tool: Tool) -> bool:
        """Whether the work of a call ends when the call is cancelled."""
        return tool.local_name in _STOPPABLE


def _work(workplace: Workplace) -> Iterator[Function]:
    """What needs nobody else."""
    writer = Writer(workplace)
    yield Function(Shell(workplace).terminal, destructive=True)
    yield Function(Reader(workplace).read_file, read_only=True)
    yield Function(writer.write_file, destructive=True)
    yield Function(writer.patch, destructive=True)
    yield Function(Finder(workplace).search_files, read_only=True)
    yield Function(Todos().todo, read_only=True)
