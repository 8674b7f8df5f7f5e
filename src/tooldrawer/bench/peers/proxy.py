"""The least that a proxy can be: the SDK's server in front of the SDK's client."""

import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams


async def serve(command: str, arguments: list[str]) -> None:
    """Pass every call on to the server that the command starts."""
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        await client.list_tools()  # else the client lists before its first call

        async def list_tools(_: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
            return await client.list_tools()

        async def call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult:
            return await client.session.call_tool(params.name, params.arguments)

        server: Server[Any] = Server("proxy", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], sys.argv[2:])
