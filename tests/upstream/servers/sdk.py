"""A server built with the SDK, over stdio or, with `--port FILE`, over HTTP; in one era or both."""

import socket
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.message import SessionMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import Response

Context = ServerRequestContext[Any, Any]
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
BAD = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "not a token"}}}
FORM = types.ElicitRequestFormParams(message="Which city?", requested_schema=OBJECT)
bus = InMemorySubscriptionBus()
names = ["add", "ask", "hang", "cancelled", "grow", "headers", "big", "progress", "refuse"]
cancelled: list[str] = []


def text(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


async def list_tools(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    del ctx, params
    schemas = {"headers": REGION}
    tools = [types.Tool(name=name, input_schema=schemas.get(name, OBJECT)) for name in names]
    return types.ListToolsResult(tools=[*tools, types.Tool(name="bad_header", input_schema=BAD)])


async def call_tool(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "add":
            return text(str(given["a"] + given["b"]))
        case "ask":
            return await ask(ctx, params)
        case "hang":
            return await hang(ctx)
        case "progress":
            await ctx.session.report_progress(1, 2, "half")
            return text("done")
        case "grow":
            names.append(f"new{len(names)}")
            await bus.publish(ToolsListChanged())
            await ctx.session.send_tool_list_changed()
            return text("grown")
        case _:
            return other(ctx, params.name, given)


def other(ctx: Context, name: str, given: dict[str, Any]) -> types.CallToolResult:
    match name:
        case "cancelled":
            return text(",".join(cancelled))
        case "headers":
            request = ctx.request
            assert isinstance(request, Request)
            return text(request.headers.get("mcp-param-region", "none"))
        case "big":
            return text("x" * given["bytes"])
        case _:
            raise MCPError(-32042, "No, thanks.", {"why": "test"})


async def hang(ctx: Context) -> types.CallToolResult:
    try:
        await ctx.session.report_progress(1, 2, "hanging")
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        cancelled.append("hang")
        raise
    return text("")


async def ask(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        found = (params.input_responses or {}).get("city")
        if found is None:
            return types.InputRequiredResult(
                input_requests={"city": types.ElicitRequest(params=FORM)}, request_state="s"
            )
        assert params.request_state == "s"
        assert isinstance(found, types.ElicitResult)
        answer = found
    else:
        answer = await ctx.session.elicit_form(
            FORM.message, FORM.requested_schema, related_request_id=ctx.request_id
        )
    return text(f"{answer.action}:{(answer.content or {}).get('city')}")


server = Server(
    "sdk",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(bus),
)


async def without_discover(read: Any, write: Any, passed_on: Any) -> None:
    async with passed_on:
        async for item in read:
            message = item.message
            if isinstance(message, types.JSONRPCRequest) and message.method == "server/discover":
                error = types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
                answer = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
                await write.send(SessionMessage(answer))
            else:
                await passed_on.send(item)


async def over_stdio(*, only_handshake: bool) -> None:
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write), anyio.create_task_group() as group:
        if only_handshake:
            send, receive = anyio.create_memory_object_stream[Any]()
            group.start_soon(without_discover, read, write, send)
            await server.run(receive, write, options)
        else:
            await server.run(read, write, options)


def over_http(port_file: Path, *, only_handshake: bool) -> None:
    app = server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != b"Bearer key":
            await Response(status_code=401)(scope, receive, send)
        elif only_handshake and headers.get(b"mcp-protocol-version") == b"2026-07-28":
            await Response(status_code=404)(scope, receive, send)
        else:
            await app(scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(guarded, log_level="error", lifespan="on", timeout_graceful_shutdown=1)
    draft = port_file.with_suffix(".new")
    draft.write_text(str(listener.getsockname()[1]), encoding="utf-8")
    draft.replace(port_file)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    is_old = "--handshake" in sys.argv
    if "--port" in sys.argv:
        over_http(Path(sys.argv[sys.argv.index("--port") + 1]), only_handshake=is_old)
    else:
        anyio.run(partial(over_stdio, only_handshake=is_old))
