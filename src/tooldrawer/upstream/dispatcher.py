"""JSON-RPC over lines, for either end of a pipe: the SDK's `Dispatcher` without its detours.

The SDK's own passes each message through models, memory streams and tasks that a pipe does not
need. A call through the gateway crosses two pipes, so this is where most of its time went.
"""

import logging
from collections.abc import Mapping
from typing import Any, cast

import anyio
import anyio.abc
from mcp import MCPError
from mcp.shared.dispatcher import (
    CallOptions,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
    coerce_request_id,
    run_notify_intercept,
)
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import (
    cancelled_request_id_from_params,
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp.shared.message import MessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, REQUEST_TIMEOUT, ErrorData, RequestId

from tooldrawer.upstream.lines import LineReader, LineWriter, Message

_logger = logging.getLogger(__name__)
_LAST_WORDS = 1.0
"""Seconds to get out a cancellation, or the error for a request that nobody will answer."""
_MOST = 10_000
_TRANSPORT = TransportContext(kind="stdio", can_send_request=True)


class _Waiting:
    """A request of ours that has no answer yet."""

    __slots__ = ("answer", "answered", "on_progress")

    def __init__(self, on_progress: ProgressFnT | None) -> None:
        self.on_progress = on_progress
        self.answered = anyio.Event()
        self.answer: Message | None = None


class Inbound:
    """A request or notification of the other side: the SDK's `DispatchContext`."""

    __slots__ = ("_cancelled", "_dispatcher", "_is_over", "_token", "request_id", "scope")

    message_metadata: MessageMetadata = None
    transport = _TRANSPORT

    def __init__(
        self, dispatcher: "LineDispatcher", request_id: RequestId | None, token: RequestId | None
    ) -> None:
        self.request_id = request_id
        self.scope = anyio.CancelScope()
        self._dispatcher = dispatcher
        self._token = token
        self._is_over = False
        self._cancelled: anyio.Event | None = None

    @property
    def can_send_request(self) -> bool:
        """Whether the other side can still be asked something about it."""
        return not self._is_over

    @property
    def cancel_requested(self) -> anyio.Event:
        """Set when the other side no longer wants an answer."""
        if self._cancelled is None:
            self._cancelled = anyio.Event()
        return self._cancelled

    @property
    def is_cancelled(self) -> bool:
        """Whether the other side no longer wants an answer."""
        return self._cancelled is not None and self._cancelled.is_set()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Ask the other side while its request waits."""
        if self._is_over:
            raise NoBackChannelError(method)
        return await self._dispatcher.send_raw_request(method, params, opts)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Tell the other side something while its request waits."""
        if not self._is_over:
            await self._dispatcher.notify(method, params, opts)

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell the other side how far it is, if it wants to know."""
        if self._token is None:
            return
        known = {"total": total, "message": message}
        given = {key: value for key, value in known.items() if value is not None}
        told = {"progressToken": self._token, "progress": progress, **given}
        await self.notify("notifications/progress", told)

    def end(self) -> None:
        """Say no more about it."""
        self._is_over = True


class LineDispatcher:
    """Requests and notifications in both directions over a pair of line streams."""

    def __init__(
        self,
        reader: LineReader,
        writer: LineWriter,
        *,
        inline: frozenset[str] = frozenset(),
        most: int = _MOST,
    ) -> None:
        """A method in `inline` is answered before the next message is read.

        With `most` requests unanswered, no more is read: who asks and does not read the answers
        would otherwise fill the memory.
        """
        self.ended = anyio.Event()
        """Set when the other side is gone."""
        self._reader, self._writer = reader, writer
        self._inline = inline
        self._room = anyio.Semaphore(most)
        self._count = 0
        self._waiting: dict[RequestId, _Waiting] = {}
        self._in_flight: dict[RequestId, Inbound] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self._is_over = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Ask, and wait for the answer.

        Raises:
            MCPError: The other side refused, is gone, or took longer than `opts` allow.
        """
        if self._is_over:
            raise _closed()
        options: CallOptions = opts or {}
        number, on_progress = self._numbered(options), options.get("on_progress")
        sent = dict(params or {})
        if on_progress is not None:
            sent["_meta"] = {**(sent.get("_meta") or {}), "progressToken": number}
        message: Message = {"jsonrpc": "2.0", "id": number, "method": method}
        if sent:
            message["params"] = sent
        waiting, key = _Waiting(on_progress), coerce_request_id(number)
        self._waiting[key] = waiting
        try:
            await self._exchanged(message, waiting, options)
        finally:
            self._waiting.pop(key, None)
        return _result(waiting.answer)

    async def _exchanged(self, message: Message, waiting: _Waiting, options: CallOptions) -> None:
        seconds = options.get("timeout")
        try:
            if seconds is None:
                await self._writer.send(message)
                await waiting.answered.wait()
                return
            with anyio.move_on_after(seconds):
                await self._writer.send(message)
                await waiting.answered.wait()
                return
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise _closed() from None
        except anyio.get_cancelled_exc_class():
            await self._give_up(message, options, "the caller was cancelled")
            raise
        await self._give_up(message, options, f"no answer within {seconds} s")
        raise MCPError(REQUEST_TIMEOUT, f"Request {message['method']!r} timed out")

    async def _give_up(self, message: Message, options: CallOptions, reason: str) -> None:
        if options.get("cancel_on_abandon", True):
            with anyio.move_on_after(_LAST_WORDS, shield=True):
                told = {"requestId": message["id"], "reason": reason}
                await self.notify("notifications/cancelled", told)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Tell; nobody hears it when the other side is gone."""
        del opts
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = dict(params)
        await self._sent(message)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Read until the other side is gone. Whoever still waits for it then is told."""
        try:
            async with self._writer, self._reader, anyio.create_task_group() as tasks:
                self._tasks = tasks
                task_status.started()
                async for message in self._reader:
                    if "method" not in message:
                        self._resolve(message)
                    elif "id" in message:
                        await self._begin(message, on_request)
                    else:
                        self._hear(message, on_notify, on_notify_intercept)
                self._let_go()
                tasks.cancel_scope.cancel()
        except anyio.ClosedResourceError:  # our own side was closed while it read
            pass
        finally:
            self._let_go()
            self.ended.set()

    async def _begin(self, message: Message, on_request: OnRequest) -> None:
        params = cast("dict[str, Any] | None", message.get("params"))
        inbound = Inbound(self, message["id"], progress_token_from_params(params))
        await self._room.acquire()
        self._in_flight[coerce_request_id(message["id"])] = inbound
        if message["method"] in self._inline:
            await self._answer(inbound, message["method"], params, on_request)
        else:
            assert self._tasks is not None
            self._tasks.start_soon(self._answer, inbound, message["method"], params, on_request)

    async def _answer(
        self, inbound: Inbound, method: str, params: dict[str, Any] | None, on_request: OnRequest
    ) -> None:
        answer: Message = {"jsonrpc": "2.0", "id": inbound.request_id}
        try:
            with inbound.scope:
                answer["result"] = await on_request(inbound, method, params)
        except anyio.get_cancelled_exc_class():
            # We are closing: the other side is not left waiting for an answer.
            with anyio.move_on_after(_LAST_WORDS, shield=True):
                await self._sent({**answer, "error": _wire(_closed().error)})
            raise
        except Exception as error:  # noqa: BLE001  the boundary to handlers; it is logged
            answer["error"] = _wire(_explained(error, method))
        finally:
            inbound.end()
            self._landed(inbound)
        try:
            if not inbound.is_cancelled:
                await self._sent(answer)
        finally:
            self._room.release()

    def _landed(self, inbound: Inbound) -> None:
        key = coerce_request_id(cast("RequestId", inbound.request_id))
        if self._in_flight.get(key) is inbound:
            del self._in_flight[key]

    def _hear(
        self, message: Message, on_notify: OnNotify, intercept: OnNotifyIntercept | None
    ) -> None:
        method, params = message["method"], cast("dict[str, Any] | None", message.get("params"))
        if method == "notifications/cancelled":
            self._cancel(params)
        elif method == "notifications/progress":
            self._show_progress(params or {})
        if not run_notify_intercept(intercept, method, params):
            assert self._tasks is not None
            self._tasks.start_soon(_contained, on_notify, Inbound(self, None, None), method, params)

    def _cancel(self, params: dict[str, Any] | None) -> None:
        number = cancelled_request_id_from_params(params)
        inbound = None if number is None else self._in_flight.get(coerce_request_id(number))
        if inbound is not None:
            inbound.cancel_requested.set()
            inbound.scope.cancel()

    def _show_progress(self, params: dict[str, Any]) -> None:
        token, progress = params.get("progressToken"), params.get("progress")
        if not isinstance(token, (str, int)) or not isinstance(progress, (int, float)):
            return
        waiting = self._waiting.get(coerce_request_id(token))
        if waiting is None or waiting.on_progress is None:
            return
        total, said = params.get("total"), params.get("message")
        assert self._tasks is not None
        self._tasks.start_soon(
            _shown,
            waiting.on_progress,
            float(progress),
            float(total) if isinstance(total, (int, float)) else None,
            said if isinstance(said, str) else None,
        )

    def _resolve(self, message: Message) -> None:
        number = message.get("id")
        waiting = None if number is None else self._waiting.get(coerce_request_id(number))
        if waiting is not None and waiting.answer is None:
            waiting.answer = message
            waiting.answered.set()

    def _let_go(self) -> None:
        self._is_over = True
        for waiting in self._waiting.values():
            waiting.answered.set()

    async def _sent(self, message: Message) -> None:
        try:
            await self._writer.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            _logger.debug("Nobody reads any more: a message was dropped.")

    def _numbered(self, options: CallOptions) -> RequestId:
        number = options.get("request_id")
        if number is None:
            self._count += 1
            return self._count
        if coerce_request_id(number) in self._waiting:
            raise ValueError(f"request id {number!r} is already in flight")
        return number


async def _contained(
    on_notify: OnNotify, inbound: Inbound, method: str, params: dict[str, Any] | None
) -> None:
    try:
        await on_notify(inbound, method, params)
    except Exception:  # the boundary to handlers: one of them must not end the connection
        _logger.exception("What was to be done on %r failed.", method)


async def _shown(
    on_progress: ProgressFnT, progress: float, total: float | None, message: str | None
) -> None:
    try:
        await on_progress(progress, total, message)
    except Exception:  # the boundary to whoever shows it
        _logger.debug("Progress could not be shown.", exc_info=True)


def _result(answer: Message | None) -> dict[str, Any]:
    if answer is None:
        raise _closed()
    if "error" in answer:
        error = answer["error"]
        raise MCPError(error["code"], error["message"], error.get("data"))
    return answer["result"]


def _explained(error: Exception, method: str) -> ErrorData:
    known = handler_exception_to_error_data(error)
    if known is not None:
        return known
    _logger.exception("Answering %r failed.", method)
    return ErrorData(code=INTERNAL_ERROR, message="Internal server error")


def _wire(error: ErrorData) -> Message:
    data = {} if error.data is None else {"data": error.data}
    return {"code": error.code, "message": error.message, **data}


def _closed() -> MCPError:
    return MCPError(CONNECTION_CLOSED, "Connection closed")
