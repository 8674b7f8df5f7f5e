"""JSON-RPC over lines, for either end of a pipe: the SDK's `Dispatcher` without its detours.

The SDK's own passes each message through models, memory streams and tasks that a pipe does not
need. A call through the gateway crosses two pipes, so this is where most of its time went.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, cast

import anyio
import anyio.abc
import anyio.lowlevel
from mcp import MCPError
from mcp.shared.dispatcher import (
    CallOptions,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
    as_request_id,
    coerce_request_id,
    run_notify_intercept,
)
from mcp.shared.jsonrpc_dispatcher import (
    cancelled_request_id_from_params,
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, REQUEST_TIMEOUT, ErrorData, RequestId

from tooldrawer.upstream.inbound import Inbound
from tooldrawer.upstream.lines import LineReader, LineWriter, Message
from tooldrawer.upstream.request_rate import RequestRate

_logger = logging.getLogger(__name__)
_LAST_WORDS = 1.0
"""Seconds to get out a cancellation, or the error for a request that nobody will answer."""
_MOST = 10_000
_Work = Callable[[], Awaitable[dict[str, Any]]]


class _Waiting:
    """A request of ours that has no answer yet."""

    __slots__ = ("answer", "answered", "on_progress")

    def __init__(self, on_progress: ProgressFnT | None) -> None:
        self.on_progress = on_progress
        self.answered = anyio.Event()
        self.answer: Message | None = None


class LineDispatcher:
    """Requests and notifications in both directions over a pair of line streams."""

    def __init__(
        self,
        reader: LineReader,
        writer: LineWriter,
        *,
        lead: deque[Message] | None = None,
        inline: frozenset[str] = frozenset(),
        can_ask: bool = True,
        most: int = _MOST,
        rate: RequestRate | None = None,
    ) -> None:
        """`lead` was read already and is taken first; `can_ask` allows questions about requests.

        A method in `inline` is answered before the next message is read. With `most` requests
        unanswered, no more is read: who asks and does not read the answers would otherwise fill
        the memory. Requests beyond `rate` are dropped.
        """
        self.ended = anyio.Event()
        """Set when the other side is gone."""
        self._transport = TransportContext(kind="stdio", can_send_request=can_ask)
        self._reader, self._writer = reader, writer
        self._lead = lead or deque()
        self._inline = inline
        self._room = anyio.Semaphore(most, fast_acquire=True)
        self._rate = rate
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
        meta: dict[str, Any] = {**(sent.pop("_meta", None) or {})}
        if on_progress is not None:
            meta["progressToken"] = number
        if meta:
            sent["_meta"] = meta
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
        # Whoever gave up already has asked nothing, so there is nothing to cancel either.
        await anyio.lowlevel.checkpoint_if_cancelled()
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
        if self._is_over:
            return
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
                take = partial(self._take, on_request, on_notify, on_notify_intercept)
                while self._lead:
                    await take(self._lead.popleft())
                with suppress(anyio.ClosedResourceError):  # our own side was closed while it read
                    async for message in self._reader:
                        await take(message)
                # In this order a request whose handler asks back is answered too, with an error.
                tasks.cancel_scope.cancel()
                self._let_go()
        finally:
            self._let_go()
            self.ended.set()

    async def _take(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        intercept: OnNotifyIntercept | None,
        message: Message,
    ) -> None:
        if "method" not in message:
            self._resolve(message)
        elif "id" in message:
            await self._begin(message, on_request)
        else:
            self._hear(message, on_notify, intercept)

    async def _begin(self, message: Message, on_request: OnRequest) -> None:
        if self._rate is not None and not self._rate.admits_one():
            return
        params = cast("dict[str, Any] | None", message.get("params"))
        inbound = self._inbound(message["id"], progress_token_from_params(params))
        await self._room.acquire()
        self._in_flight[coerce_request_id(message["id"])] = inbound
        work = partial(on_request, inbound, message["method"], params)
        if message["method"] in self._inline:
            await self._answer(inbound, message["method"], work)
        else:
            assert self._tasks is not None
            self._tasks.start_soon(self._answer, inbound, message["method"], work)

    def _inbound(self, number: RequestId | None, token: RequestId | None = None) -> Inbound:
        return Inbound(self, self._transport, number, token)

    async def _answer(self, inbound: Inbound, method: str, work: _Work) -> None:
        to: Message = {"jsonrpc": "2.0", "id": inbound.request_id}
        try:
            outcome = await self._outcome(inbound, method, work)
            if not inbound.is_cancelled:
                await self._sent({**to, **outcome})
        except Exception as error:  # noqa: BLE001  what JSON cannot say; it is logged
            await self._sent({**to, "error": _wire(_explained(error, method))})
        finally:
            self._room.release()

    async def _outcome(self, inbound: Inbound, method: str, work: _Work) -> Message:
        try:
            with inbound.scope:
                return {"result": await work()}
        except anyio.get_cancelled_exc_class():
            # We are closing: the other side is not left waiting for an answer that it wants.
            if not inbound.is_cancelled:
                with anyio.move_on_after(_LAST_WORDS, shield=True):
                    error = _wire(_closed().error)
                    await self._sent({"jsonrpc": "2.0", "id": inbound.request_id, "error": error})
            raise
        except Exception as error:  # noqa: BLE001  the boundary to handlers; it is logged
            return {"error": _wire(_explained(error, method))}
        finally:
            inbound.end()
            self._landed(inbound)
        return {}

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
            self._tasks.start_soon(_contained, on_notify, self._inbound(None), method, params)

    def _cancel(self, params: dict[str, Any] | None) -> None:
        number = cancelled_request_id_from_params(params)
        inbound = None if number is None else self._in_flight.get(coerce_request_id(number))
        if inbound is not None:
            inbound.cancel_requested.set()
            inbound.scope.cancel()

    def _show_progress(self, params: dict[str, Any]) -> None:
        token, progress = as_request_id(params.get("progressToken")), params.get("progress")
        if token is None or isinstance(progress, bool) or not isinstance(progress, (int, float)):
            return
        waiting = self._waiting.get(coerce_request_id(token))
        if waiting is None or waiting.on_progress is None:
            return
        total, said = params.get("total"), params.get("message")
        assert self._tasks is not None
        self._tasks.start_soon(
            _shown,
            waiting.on_progress,
            progress,
            total if isinstance(total, (int, float)) else None,
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
            while self._count in self._waiting:  # an id that a caller chose
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
        # Here, because a whole number can be too large for it.
        await on_progress(float(progress), None if total is None else float(total), message)
    except Exception:  # the boundary to whoever shows it
        _logger.debug("Progress could not be shown.", exc_info=True)


def _result(answer: Message | None) -> dict[str, Any]:
    if answer is None:
        raise _closed()
    if "result" in answer:  # some send both, with an error of `null`
        return answer["result"]
    error = answer["error"]
    raise MCPError(error["code"], error["message"], error.get("data"))


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
