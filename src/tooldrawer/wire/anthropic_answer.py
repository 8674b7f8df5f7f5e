"""What Anthropic's Messages API answers, whole or in events."""

from collections.abc import Iterable

from tooldrawer.errors import AnswerCut, ContextFull, ModelFailed, ModelOverloaded, RequestRefused
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.heard import Heard
from tooldrawer.wire.mended import arguments, id_of, whole
from tooldrawer.wire.message import Answered, Asked, Usage
from tooldrawer.wire.odd import a_count, a_text, an_object, objects

WIRE = "anthropic"
_CUT = {"max_tokens", "model_context_window_exceeded", "pause_turn", "refusal"}
"""Reasons to stop that are not the model's own."""
_PASSING = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error"}
"""Errors after which the same request may succeed."""
_GROWS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The field of each kind of delta. What grows a block's `input` comes as `partial_json`."""


def read(response: JsonObject) -> Answered:
    """A whole response.

    Raises:
        ModelFailed: It is an error in place of an answer.
    """
    if response.get("type") == "error":
        raise _failure(response)
    return _answered(
        objects(response.get("content")),
        answer=a_text(response.get("id")),
        stop=response.get("stop_reason"),
        usage=an_object(response.get("usage")),
    )


def calls(response: JsonObject) -> tuple[Asked, ...]:
    """The calls in a whole response, for a loop of one's own."""
    return read(response).calls


class AnthropicStream:
    """One answer while it arrives: the events of the API, and those that the SDK adds."""

    def __init__(self) -> None:
        self._id = ""
        self._heard = Heard()
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, Json] = {}
        self._stop: Json = None
        self._has_ended = False

    def feed(self, event: JsonObject) -> str:
        """Take in one event; the text for the person that came with it.

        Raises:
            ModelFailed: The event is an error.
        """
        match event.get("type"):
            case "message_start":
                message = an_object(event.get("message"))
                self._id = a_text(message.get("id"))
                self._count(message.get("usage"))
            case "content_block_start":
                block = self._blocks[self._index(event)] = _Block(event.get("content_block"))
                return self._heard.take(block.said)
            case "content_block_delta":
                return self._grown(event)
            case "message_delta":
                self._stop = an_object(event.get("delta")).get("stop_reason") or self._stop
                self._count(event.get("usage"))
            case "message_stop":
                self._has_ended = True
            case "error":
                raise _failure(event)
            case _:
                # `ping`, what is not invented yet, and the SDK's own events (`text`, `input_json`),
                # which repeat what the API's have said.
                pass
        return ""

    def answer(self) -> Answered:
        """The whole answer.

        Raises:
            AnswerCut: The stream ended before the answer did.
        """
        blocks = [self._blocks[index].whole() for index in sorted(self._blocks)]
        if not self._has_ended and not isinstance(self._stop, str):
            raise AnswerCut(
                "The answer broke off in the middle: the connection ended before the model did. "
                "Ask again to have it anew.",
                text=_said(blocks),
            )
        return _answered(blocks, answer=self._id, stop=self._stop, usage=self._usage)

    def _grown(self, event: JsonObject) -> str:
        delta = an_object(event.get("delta"))
        field = _GROWS.get(a_text(delta.get("type")), "")
        text = a_text(delta.get(field))
        if not text:
            return ""
        block = self._blocks.setdefault(self._index(event), _Block({"type": "text"}))
        block.grow(field, text)
        return self._heard.take(text) if field == "text" else ""

    def _index(self, event: JsonObject) -> int:
        index = event.get("index")
        if isinstance(index, int):
            return index
        last = max(self._blocks, default=-1)
        return last + 1 if event.get("type") == "content_block_start" else max(last, 0)

    def _count(self, usage: Json) -> None:
        # Each figure is cumulative, and those left out of a later event are null or zero there.
        for key, value in an_object(usage).items():
            self._usage[key] = max(a_count(value), a_count(self._usage.get(key)))


class _Block:
    """One content block while it grows. Joined at the end: arguments may have a megabyte."""

    def __init__(self, start: Json) -> None:
        self._start = an_object(start)
        self._grown: dict[str, list[str]] = {}
        self.said = a_text(self._start.get("text")) if self._start.get("type") == "text" else ""

    def grow(self, field: str, text: str) -> None:
        self._grown.setdefault(field, []).append(text)

    def whole(self) -> JsonObject:
        block = dict(self._start)
        for field, texts in self._grown.items():
            if field == "partial_json":
                block["input"] = arguments("".join(texts))
            else:
                block[field] = whole(a_text(block.get(field)) + "".join(texts))
        return block


def _answered(
    blocks: Iterable[JsonObject], *, answer: str, stop: Json, usage: JsonObject
) -> Answered:
    raw, reason = tuple(blocks), a_text(stop)
    text, asked = _said(raw), _asked(raw, answer)
    if not text and not asked and reason in _CUT:
        text = f"(No answer: the model stopped with {reason!r}.)"
    cached = a_count(usage.get("cache_read_input_tokens"))
    written = a_count(usage.get("cache_creation_input_tokens"))
    return Answered(
        text=text,
        calls=asked,
        wire=WIRE,
        raw=raw,
        usage=Usage(
            input=a_count(usage.get("input_tokens")) + cached + written,
            cached=cached,
            written=written,
            output=a_count(usage.get("output_tokens")),
        ),
        complete=reason not in _CUT and bool(reason or raw),
    )


def _said(blocks: Iterable[JsonObject]) -> str:
    texts = (a_text(block.get("text")) for block in blocks if block.get("type") == "text")
    return whole("".join(texts))


def _asked(blocks: Iterable[JsonObject], answer: str) -> tuple[Asked, ...]:
    found: list[Asked] = []
    for block in blocks:
        if block.get("type") != "tool_use":
            continue
        taken = [call.id for call in found]
        found.append(
            Asked(
                name=whole(a_text(block.get("name"))),
                arguments=arguments(block.get("input")),
                id=id_of(block.get("id"), answer=answer, position=len(found), taken=taken),
            )
        )
    return tuple(found)


def _failure(event: JsonObject) -> ModelFailed:
    error = an_object(event.get("error"))
    kind, told = a_text(error.get("type")), a_text(error.get("message"))
    why = ": ".join(filter(None, (kind, told))) or "no reason given"
    if "prompt is too long" in told:
        return ContextFull(
            f"The conversation is longer than the model reads ({told}). Start a new one, "
            "or use a model with a longer context."
        )
    if kind in _PASSING:
        return ModelOverloaded(f"The endpoint cannot answer now ({why}). Try again in a while.")
    return RequestRefused(
        f"The endpoint refused the request ({why}). Change what was asked, or use another model."
    )
