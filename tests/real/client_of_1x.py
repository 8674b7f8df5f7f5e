"""A client of the SDK's 1.x line, run by an interpreter that has it.

Its argument says how to reach the gateway, as JSON: {"url": ...} or {"command", "args", "env"}. It
prints what it saw, as JSON.
"""
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

import json
import sys
from contextlib import AsyncExitStack

import anyio
import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def answer(_context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})


async def call(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    return "\n".join(part.text for part in result.content if part.type == "text")


async def converse(reach):
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        if "url" in reach:
            read, write, *_ = await enter(streamable_http_client(reach["url"]))
        else:
            read, write = await enter(stdio_client(StdioServerParameters(**reach)))
        session = await enter(ClientSession(read, write, elicitation_callback=answer))
        begun = await session.initialize()
        listed = await session.list_tools()
        return {
            "protocol": begun.protocolVersion,
            "tools": [tool.name for tool in listed.tools],
            "search": json.loads(await call(session, "tool_search", query="echo a message back")),
            "echo": await call(
                session, "tool_call", name="mcp_everything_echo", arguments={"message": "hi"}
            ),
            "asked": await call(
                session, "tool_call", name="mcp_everything_trigger-elicitation-request"
            ),
        }


async def main():
    sys.stdout.write(json.dumps(await converse(json.loads(sys.argv[1]))))


anyio.run(main)
