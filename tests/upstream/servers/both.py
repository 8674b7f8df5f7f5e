"""A server of both eras at an address, in the process of the test, which sees what arrives.

It does what many do: whatever the era, it asks by a request of its own.
"""

import json
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tooldrawer.upstream.spec import UpstreamSpec

Context = ServerRequestContext[Any, Any]
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
NOTE = "note://1"
UNSUPPORTED = -32022


class _Server(Server[Any]):
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = NotificationOptions(tools_changed=True, prompts_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class Both:
    """What it was asked, and how it is to behave."""

    def __init__(self) -> None:
        self.address = ""
        self.hands = 0
        """How often hands were shaken, or tried to."""
        self.listings = 0
        self.levels: list[str] = []
        self.wanted: list[str] = []
        """The resources that were subscribed to, each time."""
        self.streams = 0
        """Open requests."""
        self.ears = 0
        """Those of them that only listen, in the handshake era."""
        self.refusal: Response | None = None
        """What it answers to a handshake instead."""
        self.is_old = False
        """Whether it knows the handshake only."""
        self.amnesia = Response(status_code=404)
        """What it answers in a session that it forgot."""
        self.forgotten: set[str] = set()
        """Sessions that it knows nothing of any more."""
        self._names = ["ask", "way", "say", "grow", "announce", "touch", "hang"]
        self._sessions: dict[str, Any] = {}
        self._listening: set[anyio.CancelScope] = set()
        self._bus = InMemorySubscriptionBus()
        self._server = _Server(
            "both", version="1", on_subscriptions_listen=ListenHandler(self._bus)
        )
        handlers: list[tuple[str, Any, Any]] = [
            ("tools/list", types.PaginatedRequestParams, self._list),
            ("tools/call", types.CallToolRequestParams, self._call),
            ("prompts/list", types.PaginatedRequestParams, self._prompts),
            ("resources/list", types.PaginatedRequestParams, self._resources),
            ("resources/subscribe", types.SubscribeRequestParams, self._subscribe),
            ("logging/setLevel", types.SetLevelRequestParams, self._set_level),
        ]
        for method, params, handler in handlers:
            self._server.add_request_handler(method, params, handler)

    @asynccontextmanager
    async def served(self) -> AsyncGenerator[None]:
        """At an address of its own."""
        manager = StreamableHTTPSessionManager(self._server)
        inner = StreamableHTTPASGIApp(manager)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            ear = int(scope["method"] == "GET")
            self.streams, self.ears = self.streams + 1, self.ears + ear
            call = anyio.CancelScope()
            if Request(scope).headers.get("mcp-method") == "subscriptions/listen":
                self._listening.add(call)
            try:
                with call:
                    await (self._instead(Request(scope)) or inner)(scope, receive, send)
            finally:
                self._listening.discard(call)
                self.streams, self.ears = self.streams - 1, self.ears - ear

        server = _Uvicorn(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.address = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            async with manager.run(), anyio.create_task_group() as group:
                group.start_soon(server.serve, [listener])
                yield
                server.should_exit = server.force_exit = True

    def _instead(self, request: Request) -> Response | None:
        headers = request.headers
        if headers.get("mcp-session-id") in self.forgotten:
            return self.amnesia
        is_modern = headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS
        if is_modern and self.is_old:
            return Response(status_code=404)
        if request.method != "POST" or "mcp-session-id" in headers:
            return None
        if is_modern:
            return None
        self.hands += 1
        return self.refusal

    def spec(self) -> UpstreamSpec:
        """How to reach it."""
        return UpstreamSpec(name="web", url=self.address)

    def hang_up(self) -> None:
        """On whoever listens without a handshake."""
        for scope in self._listening:
            scope.cancel()

    def forget(self) -> None:
        """All sessions."""
        self.forgotten.update(self._sessions)

    async def _list(self, *_: object) -> types.ListToolsResult:
        self.listings += 1
        tools = [types.Tool(name=name, input_schema=OBJECT) for name in self._names]
        return types.ListToolsResult(tools=tools)

    async def _prompts(self, *_: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[])

    async def _resources(self, *_: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[types.Resource(name="note", uri=NOTE)])

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> dict[str, Any]:
        self._know(ctx)
        if str(params.uri) != NOTE:
            raise MCPError(types.INVALID_PARAMS, "There is no such note.")
        self.wanted.append(str(params.uri))
        return {}

    async def _set_level(self, ctx: Context, params: types.SetLevelRequestParams) -> dict[str, Any]:
        self._know(ctx)
        self.levels.append(params.level)
        return {}

    async def _call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        session = self._know(ctx)
        match params.name:
            case "ask":
                said = await self._ask(ctx)
            case "say":
                said = await self._say(ctx)
            case "hang":
                await ctx.session.report_progress(1, 2, "hanging")
                await anyio.sleep_forever()
                said = ""
            case "way":
                said = "handshake" if session else "stateless"
            case _:
                said = params.name
                await self._change(params.name)
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)])

    def _know(self, ctx: Context) -> str:
        request: Any = ctx.request
        session = str(request.headers.get("mcp-session-id", ""))
        if session:
            self._sessions[session] = ctx.session
        return session

    async def _ask(self, ctx: Context) -> str:
        try:
            answer = await ctx.session.elicit_form(
                "City?", OBJECT, related_request_id=ctx.request_id
            )
        except Exception as error:  # noqa: BLE001  as a server's author would
            return f"failed: {type(error).__name__}"
        return f"{answer.action}:{(answer.content or {}).get('city')}"

    async def _say(self, ctx: Context) -> str:
        if "info" in allowed_log_levels(ctx.protocol_version, ctx.meta):
            line = types.LoggingMessageNotificationParams(level="info", data="a line")
            await ctx.session.send_notification(
                types.LoggingMessageNotification(params=line), related_request_id=ctx.request_id
            )
        return "said"

    async def _change(self, name: str) -> None:
        """Change something, and tell it in both eras; `announce` only tells."""
        live = [self._sessions[key] for key in self._sessions.keys() - self.forgotten]
        if name == "touch":
            await self._bus.publish(ResourceUpdated(uri=NOTE))
            updated = types.ResourceUpdatedNotificationParams(uri=NOTE)
            for session in live if self.wanted else ():
                await session.send_notification(types.ResourceUpdatedNotification(params=updated))
            return
        if name == "grow":
            self._names.append(f"new{len(self._names)}")
        await self._bus.publish(ToolsListChanged())
        await self._bus.publish(PromptsListChanged())
        for session in live:
            await session.send_notification(types.ToolListChangedNotification())
            await session.send_notification(types.PromptListChangedNotification())


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def modern_only() -> Response:
    """What a server without a handshake answers to one."""
    data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    error = {"code": UNSUPPORTED, "message": "Unsupported protocol version", "data": data}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=400)


def no_such_session() -> Response:
    """What the SDKs' own servers answer in a session that is over."""
    error = {"code": -32600, "message": "Session not found"}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=404)


def out_of_order() -> Response:
    """What any server may answer for a while."""
    return Response(json.dumps("later"), status_code=503)
