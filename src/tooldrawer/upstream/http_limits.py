"""What a server may send over HTTP: no message larger than one over a pipe."""

from collections.abc import AsyncIterator

import httpx2

from tooldrawer.bounds.message import MessageMeter

UNCOMPRESSED = {"accept-encoding": "identity"}
"""A header for requests: a few compressed bytes can become gigabytes."""
_EVENT_END = b"\n\n"


class ResponseLimits:
    """Makes reading a response fail at a message that is too large, or at a compressed body.

    Its methods are event hooks of the client, because a transport of our own would lose the proxy
    that the environment names. The SDK limits events only, and reads a plain body to its end.
    """

    def __init__(self) -> None:
        self.fault = ""
        """Why the last response was not read; the end of a sentence that begins with "it"."""

    async def forget_fault(self, request: httpx2.Request) -> None:
        """Start with the next message."""
        if request.method == "POST":
            self.fault = ""

    async def limit_response(self, response: httpx2.Response) -> None:
        """Measure the response while it is read."""
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _LimitedStream(response.stream, response.headers, self)


class _LimitedStream(httpx2.AsyncByteStream):
    """A body that ends with an error where there is too much of it."""

    def __init__(
        self, body: httpx2.AsyncByteStream, headers: httpx2.Headers, limits: ResponseLimits
    ) -> None:
        self._body = body
        self._encoding = headers.get("content-encoding", "identity").strip().lower()
        self._has_events = "text/event-stream" in headers.get("content-type", "").lower()
        self._limits = limits
        self._meter = MessageMeter()
        self._ended_with_line = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._encoding not in {"", "identity"}:
            raise self._error(f"it sent a body compressed with {self._encoding!r:.40}, unasked")
        async for chunk in self._body:
            if excess := self._find_excess(chunk):
                raise self._error(f"it sent a message {excess}")
            yield chunk

    def _error(self, reason: str) -> Exception:
        self._limits.fault = reason
        # The kinds of error whose text the SDK hands on to whoever waits for the answer.
        return httpx2.SSEError(reason) if self._has_events else httpx2.StreamError(reason)

    def _find_excess(self, chunk: bytes) -> str:
        if not self._has_events:
            return self._meter.find_excess(chunk)
        text = chunk.replace(b"\r\n", b"\n")
        if self._ended_with_line and text.startswith(b"\n"):
            self._meter.start_message()
        self._ended_with_line = text.endswith(b"\n")
        first, *others = text.split(_EVENT_END)
        excess = self._meter.find_excess(first)
        for event in others:
            self._meter.start_message()
            excess = excess or self._meter.find_excess(event)
        return excess

    async def aclose(self) -> None:
        await self._body.aclose()
