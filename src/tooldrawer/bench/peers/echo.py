"""A small MCP server whose tools take no time, so that all of a call's time is the way there."""

import json
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

_MESSAGE = {
    "type": "object",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
}
_RECORDS = json.dumps(
    [{"id": at, "title": f"Record {at}", "tags": ["a", "b"], "open": True} for at in range(315)]
)
"""About 20 KB, the size of a list of issues."""


async def _list_tools(_: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Tool(name="echo", description="Give a message back.", input_schema=_MESSAGE),
            Tool(name="records", description="Give many records back.", input_schema=_MESSAGE),
        ]
    )


async def _call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult:
    message = str((params.arguments or {}).get("message", ""))
    given = [TextContent(type="text", text=message)]
    if params.name == "records":
        given.append(TextContent(type="text", text=_RECORDS))
    return CallToolResult(content=list(given))


server: Server[Any] = Server("echo", on_list_tools=_list_tools, on_call_tool=_call_tool)


def app() -> Any:
    """The server over HTTP, for a web server to run."""
    return server.streamable_http_app()


async def serve() -> None:
    """Serve over standard input and output until the input ends."""
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
