"""OpenAI's Chat Completions, and everything that imitates it: Ollama, vLLM, LM Studio, OpenRouter.

Written against the types of openai 3.49. What imitators do otherwise is said where it is borne.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never, cast

from tooldrawer.errors import AnswerCut
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire import chat_reasoning
from tooldrawer.wire.chat_calls import Pieces, read_calls
from tooldrawer.wire.content import Blob, parts, told
from tooldrawer.wire.failure import raise_for
from tooldrawer.wire.heard import Heard
from tooldrawer.wire.mended import compact, name_of, object_of, whole, whole_object
from tooldrawer.wire.message import (
    Answered,
    Asked,
    Message,
    Reply,
    Request,
    Returned,
    Said,
    Summary,
    Usage,
)
from tooldrawer.wire.odd import a_count, a_text, an_object, objects
from tooldrawer.wire.openai import render
from tooldrawer.wire.openai_schema import accepted

WIRE = "chat"
_CUT_SHORT = re.compile(r"length|max_tokens|filter|error|malformed", re.IGNORECASE)
"""Reasons to stop that are not the model's own, in OpenAI's words and in those of imitators:
Google's is `function_call_filter: MALFORMED_FUNCTION_CALL`."""
_NOT_TAKEN_BACK = {"annotations", "audio", "function_call", "images", "parsed"}
"""Fields of an answer that endpoints refuse in a request. Other fields go back as they came:
DeepSeek must have `reasoning_content` again, OpenRouter `reasoning_details`; gpt-oss behind vLLM or
Ollama thinks on from `reasoning`. Who refuses one is asked without it by a client that notices."""


def body(request: Request) -> dict[str, Json]:
    """The whole request but for `stream`; what grows is last."""
    sent: dict[str, Json] = {"model": request.model}
    if request.tools:
        sent["tools"] = tools(request.tools)
    if request.max_output is not None:
        # OpenAI's newer models refuse `max_tokens`; an imitator may know only that.
        sent["max_completion_tokens"] = request.max_output
    rows: list[Json] = []
    if request.system:
        rows.append({"role": "system", "content": request.system})
    for message in request.messages:
        rows += _said(message, request.search)
    return whole_object({**sent, "messages": rows})


def tools(tools: Iterable[Tool]) -> list[Json]:
    """The `tools` parameter. The wire has no deferral of its own: the bridge is among them."""
    return [_tool(tool) for tool in tools]


def read(response: JsonObject) -> Answered:
    """A whole response.

    Raises:
        ModelFailed: The response is an error, which some endpoints give with a status of 200.
    """
    raise_for(response)
    choice = _first(response.get("choices"))
    raise_for(choice)
    return _answered(
        an_object(choice.get("message")),
        finish=choice.get("finish_reason"),
        usage=_usage(response.get("usage")),
        answer=str(response.get("id") or ""),
    )


def calls(response: JsonObject) -> tuple[Asked, ...]:
    """What the model asked for in a response."""
    return read(response).calls


def results(replies: Iterable[Reply]) -> list[dict[str, Json]]:
    """The messages to append for a turn's calls: one for each, and one more for pictures.

    A message of a tool takes only text, so pictures are shown by the user right after.
    """
    rows: list[dict[str, Json]] = []
    pictures: list[Json] = []
    for reply in replies:
        found = [part for part in parts(reply.result) if isinstance(part, Blob)]
        shown = [blob for blob in found if blob.is_picture]
        line = "[image, shown after the results]"
        text = told(reply.result, in_place_of=dict.fromkeys(shown, line))
        rows.append({"role": "tool", "tool_call_id": reply.call.id, "content": whole(text)})
        if shown:
            whose = f"From {name_of(reply.call.name)} (call {reply.call.id}):"
            pictures.append({"type": "text", "text": whole(whose)})
            pictures += [{"type": "image_url", "image_url": {"url": it.url}} for it in shown]
    if pictures:
        rows.append({"role": "user", "content": pictures})
    return rows


class ChatStream:
    """One answer in chunks."""

    def __init__(self) -> None:
        self._heard = Heard()
        self._pieces = Pieces()
        self._refused = Heard()
        self._others: dict[str, list[Json]] = {}
        self._finish = ""
        self._usage = Usage()
        self._id = ""

    def feed(self, event: JsonObject) -> str:
        """Take in one chunk; the text that came with it.

        Raises:
            ModelFailed: The endpoint gave an error instead.
        """
        raise_for(event)
        self._id = self._id or str(event.get("id") or "")
        if counted := an_object(event.get("usage")):
            self._usage = _usage(counted)
        choice = _first(event.get("choices"))
        raise_for(choice)
        if finish := choice.get("finish_reason"):
            self._finish = str(finish)
        return self._took(an_object(choice.get("delta") or choice.get("message")))

    def answer(self) -> Answered:
        """The whole answer.

        Raises:
            AnswerCut: No chunk said why the model stopped, so more should have come.
        """
        text, refusal = self._heard.text, self._refused.text
        if not self._finish:
            raise AnswerCut(
                "The answer broke off: the stream ended and no reason for its end had come. "
                "Send the request again.",
                text=text or refusal,
            )
        message: dict[str, Json] = {"role": "assistant", "content": text or None}
        message |= {key: _joined(key, values) for key, values in self._others.items()}
        if refusal:
            message["refusal"] = refusal
        if found := self._pieces.calls():
            message["tool_calls"] = found
        return _answered(message, finish=self._finish, usage=self._usage, answer=self._id)

    def _took(self, delta: JsonObject) -> str:
        for key, value in delta.items():
            match key:
                case "role" | "content" | "refusal":
                    pass
                case "tool_calls":
                    self._pieces.take(value)
                case "function_call":
                    self._pieces.take([{"index": 0, "function": value}] if value else None)
                case _ if value is not None:
                    self._others.setdefault(key, []).append(value)
                case _:
                    pass
        said = self._heard.take(_text(delta.get("content")))
        return said + self._refused.take(_text(delta.get("refusal")))


def _answered(message: JsonObject, *, finish: Json, usage: Usage, answer: str) -> Answered:
    asked, rows = read_calls(message, answer=answer)
    text = whole(_text(message.get("content")) or _text(message.get("refusal")))
    is_cut = _CUT_SHORT.search(a_text(finish)) is not None
    if is_cut and not text and not asked:
        text = f"(No answer: the model stopped with {finish!r}.)"
    return Answered(
        text=text,
        calls=asked,
        wire=WIRE,
        raw=(_sent_back(message, rows),),
        usage=usage,
        complete=not is_cut,
    )


def _sent_back(message: JsonObject, rows: list[Json]) -> JsonObject:
    """The message in its own order, without what endpoints refuse."""
    raw = {
        key: value
        for key, value in {**message, "role": "assistant"}.items()
        if key not in _NOT_TAKEN_BACK and (value is not None or key == "content")
    }
    if not isinstance(raw.get("content"), str | list):
        # A message with neither content nor calls is refused.
        raw["content"] = None if rows else ""
    if rows:
        raw["tool_calls"] = rows
    else:
        raw.pop("tool_calls", None)
    return whole_object(raw)


def _said(message: Message, search: str) -> Sequence[JsonObject]:
    match message:
        case Said() | Summary():
            return [{"role": "user", "content": message.text}]
        case Returned():
            return results(message.replies)
        case Answered():
            if message.wire == WIRE and message.raw:
                return message.raw
            return [_rewritten(message, search)]
        case _:
            assert_never(message)


def _rewritten(message: Answered, search: str) -> JsonObject:
    """An answer that came over another wire."""
    if not message.calls:
        return {"role": "assistant", "content": message.text}
    rows: list[Json] = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": search if call.native else name_of(call.name),
                "arguments": compact(object_of(call.arguments)),
            },
        }
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": rows}


def _tool(tool: Tool) -> JsonObject:
    row = render(tool)
    function = an_object(row["function"])
    if "parameters" not in function:
        return row
    parameters = accepted(an_object(function["parameters"]))
    return {**row, "function": {**function, "parameters": parameters}}


def _joined(key: str, values: list[Json]) -> Json:
    """A field that came in pieces: texts and lists grow at their ends, all else is replaced."""
    if all(isinstance(value, str) for value in values):
        return "".join(cast("list[str]", values))
    if all(isinstance(value, list) for value in values):
        items = [item for value in cast("list[list[Json]]", values) for item in value]
        return chat_reasoning.joined(items) if key == "reasoning_details" else items
    return values[-1]


def _text(content: Json) -> str:
    """Content as text; in parts, those of text: others think or show."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    found = (part for part in content if isinstance(part, Mapping) and part.get("type") == "text")
    return "".join(text for part in found if isinstance(text := part.get("text"), str))


def _usage(told: Json) -> Usage:
    counted = an_object(told)
    details = an_object(counted.get("prompt_tokens_details"))
    return Usage(
        input=a_count(counted.get("prompt_tokens")),
        cached=a_count(details.get("cached_tokens")),
        written=a_count(details.get("cache_write_tokens")),
        output=a_count(counted.get("completion_tokens")),
    )


def _first(choices: Json) -> JsonObject:
    found = objects(choices)
    return found[0] if found else {}
