"""One client over pipes: the SDK serves it, but calls of tools take a short way.

The SDK's way of a request is a stream, a task, four models and a chain of middleware long, and half
of the time that a call through the gateway took. A call that looks as every client makes it goes
straight to its handler; whatever is unusual about one is the SDK's to judge.
"""

from collections.abc import Mapping
from typing import Any, cast

from mcp import MCPError
from mcp.server.connection import Connection, NotifyOnlyOutbound
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import ServerRunner, serve_one
from mcp.server.session import ServerSession
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

from tooldrawer.gateway.clients import Context
from tooldrawer.gateway.handlers import Handlers, NamedCall
from tooldrawer.gateway.lists import Raw
from tooldrawer.gateway.server import Sealed
from tooldrawer.upstream.dispatcher import LineDispatcher
from tooldrawer.upstream.lines import LineReader, LineWriter

Params = Mapping[str, Any] | None
Inbound = DispatchContext[TransportContext]
_CALL = "tools/call"
_USUAL = frozenset(("name", "arguments", "_meta"))
_ENVELOPE = (PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY)


class Express:
    """Answers one client, in the era that its first request opens."""

    def __init__(self, server: Server[Any], handlers: Handlers, sealed: Sealed) -> None:
        self._server, self._handlers, self._sealed = server, handlers, sealed
        self._stamp = {SERVER_INFO_META_KEY: server.server_info_stamp}
        self._dispatcher: LineDispatcher
        self._runner: ServerRunner[Any] | None = None
        """Of the handshake era."""
        self._is_modern = False
        self._envelope: tuple[object, ...] = ()
        self._connection: Connection | None = None
        """What the SDK made of the last envelope of the stateless era: it is always the same."""

    async def serve(self, reader: LineReader, writer: LineWriter) -> None:
        """Serve until the client is gone."""
        self._dispatcher = LineDispatcher(reader, writer, inline=frozenset(("initialize",)))
        try:
            await self._dispatcher.run(self._on_request, self._on_notify)
        finally:
            if self._runner is not None:
                await self._runner.connection.exit_stack.aclose()

    async def _on_request(self, inbound: Inbound, method: str, params: Params) -> Raw:
        is_enveloped = method != "initialize" and _has_envelope(params)
        if self._runner is None and not self._is_modern:
            self._open(modern=is_enveloped)
        if self._is_modern:
            return await self._stateless(inbound, method, params)
        if is_enveloped:
            raise MCPError(
                INVALID_REQUEST,
                "This connection began with a handshake; a request with an envelope of 2026-07-28 "
                "needs one of its own.",
            )
        assert self._runner is not None
        connection = self._runner.connection
        if _is_usual(method, params) and connection.client_params is not None:
            return await self._called(inbound, connection, params or {})
        return await self._runner.on_request(inbound, method, params)

    def _open(self, *, modern: bool) -> None:
        self._is_modern = modern
        if not modern:
            options = self._server.create_initialization_options()
            connection = Connection.for_loop(self._dispatcher)
            self._runner = ServerRunner(self._server, connection, {}, init_options=options)

    async def _stateless(self, inbound: Inbound, method: str, params: Params) -> Raw:
        if method == "initialize":
            supported = {"supported": list(MODERN_PROTOCOL_VERSIONS)}
            raise MCPError(
                UNSUPPORTED_PROTOCOL_VERSION,
                "This connection began without a handshake; one is not accepted on it any more.",
                {**supported, "requested": (params or {}).get("protocolVersion")},
            )
        envelope = _envelope(params)
        if self._connection and envelope == self._envelope and _is_usual(method, params):
            return await self._called(inbound, self._connection, params or {})
        route = classify_inbound_request({"method": method, "params": params})
        if isinstance(route, InboundLadderRejection):
            raise MCPError(route.code, route.message, route.data)
        connection = Connection.from_envelope(
            route.protocol_version,
            route.client_info,
            route.client_capabilities,
            outbound=NotifyOnlyOutbound(self._dispatcher),
        )
        self._envelope, self._connection = envelope, connection
        return await serve_one(
            self._server, inbound, method, params, connection=connection, lifespan_state={}
        )

    async def _called(self, inbound: Inbound, connection: Connection, params: Params) -> Raw:
        """A call on the short way, with all that the long one does for a sound request."""
        meta = cast("Any", (params or {}).get("_meta"))
        ctx = ServerRequestContext[Any, Any](
            session=ServerSession(inbound, connection, request_meta=meta),
            lifespan_context={},
            protocol_version=connection.protocol_version,
            method=_CALL,
            params=params,
            request_id=inbound.request_id,
            meta=meta,
        )
        result = cast("Raw", await self._sealed(ctx, self._call))
        if self._is_modern:
            result.setdefault("resultType", "complete")
            result["_meta"] = {**(result.get("_meta") or {}), **self._stamp}
        return result

    async def _call(self, ctx: Context) -> Raw:
        params = ctx.params or {}
        call = NamedCall(name=params["name"], arguments=params.get("arguments"))
        return await self._handlers.call_tool(ctx, call)

    async def _on_notify(self, inbound: Inbound, method: str, params: Params) -> None:
        if self._runner is not None:
            await self._runner.on_notify(inbound, method, params)
            return
        connection = Connection.from_envelope(
            LATEST_MODERN_VERSION, None, None, outbound=NotifyOnlyOutbound(self._dispatcher)
        )
        await ServerRunner(self._server, connection, {}).on_notify(inbound, method, params)


def _has_envelope(params: Params) -> bool:
    meta = (params or {}).get("_meta")
    return isinstance(meta, Mapping) and PROTOCOL_VERSION_META_KEY in meta


def _envelope(params: Params) -> tuple[object, ...]:
    meta = cast("Mapping[str, Any]", (params or {}).get("_meta") or {})
    return tuple(meta.get(key) for key in _ENVELOPE)


def _is_usual(method: str, params: Params) -> bool:
    """Whether it is a call as every client makes it: a name, arguments, and nothing else."""
    if method != _CALL or params is None or not params.keys() <= _USUAL:
        return False
    arguments, meta = params.get("arguments"), params.get("_meta")
    is_sound = isinstance(params.get("name"), str) and isinstance(meta, (dict, type(None)))
    return is_sound and isinstance(arguments, (dict, type(None)))
