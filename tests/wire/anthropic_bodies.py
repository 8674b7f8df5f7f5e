"""What the tests of Anthropic's wire share: bodies held against the SDK's types, and answers."""

import json
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter

from tests.models import anthropic_rules
from tests.models.request import Options
from tests.models.request import Request as HttpRequest
from tests.wire.checked import check
from tests.wire.growing import as_bytes
from tooldrawer.call import ToolResult
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire import anthropic
from tooldrawer.wire.message import Asked, Message, Reply, Request, Returned

PARAMS = TypeAdapter[Any](MessageCreateParamsNonStreaming)
TOOL = Tool(name="found", description="Found.", parameters={"type": "object", "properties": {}})
CALL = Asked(name="look", arguments={"a": 1}, id="toolu_1")
SEARCH = Asked(name="tool_search", arguments={"query": "x"}, id="toolu_2")


def body(*messages: Message, **more: Any) -> Any:
    made = anthropic.body(Request(model="model-1", messages=messages, **more))
    check(PARAMS, json.loads(as_bytes(made)))
    return made


def assert_taken(made: Any) -> None:
    """The scripted server, which is as strict as the API, takes the body."""
    sent = as_bytes(made)
    headers = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
    request = HttpRequest(
        wire="anthropic", path="", query={}, headers=headers, body=sent, json=json.loads(sent)
    )
    anthropic_rules.check(request, Options(), lambda thinking: "s")


def content(*messages: Message, **more: Any) -> Any:
    return body(*messages, **more)["messages"][-1]["content"]


def returned(result: ToolResult, call: Asked = CALL) -> Returned:
    return Returned(replies=(Reply(call=call, result=result),))


def response(*blocks: JsonObject, stop: str = "end_turn", **usage: int) -> dict[str, Json]:
    return {"id": "msg_1", "content": blocks, "stop_reason": stop, "usage": usage}


def used(text: str, calls: Any) -> JsonObject:
    """An answer as the API writes it."""
    rows: list[JsonObject] = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in calls
    ]
    thought: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    return response(thought, {"type": "text", "text": text}, *rows)
