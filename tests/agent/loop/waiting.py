"""A tool that takes as long as it is let."""

from collections.abc import Sequence

import anyio

from tooldrawer import Tool, ToolCall, ToolResult


class Patient:
    """A toolset whose one tool waits until it is cancelled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.started = anyio.Event()
        self.was_cancelled = False
        self._tools = (Tool(name="mcp_slow_wait", description="Wait.", source=name),)

    def tools(self) -> Sequence[Tool]:
        return self._tools

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        del tool, call
        self.started.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.was_cancelled = True
        raise AssertionError
