"""What an endpoint turned out to refuse, and how it is asked without."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TypeGuard

from tooldrawer.agent.chat_rows import ChatRows
from tooldrawer.call import ToolResult
from tooldrawer.errors import ModelFailed, ModelOverloaded, ModelUnknown, RequestRefused
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.content import Blob, parts
from tooldrawer.wire.message import Answered, Message, Request, Returned
from tooldrawer.wire.odd import objects
from tooldrawer.wire.wires import WIRES

_FIELDS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "chat": {
        # Some servers that imitate OpenAI do not count tokens while they stream.
        "stream_options": re.compile("stream_options"),
        # Mistral refuses it; OpenAI's newer models refuse the older `max_tokens`.
        "max_completion_tokens": re.compile("max_completion_tokens"),
    },
    # OpenAI refuses it for models that do not reason, such as gpt-4.1.
    "responses": {
        "include": re.compile(r"encrypted content is not|['\"`]include\b", re.IGNORECASE)
    },
    # Bedrock's older door, and imitators that check every field.
    "anthropic": {"cache_control": re.compile("cache_control")},
}
"""What a request can do without, by wire, and the words of a refusal that mean it."""
_PICTURES = re.compile(
    r"\bimages?\b|image_url|input_image|\bvision\b|multimodal|content\b.{0,40}must be a string",
    re.IGNORECASE,
)
_SEALED = re.compile(
    r"invalid_encrypted_content|encrypted content.* could not be|signature|thinking\W.*\bblock",
    re.IGNORECASE,
)
"""A thought that another account, or another endpoint of the same wire, has sealed."""
_CAN_BE_HELPED = (RequestRefused, ModelUnknown, ModelOverloaded)
"""llama.cpp refuses a picture or a conversation with status 500, OpenRouter and MLX with 404."""


class Concessions:
    """How one endpoint is asked. Each refusal that can be helped makes it ask for less."""

    def __init__(self, wire: str) -> None:
        self._wire = wire
        self._left_out: set[str] = set()
        self._without: set[bytes] = set()
        self._rows = ChatRows()

    def body(self, request: Request) -> JsonObject:
        """The request for a stream, without what was refused before."""
        if self._without:
            request = replace(request, messages=tuple(map(self._told, request.messages)))
        body = WIRES[self._wire].body(request)
        body["stream"] = True
        if self._wire == "chat":
            body["stream_options"] = {"include_usage": True}
            body["messages"] = self._rows.written(objects(body["messages"]))
        return {key: value for field in body.items() for key, value in self._left(*field)}

    def make(self, refusal: ModelFailed, request: Request) -> bool:
        """Whether the request is worth another try, without what the refusal is about."""
        words = str(refusal)
        if isinstance(refusal, RequestRefused) and self._can_leave_out(words):
            return True
        # What is in the conversation stays there: refused once, it would be refused for good.
        if isinstance(refusal, _CAN_BE_HELPED) and self._can_rewrite(words, request):
            return True
        found = set[bytes]()
        if isinstance(refusal, RequestRefused) and _SEALED.search(words):
            found = {_mark(item.raw) for item in request.messages if _is_sealed(item)}
        elif isinstance(refusal, _CAN_BE_HELPED) and _PICTURES.search(words):
            found = {_mark(blob.data) for blob in _pictures(request.messages)}
        is_new = bool(found - self._without)
        self._without |= found
        return is_new

    def _can_leave_out(self, words: str) -> bool:
        for name, meant in _FIELDS.get(self._wire, {}).items():
            if name not in self._left_out and meant.search(words):
                self._left_out.add(name)
                return True
        return False

    def _can_rewrite(self, words: str, request: Request) -> bool:
        if self._wire != "chat":
            return False
        return self._rows.heed(words, objects(WIRES[self._wire].body(request)["messages"]))

    def _left(self, key: str, value: Json) -> Iterator[tuple[str, Json]]:
        if key not in self._left_out:
            yield key, self._unmarked(value) if key == "system" else value
        elif key == "max_completion_tokens":
            yield "max_tokens", value

    def _unmarked(self, system: Json) -> Json:
        if "cache_control" not in self._left_out or not isinstance(system, list):
            return system
        blocks = (block for block in system if isinstance(block, Mapping))
        return [{"type": "text", "text": block.get("text")} for block in blocks]

    def _told(self, message: Message) -> Message:
        if isinstance(message, Answered):
            is_refused = _is_sealed(message) and _mark(message.raw) in self._without
            return replace(message, wire="", raw=()) if is_refused else message
        if not isinstance(message, Returned):
            return message
        replies = (
            replace(reply, result=replace(reply.result, content=self._content(reply.result)))
            for reply in message.replies
        )
        return replace(message, replies=tuple(replies))

    def _content(self, result: ToolResult) -> tuple[JsonObject, ...]:
        return tuple(self._block(block) for block in result.content)

    def _block(self, block: JsonObject) -> JsonObject:
        blob = _picture(block)
        if blob is None or _mark(blob.data) not in self._without:
            return block
        # As a resource: a block of text would say that the structured content is told already.
        return {"type": "resource", "resource": {"text": blob.line}}


def _is_sealed(message: Message) -> TypeGuard[Answered]:
    kinds = {"reasoning", "thinking", "redacted_thinking"}
    raw = message.raw if isinstance(message, Answered) else ()
    return any(item.get("type") in kinds or "reasoning_details" in item for item in raw)


def _pictures(messages: Iterable[Message]) -> Iterator[Blob]:
    returned = (message for message in messages if isinstance(message, Returned))
    for reply in (reply for message in returned for reply in message.replies):
        yield from filter(None, map(_picture, reply.result.content))


def _picture(block: JsonObject) -> Blob | None:
    if block.get("type") == "text":
        return None
    part = parts(ToolResult(content=(block,)))[0]
    return part if isinstance(part, Blob) and (part.is_picture or part.is_pdf) else None


def _mark(content: str | Sequence[JsonObject]) -> bytes:
    return blake2b(json.dumps(content).encode(), digest_size=16).digest()
