"""One step of a script, played to one client."""

import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import anyio
from anyio.lowlevel import checkpoint
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.models.request import Request, Seen, compact
from tests.models.script import (
    BROKEN,
    Answer,
    Cut,
    Endless,
    Fail,
    Hold,
    InvalidUtf8,
    Search,
    Step,
    Turn,
    as_call,
    as_turn,
)
from tests.models.stream import Reply, ragged
from tests.models.usage import PromptCache
from tests.models.wire import Wire

Left = Callable[[Request], None]

_NO_UTF8 = b"\xff\xfe\xc3"
_TICK = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """Plays steps for one accepted request."""

    wire: Wire
    seen: Seen
    number: int
    cache: PromptCache
    http: HttpRequest

    def impossible(self, step: Step) -> str | None:
        """Why no real model would take this step, having seen what it saw."""
        if isinstance(step, Hold):
            return self.impossible(step.then)
        answer = step.turn if isinstance(step, Cut) else step
        if isinstance(answer, Fail | Endless | InvalidUtf8):
            return None
        for call in as_turn(answer).calls:
            plain = as_call(call)
            if isinstance(call, Search) and self.seen.searches:
                continue
            if plain.name and not plain.blind and plain.name not in self.seen.names:
                shown = ", ".join(sorted(self.seen.names)) or "nothing"
                return (
                    f"step {self.number} calls {plain.name!r}, but the model was shown {shown}"
                    f" ({self.wire.name}); say blind=True if that is meant"
                )
        return None

    async def play(self, step: Step, *, closing: threading.Event, left: Left) -> Response:
        """The HTTP answer of the step."""
        while isinstance(step, Hold):
            if not await self._held(step, closing):
                left(self.seen.request)
                return Response(status_code=499)
            step = step.then
        if isinstance(step, Fail) and (step.after is None or not self.seen.streamed):
            headers = dict(step.headers)
            return JSONResponse(self.wire.fail(step), status_code=step.status, headers=headers)
        reply = self._reply(_turn_of(step))
        if not self.seen.streamed:
            return _whole(reply, cut=isinstance(step, Cut))
        return _Stream(
            _told(reply, step, self.wire), cut=isinstance(step, Cut), left=left, seen=self.seen
        )

    async def _held(self, step: Hold, closing: threading.Event) -> bool:
        while not step.release.is_set():
            if closing.is_set() or await self.http.is_disconnected():
                return False
            await anyio.sleep(_TICK)
        return True

    def _reply(self, turn: Turn) -> Reply:
        said = [turn.text, *(as_call(call).text for call in turn.calls)]
        usage = self.cache.count(
            (self.wire.name, self.seen.model),
            self.seen.prompt,
            output="".join(said).encode(),
            reasoning=turn.reasoning.encode(),
        )
        return self.wire.answer(turn, self.seen, usage, self.number)


class _Stream(StreamingResponse):
    """Events in ragged writes; a cut one ends without saying so, which closes the socket."""

    def __init__(self, told: AsyncIterator[bytes], *, cut: bool, left: Left, seen: Seen) -> None:
        super().__init__(told, media_type="text/event-stream")
        self._cut = cut
        self._left = left
        self._seen = seen
        self._finished = False

    async def stream_response(self, send: Send) -> None:
        """Send everything, and the end if there is one."""
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        async for chunk in self.body_iterator:
            assert isinstance(chunk, bytes)
            for part in ragged(chunk):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        self._finished = True
        if not self._cut:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)
        if not self._finished:
            self._left(self._seen.request)


class _HalfResponse(Response):
    """Promises all of its bytes and sends half of them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})


def _turn_of(step: Answer | Cut | Endless | InvalidUtf8 | Fail) -> Turn:
    if isinstance(step, Cut):
        return as_turn(step.turn)
    if isinstance(step, Endless | InvalidUtf8):
        return Turn(step.text + (BROKEN + "!" if isinstance(step, InvalidUtf8) else ""))
    if isinstance(step, Fail):
        return Turn(step.after or "")
    return as_turn(step)


def _broken(told: bytes) -> bytes:
    return told.replace(BROKEN.encode(), _NO_UTF8)


def _whole(reply: Reply, *, cut: bool) -> Response:
    kind = _HalfResponse if cut else Response
    return kind(_broken(compact(reply.whole)), media_type="application/json")


async def _told(reply: Reply, step: Step, wire: Wire) -> AsyncIterator[bytes]:
    if isinstance(step, Endless):
        yield b"".join(reply.opening)
        for _ in range(step.limit):
            yield b"".join(reply.words)
            await checkpoint()  # or the loop would never hear that the client is gone
        yield b"".join(reply.closing)
        return
    for told in _listed(reply, step, wire):
        yield _broken(told)


def _listed(reply: Reply, step: Step, wire: Wire) -> list[bytes]:
    if isinstance(step, Fail):
        return [*reply.opening, *reply.words, wire.fail_event(step)]
    if isinstance(step, Cut):
        half = [told[: len(told) // 2] for told in reply.events[step.after :][:1]]
        return [*reply.events[: step.after], *half]
    return reply.events
