"""A model behind an SDK: the request in our own bytes, the answer event by event."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Protocol

import anyio
import httpx2

from tooldrawer.agent.concessions import Concessions
from tooldrawer.agent.failures import Complaint, lost, no_answer, refused
from tooldrawer.agent.server_events import ServerEvents
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import AnswerCut, ModelFailed
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.message import Answered, Request
from tooldrawer.wire.wires import WIRES

MOST_TEXT = 2_000_000
"""Characters of text in one answer: ten times what any model writes at once."""
MOST_BYTES = 64 * 1024 * 1024
"""Of one answer. Chunks of three letters come in 400 bytes, and a file may be in a call."""
_LINGER = 0.5
"""Seconds for the end of the body once the answer is whole: then the connection is used again."""
CONNECT = 10.0
"""Seconds until a connection is there; what comes after it has the model's own time limit."""
LISTING = 3.0
"""Seconds for the names of the models that an endpoint has, which only make a message better."""
_HELD_IN = {"chat": "choices", "responses": "output", "anthropic": "content"}
_LAST = {"message_stop", "response.completed", "response.incomplete"}
_DONE = "[DONE]"
_STOPPED: JsonObject = {"choices": [{"finish_reason": "stop"}]}


class Line(Protocol):
    """An SDK's connection to one endpoint."""

    async def post(self, content: bytes, *, native: bool) -> httpx2.Response:
        """Send a request; the response has begun, and its body is not read.

        Raises:
            ModelFailed: There is no such response.
        """
        ...


class StreamedModel:
    """A `Model` that is asked over a line."""

    def __init__(self, spec: ModelSpec, line: Line) -> None:
        self._spec = spec
        self._line = line
        self._concessions = Concessions(spec.wire)

    @property
    def spec(self) -> ModelSpec:
        """Which model it is."""
        return self._spec

    async def answer(self, request: Request, said: Callable[[str], None]) -> Answered:
        """One answer; `said` gets each piece of its text as it comes.

        Raises:
            ModelFailed: There is none.
        """
        while True:
            try:
                return await self._answer(request, said)
            except ModelFailed as refusal:
                if not self._concessions.make(refusal, request):
                    raise

    async def _answer(self, request: Request, said: Callable[[str], None]) -> Answered:
        content = encoded(self._concessions.body(request))
        response = await self._line.post(content, native=request.native)
        arrival = _Arrival(self._spec, request, said)
        try:
            return await arrival.answer(response)
        finally:
            await response.aclose()


def encoded(body: JsonObject) -> bytes:
    """A request's bytes: the same for the same body, in its order, as short as JSON can be."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # Half a character, as a broken tool result may have, is no text to any server.
    return text.encode("utf-8", "replace")


def model_names(response: httpx2.Response) -> tuple[str, ...]:
    """The names in an answer to `GET /models`; none when it is something else."""
    listed = (_object(response.content) or {}).get("data")
    items = listed if isinstance(listed, Sequence) and not isinstance(listed, str) else ()
    names = (item.get("id") for item in items if isinstance(item, Mapping))
    return tuple(name for name in names if isinstance(name, str))


class _Arrival:
    """One answer while it comes."""

    def __init__(self, spec: ModelSpec, request: Request, said: Callable[[str], None]) -> None:
        self._spec = spec
        self._wire = WIRES[spec.wire]
        self._native = request.native
        self._said = said
        self._stream = self._wire.stream()
        self._pieces: list[str] = []
        self._length = 0
        self._size = 0
        self._begun = False
        self._whole = False
        self._failure: ModelFailed | None = None

    async def answer(self, response: httpx2.Response) -> Answered:
        """Read it to its end, however it is sent."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            raise no_answer(self._spec, "a web page")
        if kind.endswith("json"):
            pieces: list[bytes] = []
            await self._read(response, pieces.append)
            return self._at_once(b"".join(pieces))
        events = ServerEvents()
        await self._read(response, lambda chunk: self._take_in(events, chunk))
        return self._ended()

    async def _read(self, response: httpx2.Response, take: Callable[[bytes], None]) -> None:
        """Take the body in, chunk by chunk, until the answer is whole."""
        with anyio.CancelScope() as scope:
            async for chunk in self._received(response):
                if self._over:
                    continue
                try:
                    self._weigh(chunk)
                    take(chunk)
                except ModelFailed as failed:
                    # Cancelled and not left at once: httpx2 closes the generators below its own
                    # only when they end by themselves, and trio warns of those that are left.
                    self._failure = failed
                    scope.cancel()
                if self._whole:
                    scope.deadline = anyio.current_time() + _LINGER
        if self._failure:
            raise self._failure

    async def _received(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx2.HTTPError as error:
            if not self._over and self._so_far() is None:
                late = isinstance(error, httpx2.TimeoutException)
                raise self._failed(lost(self._spec, timed_out=late)) from None

    @property
    def _over(self) -> bool:
        """Whether nothing that still comes matters."""
        return self._whole or self._failure is not None

    def _weigh(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > MOST_BYTES:
            raise self._cut("does not come to an end and was stopped")

    def _take_in(self, events: ServerEvents, chunk: bytes) -> None:
        try:
            for data in events.feed(chunk):
                self._take(data)
                if self._whole:
                    break
        except UnicodeDecodeError:
            raise self._cut("broke off at bytes that are not UTF-8") from None

    def _take(self, data: str) -> None:
        if data.startswith(_DONE):
            self._begun = self._whole = True
            return
        event = _object(data)
        if event is None:
            raise self._cut("broke off at an event that is not JSON")
        self._begun = True
        if complaint := Complaint.in_event(event):
            raise self._failed(refused(self._spec, complaint, native=self._native))
        try:
            text = self._stream.feed(event)
        except ModelFailed as failure:  # an error where only the wire knows to look
            raise self._failed(failure) from None
        self._say(text)
        self._whole = event.get("type") in _LAST

    def _say(self, text: str) -> None:
        if not text:
            return
        self._pieces.append(text)
        self._length += len(text)
        self._said(text)
        if self._length > MOST_TEXT:
            raise self._cut("does not come to an end and was stopped")

    def _at_once(self, content: bytes) -> Answered:
        """An answer from a server that does not stream."""
        body = _object(content)
        if body is None:
            raise no_answer(self._spec, "JSON that cannot be read")
        if complaint := Complaint.in_event(body):
            raise refused(self._spec, complaint, native=self._native)
        if not isinstance(body.get(_HELD_IN[self._spec.wire]), list):
            raise no_answer(self._spec, "other JSON")
        answered = self._wire.read(body)
        self._say(answered.text)
        return answered

    def _ended(self) -> Answered:
        if not self._begun and self._size:
            raise no_answer(self._spec, "something else than events")
        found = self._so_far()
        if found is None and self._whole:
            # Some imitators of OpenAI end a stream and never say why the model stopped.
            self._stream.feed(_STOPPED)
            found = self._so_far()
            found = found if found and (found.text or found.calls) else None
        if found is None:
            raise self._cut("broke off before its end")
        return found

    def _so_far(self) -> Answered | None:
        """The answer, if all of it has come."""
        try:
            return self._stream.answer()
        except AnswerCut:
            return None

    def _failed(self, failure: ModelFailed) -> ModelFailed:
        """The failure itself, or a cut answer once the person has read a part of it."""
        return self._cut(f"broke off. {failure}", end="") if self._pieces else failure

    def _cut(self, how: str, *, end: str = ". Ask again, or go on from here.") -> AnswerCut:
        return AnswerCut(
            f"The answer of {self._spec.name!r} from {self._spec.host} {how}{end}",
            text="".join(self._pieces),
        )


def _object(data: str | bytes) -> JsonObject | None:
    try:
        value: Json = json.loads(data)
    except (ValueError, RecursionError):  # not JSON, or too deep to be any event
        return None
    return value if isinstance(value, Mapping) else None
