"""Anthropic's Messages API: its answers. What it refuses is in anthropic_rules.py."""

import hashlib
import json
from typing import Any

from tests.models.anthropic_rules import check
from tests.models.request import (
    JsonObject,
    Options,
    Request,
    Result,
    Seen,
    compact,
    is_list,
    is_object,
    objects,
    text_of,
)
from tests.models.script import Call, Fail, Turn, as_call
from tests.models.stream import Reply, event, pieces
from tests.models.usage import Usage, prompt

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicWire:
    """Reads and answers /v1/messages."""

    name = "anthropic"

    def read(self, request: Request, options: Options) -> Seen:
        """What a model sees, if the API would take the request."""
        check(request, options, signature)
        body = request.json
        messages = objects(body["messages"])
        blocks = [block for message in messages for block in objects(message["content"])]
        results = [block for block in blocks if block["type"] == "tool_result"]
        tools = objects(body.get("tools"))
        shown = {ref["tool_name"] for block in results for ref in _references(block)}
        return Seen(
            request=request,
            model=body["model"],
            streamed=body.get("stream") is True,
            names=frozenset(
                tool["name"]
                for tool in tools
                if not tool.get("defer_loading") or tool["name"] in shown
            ),
            results=tuple(_result(block) for block in results),
            users=tuple(filter(None, (_said(message) for message in messages))),
            prompt=_prompt(body, tools),
            namespaces={},
        )

    def answer(self, turn: Turn, seen: Seen, usage: Usage, number: int) -> Reply:
        """The turn as a message and as events."""
        calls = [as_call(call) for call in turn.calls]
        stop = "max_tokens" if turn.truncated else "tool_use" if calls else "end_turn"
        head: JsonObject = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": seen.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(usage, cached=_wants_cache(seen.json)),
        }
        content = _content(turn, calls, number)
        whole = {**head, "content": content, "stop_reason": stop}
        return Reply(whole=whole, **_events(head, whole, turn, calls))

    def fail(self, fail: Fail) -> JsonObject:
        """The body of an error."""
        kind = fail.type or _TYPES.get(fail.status, "api_error")
        error = {"type": kind, "message": fail.message}
        return {"type": "error", "error": error, "request_id": "req_scripted"}

    def fail_event(self, fail: Fail) -> bytes:
        """An error in the middle of a stream."""
        return event(self.fail(fail), name="error")


def signature(thinking: str) -> str:
    """What proves that a thought comes back as it was given."""
    return "sig_" + hashlib.sha256(thinking.encode()).hexdigest()


def _references(block: JsonObject) -> list[JsonObject]:
    return [part for part in objects(block.get("content")) if part["type"] == "tool_reference"]


def _result(block: JsonObject) -> Result:
    names = [ref["tool_name"] for ref in _references(block)]
    text = text_of(block.get("content")) or "\n".join(names)
    return Result(call_id=block["tool_use_id"], text=text, is_error=block.get("is_error") is True)


def _said(message: JsonObject) -> str:
    if message["role"] != "user":
        return ""
    content = message["content"]
    if isinstance(content, str):
        return content
    return text_of([block for block in objects(content) if block["type"] == "text"])


def _prompt(body: JsonObject, tools: list[JsonObject]) -> bytes:
    """The prompt as it is cached: deferred tools stand where they are referred to."""
    known = {tool["name"]: tool for tool in tools}
    direct = [tool for tool in tools if not tool.get("defer_loading")]

    def expanded(value: Any) -> Any:
        if is_list(value):
            return [expanded(item) for item in value]
        if not is_object(value):
            return value
        if value.get("type") == "tool_reference":
            return known[value["tool_name"]]
        # A breakpoint says where to cut; it is not part of what is cached.
        return {key: expanded(item) for key, item in value.items() if key != "cache_control"}

    return prompt(expanded([direct, body.get("system")]), expanded(body["messages"]))


def _wants_cache(body: JsonObject) -> bool:
    return b'"cache_control"' in compact(body)


def _usage(usage: Usage, *, cached: bool) -> JsonObject:
    """Anthropic caches only where it is asked to, and counts the cache apart."""
    read = usage.cached if cached else 0
    written = usage.input - read if cached else 0
    return {
        "input_tokens": usage.input - read - written,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def _content(turn: Turn, calls: list[Call], number: int) -> list[JsonObject]:
    content: list[JsonObject] = []
    if turn.reasoning:
        thought = {"thinking": turn.reasoning, "signature": signature(turn.reasoning)}
        content.append({"type": "thinking", **thought})
    if turn.text or not calls:
        content.append({"type": "text", "text": turn.text})
    for index, call in enumerate(calls):
        block: JsonObject = {"type": "tool_use", "id": call.id or f"toolu_{number}_{index}"}
        block |= {} if call.name is None else {"name": call.name}
        content.append({**block, "input": _parsed(call.text)})
    return content


def _parsed(text: str) -> Any:
    """An API that answers whole has parsed the arguments; what it cannot parse stays text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _events(
    head: JsonObject, whole: JsonObject, turn: Turn, calls: list[Call]
) -> dict[str, list[bytes]]:
    begun = {**head, "usage": {**whole["usage"], "output_tokens": 1}}
    opening = [
        event({"type": "message_start", "message": begun}, name="message_start"),
        event({"type": "ping"}, name="ping"),
    ]
    words: list[bytes] = []
    closing: list[bytes] = []
    waiting = list(calls)
    for index, block in enumerate(whole["content"]):
        if block["type"] == "thinking":
            opening += _block(index, {**block, "thinking": "", "signature": ""}, _thought(block))
        elif block["type"] == "text":
            text = [{"type": "text_delta", "text": piece} for piece in pieces(turn.text)]
            begin, *words, end = _block(index, {"type": "text", "text": ""}, text)
            opening.append(begin)
            closing.append(end)
        else:
            raw = pieces(waiting.pop(0).text)
            parts = [{"type": "input_json_delta", "partial_json": part} for part in ("", *raw)]
            closing += _block(index, {**block, "input": {}}, parts)
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    last = {"type": "message_delta", "delta": stop, "usage": _final(whole["usage"])}
    closing.append(event(last, name="message_delta"))
    closing.append(event({"type": "message_stop"}, name="message_stop"))
    return {"opening": opening, "words": words, "closing": closing}


def _final(usage: JsonObject) -> JsonObject:
    return {key: value for key, value in usage.items() if key.endswith("_tokens")}


def _thought(block: JsonObject) -> list[JsonObject]:
    deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"])]
    return [*deltas, {"type": "signature_delta", "signature": block["signature"]}]


def _block(index: int, begin: JsonObject, deltas: list[JsonObject]) -> list[bytes]:
    def one(kind: str, **fields: Any) -> bytes:
        return event({"type": kind, "index": index, **fields}, name=kind)

    return [
        one("content_block_start", content_block=begin),
        *(one("content_block_delta", delta=delta) for delta in deltas),
        one("content_block_stop"),
    ]
