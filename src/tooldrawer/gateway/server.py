"""The MCP server that clients see, put together from the SDK's low-level parts."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from pydantic import BaseModel

from tooldrawer.gateway.clients import Context, is_modern
from tooldrawer.gateway.envelope import envelope
from tooldrawer.gateway.handlers import Handlers
from tooldrawer.gateway.introduction import Introduce
from tooldrawer.gateway.lists import Raw
from tooldrawer.gateway.parking import LIFETIME

NAME = "tooldrawer"
Handler = Callable[[Context, Any], Awaitable[Raw]]
Sealed = RequestStateBoundary


class _Server(Server[Any]):
    """The SDK's server, which says in the handshake that lists may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """The HTTP side gives no options, and would promise that nothing ever changes."""
        options = notification_options or NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def seal(handlers: Handlers) -> Sealed:
    """Middleware that lets request state out sealed only: bound to principal and request."""
    security = RequestStateSecurity(
        keys=[secrets.token_bytes(32)],
        ttl=LIFETIME,
        bind_principal=lambda ctx: handlers.principal(ctx).identity,
    )
    return RequestStateBoundary(security, default_audience=NAME)


def build(handlers: Handlers, introduce: Introduce, sealed: Sealed) -> Server[Any]:
    """The server of both eras; sealed request state, whole results, instructions by scope."""
    server = _Server(NAME, version=version("tooldrawer"), on_subscriptions_listen=handlers.listen)

    def add(method: str, params: type[BaseModel], handler: Handler) -> None:
        server.add_request_handler(method, params, _complete(handler))

    def add_list(method: str, handler: Handler) -> None:
        add(method, types.PaginatedRequestParams, _refuse_cursor(handler))

    add_list("tools/list", handlers.list_tools)
    add("tools/call", types.CallToolRequestParams, handlers.call_tool)
    add_list("prompts/list", handlers.list_prompts)
    add("prompts/get", types.GetPromptRequestParams, handlers.get_prompt)
    add_list("resources/list", handlers.list_resources)
    add_list("resources/templates/list", handlers.list_templates)
    add("resources/read", types.ReadResourceRequestParams, handlers.read_resource)
    add("resources/subscribe", types.SubscribeRequestParams, handlers.subscribe)
    add("resources/unsubscribe", types.UnsubscribeRequestParams, handlers.unsubscribe)
    add("completion/complete", types.CompleteRequestParams, handlers.complete)
    # As constructor arguments these two would warn that the stateless era has no logging.
    add("logging/setLevel", types.SetLevelRequestParams, handlers.set_level)
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, handlers.joined
    )
    server.middleware.append(sealed)
    server.middleware.append(_introducing(handlers, introduce))
    server.middleware.append(envelope)
    return server


def _refuse_cursor(handler: Handler) -> Handler:
    """Answer without a cursor only: every list is one page, so none was ever issued."""

    async def handle(ctx: Context, params: types.PaginatedRequestParams | None) -> Raw:
        if params is not None and params.cursor is not None:
            message = "This cursor was not issued here. List again without a cursor."
            raise MCPError(types.INVALID_PARAMS, message)
        return await handler(ctx, params)

    return handle


def _complete(handler: Handler) -> Handler:
    """The stateless era wants to be told that a result is all there is; before, it is unknown."""

    async def handle(ctx: Context, params: Any) -> Raw:
        result = await handler(ctx, params)
        return {"resultType": "complete", **result} if is_modern(ctx) else result

    return handle


def _introducing(handlers: Handlers, introduce: Introduce) -> ServerMiddleware[Any]:
    """Middleware that puts the scope's instructions into the answers that begin a conversation."""

    async def middleware(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method not in ("initialize", "server/discover") or not isinstance(result, Mapping):
            return result
        text = await introduce(handlers.principal(ctx).scope)
        return {**result, "instructions": text}

    return middleware
