"""One client over pipes: the SDK serves it, but calls of tools take a short way.

The SDK's way of a request is a stream, a task, four models and a chain of middleware long, and half
of the time that a call through the gateway took. A call that looks as every client makes it goes
straight to its handler; whatever is unusual about one is the SDK's to judge.
"""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast, get_args

import anyio
from mcp import MCPError
from mcp.server.connection import Connection, NotifyOnlyOutbound
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import ServerRunner, aclose_shielded, serve_one
from mcp.server.session import ServerSession
from mcp.shared.dispatcher import DispatchContext, as_request_id
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    INVALID_REQUEST,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    LoggingLevel,
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
_LEVELS = (None, *get_args(LoggingLevel))
_MOST_BEFORE = 8
"""Messages before the first request that are kept, as many as the SDK keeps."""


class Express:
    """Answers one client, in the era that its first request opens."""

    def __init__(self, server: Server[Any], handlers: Handlers, sealed: Sealed) -> None:
        self._server, self._handlers, self._sealed = server, handlers, sealed
        self._stamp = {SERVER_INFO_META_KEY: server.server_info_stamp}
        self._dispatcher: LineDispatcher
        self._runner: ServerRunner[Any]
        """Of the handshake era."""
        self._is_modern = False
        self._envelope: tuple[object, ...] = ()
        self._connection: Connection | None = None
        """What the SDK made of the last envelope of the stateless era: it is always the same."""

    async def serve(self, reader: LineReader, writer: LineWriter) -> None:
        """Serve until the client is gone."""
        async with reader, writer:
            lead = await _lead(reader)
            self._is_modern = bool(lead) and _opens_stateless(lead[-1])
            self._dispatcher = LineDispatcher(
                reader,
                writer,
                lead=lead,
                inline=frozenset(("initialize",)),
                can_ask=not self._is_modern,
            )
            if self._is_modern:
                await self._dispatcher.run(self._stateless, self._told)
            else:
                await self._shake_hands()

    async def _shake_hands(self) -> None:
        options = self._server.create_initialization_options()
        connection = Connection.for_loop(self._dispatcher)
        self._runner = ServerRunner(self._server, connection, {}, init_options=options)
        try:
            await self._dispatcher.run(self._handshaken, self._runner.on_notify)
        finally:
            await aclose_shielded(connection)

    async def _handshaken(self, inbound: Inbound, method: str, params: Params) -> Raw:
        if method != "initialize" and _has_envelope(params):
            raise MCPError(
                INVALID_REQUEST,
                "This connection began with a handshake; a request with an envelope of 2026-07-28 "
                "needs one of its own.",
            )
        connection = self._runner.connection
        if _is_usual(method, params) and connection.client_params is not None:
            return await self._called(inbound, connection, params or {})
        return await self._runner.on_request(inbound, method, params)

    async def _stateless(self, inbound: Inbound, method: str, params: Params) -> Raw:
        if method == "initialize":
            raise _too_late(params)
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
        result = await serve_one(
            self._server, inbound, method, params, connection=connection, lifespan_state={}
        )
        # Not before: the SDK takes any envelope for one, and refuses a wrong one only here.
        self._envelope, self._connection = envelope, connection
        return result

    async def _told(self, inbound: Inbound, method: str, params: Params) -> None:
        connection = Connection.from_envelope(
            LATEST_MODERN_VERSION, None, None, outbound=NotifyOnlyOutbound(self._dispatcher)
        )
        try:
            await ServerRunner(self._server, connection, {}).on_notify(inbound, method, params)
        finally:
            await aclose_shielded(connection)

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
        return self._stamped(result) if self._is_modern else result

    async def _call(self, ctx: Context) -> Raw:
        params = ctx.params or {}
        call = NamedCall(name=params["name"], arguments=params.get("arguments"))
        return await self._handlers.call_tool(ctx, call)

    def _stamped(self, result: Raw) -> Raw:
        meta = _meta(result)
        if meta.get(SERVER_INFO_META_KEY) is None:
            meta = {**meta, **self._stamp}
        return {"resultType": "complete", **result, "_meta": meta}


async def _lead(reader: LineReader) -> deque[Raw]:
    """What comes up to the first request, which decides the era; of a flood only the beginning."""
    found: deque[Raw] = deque()
    with suppress(anyio.ClosedResourceError):
        async for message in reader:
            if _is_request(message):
                found.append(message)
                break
            if len(found) < _MOST_BEFORE:
                found.append(message)
    return found


def _is_request(message: Raw) -> bool:
    return "method" in message and "id" in message


def _opens_stateless(message: Raw) -> bool:
    is_enveloped = _is_request(message) and _has_envelope(message.get("params"))
    return is_enveloped and message["method"] != "initialize"


def _too_late(params: Params) -> MCPError:
    data: Raw = {"supported": list(MODERN_PROTOCOL_VERSIONS)}
    requested = (params or {}).get("protocolVersion")
    if isinstance(requested, str):
        data["requested"] = requested
    return MCPError(
        UNSUPPORTED_PROTOCOL_VERSION,
        "This connection began without a handshake; one is not accepted on it any more.",
        data,
    )


def _meta(of: Params) -> Raw:
    found = (of or {}).get("_meta")
    return cast("Raw", found) if isinstance(found, dict) else {}


def _has_envelope(params: Params) -> bool:
    return PROTOCOL_VERSION_META_KEY in _meta(params)


def _envelope(params: Params) -> tuple[object, ...]:
    meta = _meta(params)
    return tuple(meta.get(key) for key in _ENVELOPE)


def _is_usual(method: str, params: Params) -> bool:
    """Whether it is a call as every client makes it: a name, arguments, and nothing else."""
    if method != _CALL or params is None or not params.keys() <= _USUAL:
        return False
    arguments, meta = params.get("arguments"), params.get("_meta")
    is_sound = isinstance(params.get("name"), str) and isinstance(meta, (dict, type(None)))
    return is_sound and isinstance(arguments, (dict, type(None))) and _is_plain(_meta(params))


def _is_plain(meta: Raw) -> bool:
    """Whether there is nothing in it, besides an envelope, that the SDK could refuse."""
    token, level = meta.get("progressToken", ""), meta.get(LOG_LEVEL_META_KEY)
    return as_request_id(token) is not None and level in _LEVELS
