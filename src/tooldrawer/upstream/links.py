"""The two ways to a server: the pipes of a process, or streamable HTTP."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from tooldrawer.bounds.message import MAX_MESSAGE_BYTES
from tooldrawer.upstream.dispatcher import LineDispatcher
from tooldrawer.upstream.explanation import http_complaint
from tooldrawer.upstream.http_limits import UNCOMPRESSED, ResponseLimits
from tooldrawer.upstream.post_status import note_post
from tooldrawer.upstream.process import Process, running
from tooldrawer.upstream.relay import MOST_ASKED, RelayDispatcher
from tooldrawer.upstream.request_rate import RequestRate
from tooldrawer.upstream.spec import UpstreamSpec

_CONNECT = 30.0
_TURNED_AWAY = {401, 403, 404, 405}
_SILENCE = 300.0
"""Seconds without a byte after which an HTTP stream counts as lost; servers send comments."""


class Link(Protocol):
    """A way to a server that is open."""

    @property
    def dispatcher(self) -> RelayDispatcher | LineDispatcher:
        """What sends and receives over it."""
        ...

    @property
    def needs_person(self) -> bool:
        """Whether it will not work before somebody changes the configuration."""
        ...

    def explain(self, reason: str, *, was_alive: bool) -> str:
        """The reason with what is known on this side: why it does not work, or ended."""
        ...

    async def ended(self) -> None:
        """Return when the server is gone though the streams are open."""
        ...


def link(spec: UpstreamSpec) -> AbstractAsyncContextManager[Link]:
    """Open the way that the configuration names."""
    return _over_http(spec) if spec.url else _over_pipes(spec)


@asynccontextmanager
async def _over_pipes(spec: UpstreamSpec) -> AsyncGenerator[Link]:
    async with running(spec) as process:
        yield _Pipes(process, RequestRate(spec.name))


class _Pipes:
    def __init__(self, process: Process, rate: RequestRate) -> None:
        self.dispatcher = LineDispatcher(process.reader, process.writer, most=MOST_ASKED, rate=rate)
        self._process = process

    needs_person = False

    def explain(self, reason: str, *, was_alive: bool) -> str:
        process = self._process
        parts = (
            process.reader.fault or reason,
            "" if was_alive or not process.end else f"it {process.end}",
            process.noise,
            process.last_words and f"it last wrote: {process.last_words}",
        )
        return "; ".join(filter(None, parts))

    async def ended(self) -> None:
        await self._process.ended()


@asynccontextmanager
async def _over_http(spec: UpstreamSpec) -> AsyncGenerator[Link]:
    statuses, limits = _Statuses(), ResponseLimits()
    async with (
        httpx2.AsyncClient(
            headers={**UNCOMPRESSED, **spec.headers},
            timeout=httpx2.Timeout(_CONNECT, read=max(_SILENCE, spec.timeout + _CONNECT)),
            event_hooks={
                "request": [statuses.forget, limits.forget_fault],
                "response": [statuses.note, limits.limit_response],
            },
        ) as client,
        # The SDK's own limit for an event is 1 MiB, which a picture exceeds.
        streamable_http_client(
            spec.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as streams,
    ):
        yield _Http(streams, statuses, limits, RequestRate(spec.name))


class _Statuses:
    """The last HTTP error: the SDK tells it as an internal error without the number."""

    def __init__(self) -> None:
        self.last = 0

    async def forget(self, request: httpx2.Request) -> None:
        if request.method == "POST":
            self.last = 0

    async def note(self, response: httpx2.Response) -> None:
        if response.request.method == "POST":
            self.last = response.status_code if response.status_code >= 400 else 0
            if not response.is_redirect:
                note_post(response.status_code)


class _Http:
    def __init__(
        self,
        streams: tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]],
        statuses: _Statuses,
        limits: ResponseLimits,
        rate: RequestRate,
    ) -> None:
        self.dispatcher = RelayDispatcher(*streams, rate=rate)
        self._statuses = statuses
        self._limits = limits

    @property
    def needs_person(self) -> bool:
        return self._statuses.last in _TURNED_AWAY

    def explain(self, reason: str, *, was_alive: bool) -> str:
        del was_alive
        if self._limits.fault:
            return self._limits.fault
        return http_complaint(self._statuses.last) if self._statuses.last else reason

    async def ended(self) -> None:
        await anyio.sleep_forever()
