"""OpenAI Chat Completions, and everything that imitates it."""

import time
from typing import Any

from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

from tests.models.openai import (
    MOST_TOOLS,
    check_door,
    check_fields,
    check_name,
    check_type,
    failure,
)
from tests.models.request import (
    JsonObject,
    Options,
    Refused,
    Request,
    Result,
    Seen,
    is_object,
    objects,
    text_of,
)
from tests.models.script import Call, Fail, Turn, as_call
from tests.models.stream import Reply, event, pieces
from tests.models.usage import Usage, prompt

_FIELDS = frozenset(CompletionCreateParamsStreaming.__annotations__)
_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_FUNCTION = ("name", "description", "parameters", "strict")


class ChatWire:
    """Reads and answers /v1/chat/completions."""

    name = "chat"

    def read(self, request: Request, options: Options) -> Seen:
        """What a model sees, if the API would take the request."""
        check_door(request, options)
        body = request.json
        check_fields(body, _FIELDS)
        _check_options(body)
        tools = _checked_tools(body)
        messages = _checked_messages(body)
        _check_answers(messages)
        return Seen(
            request=request,
            model=body["model"],
            streamed=body.get("stream") is True,
            names=frozenset(tool["function"]["name"] for tool in tools),
            results=tuple(
                Result(call_id=message["tool_call_id"], text=text_of(message.get("content")))
                for message in messages
                if message["role"] == "tool"
            ),
            users=tuple(text_of(m.get("content")) for m in messages if m["role"] == "user"),
            prompt=prompt(tools, messages),
            namespaces={},
        )

    def answer(self, turn: Turn, seen: Seen, usage: Usage, number: int) -> Reply:
        """The turn as a completion and as chunks."""
        calls = [as_call(call) for call in turn.calls]
        whole = _completion(turn, calls, seen, usage, number)
        return Reply(whole=whole, **_chunks(turn, calls, seen, whole))

    def fail(self, fail: Fail) -> JsonObject:
        """The body of an error."""
        return failure(fail)

    def fail_event(self, fail: Fail) -> bytes:
        """An error in the middle of a stream."""
        return event(failure(fail))


def _check_options(body: JsonObject) -> None:
    if body.get("stream_options") is not None and body.get("stream") is not True:
        raise Refused(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and not body.get("tools"):
            raise Refused(f"'{name}' is only allowed when 'tools' are specified.", param=name)


def _checked_tools(body: JsonObject) -> list[JsonObject]:
    if body.get("tools") is None:
        return []
    check_type(body["tools"], list, "tools", "an array of objects")
    if not body["tools"]:
        raise Refused("[] is too short - 'tools'", param="tools")
    if len(body["tools"]) > MOST_TOOLS:
        raise Refused(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS},"
            f" but got an array with length {len(body['tools'])} instead.",
            param="tools",
            code="array_above_max_length",
        )
    for index, tool in enumerate(body["tools"]):
        _check_tool(tool, f"tools[{index}]")
    return objects(body["tools"])


def _check_tool(tool: Any, where: str) -> None:
    check_type(tool, dict, where, "an object")
    if tool.get("type") != "function":
        raise Refused(
            f"Invalid value: '{tool.get('type')}'. Supported values are: 'function' and 'custom'.",
            param=f"{where}.type",
            code="invalid_value",
        )
    check_fields(tool, ("type", "function"), f"{where}.")
    check_type(tool.get("function"), dict, f"{where}.function", "an object")
    check_fields(tool["function"], _FUNCTION, f"{where}.function.")
    check_name(tool["function"].get("name"), f"{where}.function.name")
    schema = tool["function"].get("parameters", {})
    check_type(schema, dict, f"{where}.function.parameters", "an object")
    if schema and schema.get("type") != "object":
        raise Refused(
            f"Invalid schema for function '{tool['function']['name']}': schema must be a JSON"
            f" Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'.",
            param=f"{where}.function.parameters",
            code="invalid_function_parameters",
        )


def _checked_messages(body: JsonObject) -> list[JsonObject]:
    check_type(body.get("messages"), list, "messages", "an array of objects")
    if not body["messages"]:
        raise Refused(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an"
            " empty array instead.",
            param="messages",
            code="empty_array",
        )
    for index, message in enumerate(body["messages"]):
        _check_message(message, f"messages[{index}]")
    return objects(body["messages"])


def _check_message(message: Any, where: str) -> None:
    check_type(message, dict, where, "an object")
    if message.get("role") not in _ROLES:
        values = ", ".join(f"'{role}'" for role in _ROLES)
        raise Refused(
            f"Invalid value: '{message.get('role')}'. Supported values are: {values}.",
            param=f"{where}.role",
            code="invalid_value",
        )
    _check_content(message, where)
    if "tool_calls" in message:
        _check_calls(message["tool_calls"], where)
    if message["role"] == "tool":
        check_type(message.get("tool_call_id"), str, f"{where}.tool_call_id", "a string")


def _check_content(message: JsonObject, where: str) -> None:
    content = message.get("content")
    if content is None and message["role"] == "assistant" and message.get("tool_calls"):
        return
    check_type(content, (str, list), f"{where}.content", "one of a string or array of objects")
    allowed = ("text", "image_url", "input_audio", "file")
    if message["role"] != "user":
        allowed = ("text", "refusal") if message["role"] == "assistant" else ("text",)
    for index, part in enumerate([] if isinstance(content, str) else objects(content)):
        if part.get("type") not in allowed:
            raise Refused(
                f"Invalid value: '{part.get('type')}'. Supported values are:"
                f" {', '.join(repr(kind) for kind in allowed)}.",
                param=f"{where}.content[{index}].type",
                code="invalid_value",
            )


def _check_calls(calls: Any, where: str) -> None:
    check_type(calls, list, f"{where}.tool_calls", "an array of objects")
    if not calls:
        raise Refused(
            f"Invalid '{where}.tool_calls': empty array. Expected an array with minimum length 1,"
            " but got an empty array instead.",
            param=f"{where}.tool_calls",
            code="empty_array",
        )
    for index, call in enumerate(calls):
        at = f"{where}.tool_calls[{index}]"
        check_type(call, dict, at, "an object")
        check_type(call.get("id"), str, f"{at}.id", "a string")
        if call.get("type") != "function":
            raise Refused(
                f"Missing required parameter: '{at}.type'.",
                param=f"{at}.type",
                code="missing_required_parameter",
            )
        check_type(call.get("function"), dict, f"{at}.function", "an object")
        check_name(call["function"].get("name"), f"{at}.function.name")
        arguments = call["function"].get("arguments")
        check_type(arguments, str, f"{at}.function.arguments", "a string")


def _check_answers(messages: list[JsonObject]) -> None:
    """Each call is answered by a tool message with its id, right after it."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            _settle(message["tool_call_id"], waiting, index)
            continue
        _check_settled(waiting)
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    _check_settled(waiting)


def _settle(call_id: str, waiting: list[str], index: int) -> None:
    if call_id not in waiting:
        raise Refused(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding"
            " message with 'tool_calls'.",
            param=f"messages.[{index}].role",
        )
    waiting.remove(call_id)


def _check_settled(waiting: list[str]) -> None:
    if waiting:
        raise Refused(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to"
            " each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(waiting),
            param="messages",
        )


def _completion(turn: Turn, calls: list[Call], seen: Seen, usage: Usage, number: int) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}_{index}",
                "type": "function",
                "function": _function(call),
            }
            for index, call in enumerate(calls)
        ]
    finish = "length" if turn.truncated else "tool_calls" if calls else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": seen.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def _function(call: Call) -> JsonObject:
    function: JsonObject = {} if call.name is None else {"name": call.name}
    function["arguments"] = call.text
    return function


def _chunks(turn: Turn, calls: list[Call], seen: Seen, whole: JsonObject) -> dict[str, list[bytes]]:
    wanted = seen.json.get("stream_options")
    counted = is_object(wanted) and wanted.get("include_usage") is True
    head: JsonObject = {key: whole[key] for key in ("id", "created", "model")}
    head |= {"object": "chat.completion.chunk", "system_fingerprint": "fp_scripted"}
    head |= {"usage": None} if counted else {}

    def chunk(delta: JsonObject, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**head, "choices": [choice]})

    first = {
        "role": "assistant",
        "content": None if calls and not turn.text else "",
        "refusal": None,
    }
    closing = [chunk(delta) for delta in _call_deltas(whole)]
    closing.append(chunk({}, whole["choices"][0]["finish_reason"]))
    if counted:
        closing.append(event({**head, "choices": [], "usage": whole["usage"]}))
    closing.append(b"data: [DONE]\n\n")
    return {
        "opening": [
            chunk(first),
            *(chunk({"reasoning_content": p}) for p in pieces(turn.reasoning)),
        ],
        "words": [chunk({"content": piece}) for piece in pieces(turn.text)],
        "closing": closing,
    }


def _call_deltas(whole: JsonObject) -> list[JsonObject]:
    deltas: list[JsonObject] = []
    for index, call in enumerate(whole["choices"][0]["message"].get("tool_calls", ())):
        begin = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        deltas.append({"tool_calls": [begin]})
        deltas.extend(
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in pieces(call["function"]["arguments"])
        )
    return deltas
