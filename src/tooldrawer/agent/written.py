"""Messages as they are kept: one JSON object each, and back without loss."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar, cast

from tooldrawer.call import ToolResult
from tooldrawer.errors import ToolDrawerError
from tooldrawer.tool import NO_PARAMETERS, Json, JsonObject, Shape, Tool
from tooldrawer.wire.message import Answered, Asked, Message, Reply, Returned, Said, Summary, Usage

Kind = TypeVar("Kind")

_SHAPES: Mapping[str, Shape] = {"mcp": "mcp", "openai": "openai", "anthropic": "anthropic"}


def written(message: Message, *, conversation: str) -> bytes:
    """The message as JSON in UTF-8, whatever is inside.

    Two things are not JSON as others know it, and come back all the same: NaN and the infinities,
    which Python's own parser gives for `NaN` and `1e999`, are written by these names; half a
    character (a lone surrogate) is written as it is. Escaped, two halves that meet would come back
    as one character. `ToolResult.cause` is not kept: it is for the host that made the call.

    Raises:
        ToolDrawerError: Something in it is no JSON at all, or nested too deep.
    """
    try:
        text = json.dumps(
            _message(message), ensure_ascii=False, separators=(",", ":"), default=_plain
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolDrawerError(
            f"A message of the conversation {conversation} cannot be kept, because it is not JSON: "
            f"{error}. Look at what the last tool gave back; the conversation itself can go on."
        ) from error
    return text.encode("utf-8", "surrogatepass")


def read(kept: bytes, *, conversation: str) -> Message:
    """The message again.

    Raises:
        ToolDrawerError: It is damaged, or of a kind that only a later version knows.
    """
    try:
        found: object = json.loads(kept.decode("utf-8", "surrogatepass"))
        return _read(_Part(found, "the message"))
    except (ValueError, RecursionError) as error:
        raise ToolDrawerError(
            f"A message of the conversation {conversation} cannot be read: {error}. "
            "Begin a new conversation, or update tooldrawer if a later version wrote this one."
        ) from error


def _plain(value: object) -> object:
    """Mappings and sequences that `json` does not know as such."""
    if isinstance(value, Mapping):
        return dict(cast("JsonObject", value))
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return list(cast("Sequence[Json]", value))
    raise TypeError(f"a {type(value).__name__} has no JSON")


def _message(message: Message) -> dict[str, Json]:
    match message:
        case Said():
            return {"kind": "said", "text": message.text}
        case Answered():
            return _answered(message)
        case Returned():
            replies = [
                {"call": _asked(reply.call), "result": _result(reply.result)}
                for reply in message.replies
            ]
            return {"kind": "returned", "replies": replies}
        case Summary():
            tools = [_tool(tool) for tool in message.tools]
            return {"kind": "summary", "text": message.text, "tools": tools}


def _answered(message: Answered) -> dict[str, Json]:
    usage = message.usage
    return {
        "kind": "answered",
        "text": message.text,
        "calls": [_asked(call) for call in message.calls],
        "wire": message.wire,
        "raw": message.raw,
        "usage": {
            "input": usage.input,
            "cached": usage.cached,
            "written": usage.written,
            "output": usage.output,
        },
        "complete": message.complete,
    }


def _asked(call: Asked) -> dict[str, Json]:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "id": call.id,
        "native": call.native,
    }


def _result(result: ToolResult) -> dict[str, Json]:
    return {
        "content": result.content,
        "structured": result.structured,
        "is_error": result.is_error,
        "meta": result.meta,
        "call_id": result.call_id,
        "tools": [_tool(tool) for tool in result.tools],
    }


def _tool(tool: Tool) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "source": tool.source,
        "annotations": tool.annotations,
        "trusted": tool.trusted,
        "origin_name": tool.origin_name,
        "long_name": tool.long_name,
        "raw": tool.raw,
        "shape": tool.shape,
    }


class _Part:
    """An object read from JSON, whose fields are asked for by what they must be.

    What a dataclass has a default for may be missing, as in its constructor.
    """

    def __init__(self, found: object, where: str) -> None:
        if not isinstance(found, dict):
            raise ValueError(f"{where} is not an object")  # noqa: TRY004  it is the file's fault
        self._found = cast("dict[str, Json]", found)
        self._where = where

    def json(self, key: str) -> Json:
        return self._found.get(key)

    def text(self, key: str, default: str | None = "") -> str:
        return self._of(str, key, default)

    def flag(self, key: str, *, default: bool = False) -> bool:
        return self._of(bool, key, default)

    def number(self, key: str) -> int:
        return self._of(int, key, 0)

    def mapping(self, key: str, default: JsonObject = MappingProxyType({})) -> JsonObject:
        return self.part(key).whole if key in self._found else dict(default)

    def objects(self, key: str) -> tuple[JsonObject, ...]:
        return tuple(part.whole for part in self.parts(key))

    def part(self, key: str) -> "_Part":
        return _Part(self._found.get(key, {}), key)

    def parts(self, key: str) -> tuple["_Part", ...]:
        items = self._found.get(key, [])
        if not isinstance(items, list):
            raise ValueError(f"{key!r} of {self._where} is no list")  # noqa: TRY004  as above
        return tuple(_Part(item, key) for item in items)

    @property
    def whole(self) -> JsonObject:
        return self._found

    def _of(self, kind: type[Kind], key: str, default: Kind | None) -> Kind:
        value = self._found.get(key, default)
        if type(value) is not kind:  # and so a flag is no number
            what = "no " + kind.__name__ if key in self._found else "missing"
            raise ValueError(f"{key!r} of {self._where} is {what}")
        return cast("Kind", value)


def _read(found: _Part) -> Message:
    match kind := found.text("kind", None):
        case "said":
            return Said(text=found.text("text", None))
        case "answered":
            return _read_answered(found)
        case "returned":
            return Returned(replies=tuple(map(_read_reply, found.parts("replies"))))
        case "summary":
            return Summary(text=found.text("text", None), tools=_read_tools(found))
        case _:
            raise ValueError(f"nobody here knows its kind, {kind!r}")


def _read_answered(found: _Part) -> Answered:
    usage = found.part("usage")
    return Answered(
        text=found.text("text"),
        calls=tuple(map(_read_asked, found.parts("calls"))),
        wire=found.text("wire"),
        raw=found.objects("raw"),
        usage=Usage(
            input=usage.number("input"),
            cached=usage.number("cached"),
            written=usage.number("written"),
            output=usage.number("output"),
        ),
        complete=found.flag("complete", default=True),
    )


def _read_asked(found: _Part) -> Asked:
    return Asked(
        name=found.text("name", None),
        arguments=found.json("arguments"),
        id=found.text("id"),
        native=found.flag("native"),
    )


def _read_reply(found: _Part) -> Reply:
    result = found.part("result")
    return Reply(
        call=_read_asked(found.part("call")),
        result=ToolResult(
            content=result.objects("content"),
            structured=result.json("structured"),
            is_error=result.flag("is_error"),
            meta=result.mapping("meta"),
            call_id=result.text("call_id"),
            tools=_read_tools(result),
        ),
    )


def _read_tools(found: _Part) -> tuple[Tool, ...]:
    return tuple(map(_read_tool, found.parts("tools")))


def _read_tool(found: _Part) -> Tool:
    shape = found.text("shape", "mcp")
    if shape not in _SHAPES:
        raise ValueError(f"nobody here knows the shape of a tool, {shape!r}")
    return Tool(
        name=found.text("name", None),
        description=found.text("description"),
        parameters=found.mapping("parameters", NO_PARAMETERS),
        source=found.text("source"),
        annotations=found.mapping("annotations"),
        trusted=found.flag("trusted"),
        origin_name=found.text("origin_name"),
        long_name=found.text("long_name"),
        raw=found.mapping("raw"),
        shape=_SHAPES[shape],
    )
