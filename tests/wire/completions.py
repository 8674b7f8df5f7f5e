"""Chat Completions as OpenAI writes it, and bodies held against the types of its SDK."""

import json
from collections.abc import Iterable
from typing import Any

from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from tests.golden.conversations import PIXEL
from tests.wire.checked import check
from tests.wire.growing import as_bytes
from tooldrawer.call import ToolResult
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire import chat
from tooldrawer.wire.message import (
    Asked,
    Message,
    Reply,
    Request,
    Returned,
)

PARAMS = TypeAdapter[Any](CompletionCreateParamsNonStreaming)
CALL = Asked(name="look", arguments={"a": 1}, id="call_1")
PICTURE: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def body(*messages: Message, **more: Any) -> Any:
    made = chat.body(Request(model="model-1", messages=messages, **more))
    assert json.loads(as_bytes(made)) == made
    check(PARAMS, made)
    return made


def sent(*messages: Message, **more: Any) -> Any:
    return body(*messages, **more)["messages"]


def returned(*results: ToolResult) -> Returned:
    calls = (Asked(name="look", id=f"call_{number}") for number in range(1, 9))
    pairs = zip(calls, results, strict=False)
    return Returned(replies=tuple(Reply(call=call, result=result) for call, result in pairs))


def response(finish: str = "stop", **message: Any) -> dict[str, Json]:
    said = {"role": "assistant", **({} if "content" in message else {"content": None}), **message}
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}


def called(name: Any, arguments: Any, call_id: Any = "call_1") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def answered(text: str, calls: Iterable[Asked]) -> JsonObject:
    """An answer as the API writes it."""
    rows = [called(call.name, json.dumps(call.arguments), call.id) for call in calls]
    return response(content=text, tool_calls=rows) if rows else response(content=text)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(text: Any, *, index: int | None = 0, **more: Any) -> dict[str, Any]:
    name = {"name": more.pop("name")} if "name" in more else {}
    number = {} if index is None else {"index": index}
    return {**number, **more, "function": {**name, "arguments": text}}


def streamed(*events: JsonObject) -> tuple[chat.ChatStream, str]:
    stream = chat.ChatStream()
    return stream, "".join([stream.feed(event) for event in events])
