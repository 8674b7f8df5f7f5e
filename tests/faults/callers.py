"""A client that calls tools through the bridge, and one that never stops doing so."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.faults.waiting import LONG
from tooldrawer.tool import JsonObject

PROMPT = 30.0
"""Seconds in which a healthy server's answer must be here, whatever the others do."""


class Caller:
    """A client that is connected."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(
        self, name: str, arguments: JsonObject | None = None, **more: Any
    ) -> CallToolResult:
        """Call a tool by its server's and its own name: `notes/add`."""
        with anyio.fail_after(LONG):
            return await self.client.call_tool(
                "tool_call", {"name": name, "arguments": arguments or {}}, **more
            )

    async def text(self, name: str, arguments: JsonObject | None = None) -> str:
        """The text of its result."""
        return text(await self.call(name, arguments))

    async def search(self, query: str) -> str:
        """What the search for a tool replies."""
        return text(await self.client.call_tool("tool_search", {"query": query}))

    async def beat(self, number: int) -> None:
        """Make a call that only this number answers."""
        with anyio.fail_after(PROMPT):
            result = await self.call("well/echo", {"number": number})
        assert result.structured_content == {"number": number}

    @asynccontextmanager
    async def beating(self) -> AsyncGenerator[None]:
        """Within the block, one call of the healthy server after the other is answered promptly."""
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await self.beat(beats)
                beats += 1
                await anyio.sleep(0.05)  # whatever is tested needs the processor too

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beat)
            yield
            tasks.cancel_scope.cancel()
        await self.beat(beats)


def text(result: CallToolResult) -> str:
    """The first text in a result."""
    return next(block.text for block in result.content if isinstance(block, TextContent))
