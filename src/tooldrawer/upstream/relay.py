"""The SDK's session as a relay needs it: what passes through it is neither checked nor lost."""

import logging
from collections.abc import Callable, Mapping
from contextvars import Context
from importlib.metadata import version
from typing import Any, cast

import anyio
import anyio.abc
import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.dispatcher import (
    CallOptions,
    DispatchContext,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
)
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import MessageMetadata, SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import BEHIND, EndClient
from tooldrawer.upstream.dispatcher import LineDispatcher
from tooldrawer.upstream.questions import METHODS, ROOTS, Questions
from tooldrawer.upstream.request_rate import RequestRate
from tooldrawer.upstream.turns import Ambiguous, Flight, Turns

CHANGES = (
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
)
_ASKABLE = ("elicitation", "sampling", "roots")
_LOGGED = "notifications/message"
_RESERVED = "io.modelcontextprotocol/"
MOST_ASKED = 1000
"""Requests of a server that are not answered yet; before the next one is read, it waits."""
_MOST_SHOWN = 1000
"""Lines that a server logged and a client has not taken yet; more of them are lost."""
_logger = logging.getLogger(__name__)
Noticed = Callable[[str, JsonObject], None]


def _hush() -> None:
    """Keep the SDK's client from writing to stderr about what a server does.

    It logs every malformed message and every lost stream with a traceback, so that one bad server
    fills the terminal. What matters of it is in the upstream's status and events. A level that
    somebody chose stays.
    """
    # The HTTP client tells every address, with the key that may be in it, at the level of news.
    levels = {"client": "CRITICAL", "mcp.client": "CRITICAL", "httpx2": "WARNING"}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(level)
    # Said of a server that does not read, once for every call that was given up.
    logging.getLogger("mcp.shared.jsonrpc_dispatcher").addFilter(
        lambda record: "transport write blocked" not in str(record.msg)
    )


_hush()


class RelayDispatcher(JSONRPCDispatcher):
    """The SDK's dispatcher, which also tells when the other side is gone."""

    def __init__(
        self,
        reading: ReadStream[SessionMessage | Exception],
        writing: WriteStream[SessionMessage],
        *,
        rate: RequestRate,
    ) -> None:
        super().__init__(reading, writing)
        self.ended = anyio.Event()
        self._room = anyio.Semaphore(MOST_ASKED)
        self._rate = rate

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Read until there is nothing more, then say so."""
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self.ended.set()

    async def _dispatch_request(
        self,
        req: types.JSONRPCRequest,
        metadata: MessageMetadata,
        on_request: OnRequest,
        sender_ctx: Context | None,
    ) -> None:
        if not self._rate.admits_one():
            return
        # A server that asks and does not read the answers would otherwise fill the memory.
        await self._room.acquire()
        await super()._dispatch_request(req, metadata, on_request, sender_ctx)

    async def _handle_request(
        self,
        req: types.JSONRPCRequest,
        dctx: Any,
        scope: anyio.CancelScope,
        on_request: OnRequest,
    ) -> None:
        try:
            await super()._handle_request(req, dctx, scope, on_request)
        finally:
            self._room.release()


class RelaySession(ClientSession):
    """One MCP session in either era, in raw JSON."""

    def __init__(
        self,
        dispatcher: RelayDispatcher | LineDispatcher,
        *,
        server: str,
        turns: Turns,
        noticed: Noticed,
        is_tied: bool,
    ) -> None:
        super().__init__(
            dispatcher=dispatcher,
            client_info=types.Implementation(name="tooldrawer", version=version("tooldrawer")),
        )
        self.ended = dispatcher.ended
        self.questions = Questions(server)
        self._server = server
        self._turns = turns
        self._noticed = noticed
        self._shown_now = 0
        self._is_tied = is_tied
        """Whether what the server says about a call comes in that call's context: over HTTP."""

    @property
    def is_modern(self) -> bool:
        """Whether it speaks 2026-07-28 or later, where there is no handshake."""
        return self.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def raw(
        self,
        method: str,
        params: JsonObject,
        *,
        flight: Flight | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """The answer as it came, without the server's own name tag.

        Raises:
            MCPError: The server refused, or is gone.
        """
        sent = dict(params)
        data: dict[str, Any] = {"method": method, "params": sent}
        if flight is not None and (meta := self._forwarded(flight)):
            sent["_meta"] = {**meta, **cast("JsonObject", sent.get("_meta") or {})}
        options: CallOptions = {}
        self._stamp(data, options)
        if flight is not None and self.is_modern:
            # The server must judge by what the client at the end can do, not by what we can.
            able: JsonObject = {} if flight.client is None else flight.client.capabilities
            declared = {name: able[name] for name in _ASKABLE if name in able}
            data["params"]["_meta"][types.CLIENT_CAPABILITIES_META_KEY] = declared
        if on_progress is not None:
            options["on_progress"] = on_progress
        return _untagged(await self._dispatcher.send_raw_request(method, data["params"], options))

    def introduction(self) -> JsonObject:
        """The params of `initialize`."""
        able = self._build_capabilities(LATEST_HANDSHAKE_VERSION)
        return {
            "protocolVersion": LATEST_HANDSHAKE_VERSION,
            "capabilities": able.model_dump(by_alias=True, mode="json", exclude_none=True),
            "clientInfo": self._client_info.model_dump(by_alias=True, exclude_none=True),
        }

    def learn_headers(self, name: str, schema: JsonObject) -> str:
        """Note which arguments of a tool travel as headers too; why that is impossible, if so."""
        if not self.is_modern:
            return ""
        self._x_mcp_header_maps.pop(name, None)
        if (reason := find_invalid_x_mcp_header(schema)) is not None:
            return reason
        if found := x_mcp_header_map(schema):
            self._x_mcp_header_maps[name] = found
        return ""

    def _forwarded(self, flight: Flight) -> dict[str, Any]:
        """Of the end client's `_meta` all that is not between it and us."""
        if flight.client is None:
            return {}
        return {
            key: value
            for key, value in flight.client.meta.items()
            if key != "progressToken"
            and (
                not key.startswith(_RESERVED)
                or (self.is_modern and key == types.LOG_LEVEL_META_KEY)
            )
        }

    def _build_capabilities(self, version: str) -> types.ClientCapabilities:
        # All of them: which client will be behind a call is not known yet. One that cannot answer
        # declines. `elicitation` has both modes spelled out; an empty one means forms only.
        del version
        return types.ClientCapabilities(
            sampling=types.SamplingCapability(),
            elicitation=types.ElicitationCapability(
                form=types.FormElicitationCapability(), url=types.UrlElicitationCapability()
            ),
            roots=types.RootsCapability(),
        )

    async def _on_request(
        self,
        dctx: DispatchContext[TransportContext],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        del dctx
        if method == "ping":
            return {}
        if method not in METHODS or self.is_modern:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", method)
        # Over HTTP the question comes with the answer's stream, in the context of its call. Over
        # pipes nothing ties them together, and the context is the supervisor's.
        try:
            flight = self._turns.whose(BEHIND.get())
        except Ambiguous:
            self._turns.take_turns()
            if method == ROOTS:  # no folders at all would be an answer, and a wrong one
                raise MCPError(types.INVALID_REQUEST, "Several clients are being served.") from None
            flight = None
        if flight is None:
            return dict(await self.questions.pushed(method, params or {}, None))
        async with self._turns.stepped_aside(flight):
            answer = await self.questions.pushed(method, params or {}, flight)
        return dict(answer)

    def _intercept_notification(self, method: str, params: Mapping[str, Any] | None) -> bool:
        # Whose line it is, is decided in the order of arrival: a moment later the call that it
        # belongs to may be over, and another client's the only one.
        if method == _LOGGED and not self._is_tied:
            self._show(self._turns.reader(), params or {})
            return True
        return super()._intercept_notification(method, params)

    async def _on_notify(
        self,
        dctx: DispatchContext[TransportContext],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> None:
        del dctx
        if method in CHANGES:
            self._noticed(method, params or {})
        elif method == _LOGGED:
            self._show(BEHIND.get() or self._turns.reader(), params or {})

    def _show(self, client: EndClient | None, params: JsonObject) -> None:
        if client is None or self._task_group is None or self._shown_now >= _MOST_SHOWN:
            return
        self._shown_now += 1
        self._task_group.start_soon(self._log, client, params)

    async def _log(self, client: EndClient, params: JsonObject) -> None:
        logger = params.get("logger")
        name = f"{self._server}/{logger}" if isinstance(logger, str) else self._server
        try:
            await client.log({**params, "logger": name})
        except Exception:  # the boundary to whoever shows it
            _logger.debug("A line that %r logged could not be shown.", self._server, exc_info=True)
        finally:
            self._shown_now -= 1


def _untagged(result: dict[str, Any]) -> dict[str, Any]:
    """Without the server's identity, which a client would take for ours."""
    meta = result.get("_meta")
    if not isinstance(meta, dict) or types.SERVER_INFO_META_KEY not in meta:
        return result
    kept = {k: v for k, v in cast("JsonObject", meta).items() if k != types.SERVER_INFO_META_KEY}
    rest = {key: value for key, value in result.items() if key != "_meta"}
    return {**rest, "_meta": kept} if kept else rest
