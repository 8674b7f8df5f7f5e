"""Items as the Responses API writes them, and bodies held against the types of OpenAI's SDK."""

import json
from collections.abc import Iterable
from typing import Any

from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from openai.types.responses.response_input_item_param import ResponseInputItemParam
from pydantic import TypeAdapter

from tests.golden.conversations import PIXEL
from tests.wire.checked import check
from tests.wire.growing import as_bytes
from tooldrawer.bridge.schemas import BridgeNames
from tooldrawer.call import ToolResult
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire import responses
from tooldrawer.wire.message import (
    Asked,
    Message,
    Reply,
    Request,
    Returned,
)

PARAMS = TypeAdapter[Any](ResponseCreateParamsNonStreaming)
ITEM = TypeAdapter[Any](ResponseInputItemParam)
NAMES = BridgeNames()
TOOL = Tool(name="found", description="Found.", parameters={"type": "object", "properties": {}})
CALL = Asked(name="look", arguments={"a": 1}, id="call_1")
SEARCH = Asked(name="tool_search", arguments={"query": "x"}, id="call_s", native=True)
PICTURE: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
REASONING: JsonObject = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [],
    "encrypted_content": "sealed",
}
MESSAGE: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
}
FUNCTION: JsonObject = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{ "a" : 1 }',
    "status": "completed",
}
SEARCHING: JsonObject = {
    "id": "tsc_1",
    "type": "tool_search_call",
    "execution": "client",
    "call_id": "call_s",
    "status": "completed",
    "arguments": {"query": "x"},
}


def body(*messages: Message, **more: Any) -> Any:
    made = responses.body(Request(model="model-1", messages=messages, **more))
    assert json.loads(as_bytes(made)) == made
    check(PARAMS, made)
    return made


def sent(*messages: Message, **more: Any) -> Any:
    items = body(*messages, **more)["input"]
    for item in items:
        check(ITEM, item)
    return items


def returned(result: ToolResult, call: Asked = CALL) -> Returned:
    return Returned(replies=(Reply(call=call, result=result),))


def response(*output: Any, status: str = "completed", **more: Any) -> dict[str, Json]:
    return {"id": "resp_1", "object": "response", "status": status, "output": output, **more}


def answered(text: str, calls: Iterable[Asked]) -> JsonObject:
    """An answer as the API writes it: searches in its own kind."""
    rows: list[JsonObject] = []
    for call in calls:
        if call.name == "tool_search":
            rows.append({**SEARCHING, "call_id": call.id, "arguments": call.arguments})
        else:
            arguments = json.dumps(call.arguments)
            rows.append({**FUNCTION, "call_id": call.id, "name": call.name, "arguments": arguments})
    content: Json = [{"type": "output_text", "text": text, "annotations": []}]
    return response({**REASONING, "status": None}, {**MESSAGE, "content": content}, *rows)


def streamed(*events: JsonObject) -> tuple[responses.ResponsesStream, str]:
    stream = responses.ResponsesStream()
    return stream, "".join([stream.feed(event) for event in events])


def delta(text: str, at: int = 0) -> JsonObject:
    return {"type": "response.output_text.delta", "output_index": at, "delta": text}
