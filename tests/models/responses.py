"""OpenAI Responses: its answers. What it refuses is in responses_rules.py."""

import hashlib
import time
from itertools import count
from typing import Any

from tests.models.openai import failure
from tests.models.request import (
    JsonObject,
    Options,
    Refused,
    Request,
    Result,
    Seen,
    objects,
    text_of,
)
from tests.models.responses_rules import check, check_namespaces
from tests.models.script import Call, Fail, Huge, Search, Turn, as_call
from tests.models.stream import Reply, event, pieces
from tests.models.usage import Usage, prompt


class ResponsesWire:
    """Reads and answers /v1/responses; remembers what it said for `previous_response_id`."""

    name = "responses"

    def __init__(self) -> None:
        self._said: dict[str, list[JsonObject]] = {}

    def read(self, request: Request, options: Options) -> Seen:
        """What a model sees, if the API would take the request."""
        body = request.json
        items = [*self._before(body), *_items(body)]
        check(request, items, options, sealed)
        tools = objects(body.get("tools"))
        names, namespaces = _callable(tools, items)
        check_namespaces(items, namespaces, options)
        direct = [tool for tool in tools if not _deferred(tool)]
        return Seen(
            request=request,
            model=body["model"],
            streamed=body.get("stream") is True,
            names=names,
            results=tuple(filter(None, (_result(item) for item in items))),
            users=tuple(text_of(i.get("content")) for i in items if i.get("role") == "user"),
            prompt=prompt([direct, body.get("instructions")], items),
            searches=any(_searches(tool) for tool in tools),
            namespaces=namespaces,
        )

    def answer(self, turn: Turn, seen: Seen, usage: Usage, number: int) -> Reply:
        """The turn as a response and as events."""
        output = _output(turn, seen, number)
        whole = _response(seen, usage, output, f"resp_{number}", truncated=turn.truncated)
        self._said[whole["id"]] = [*self._before(seen.json), *_items(seen.json), *output]
        return Reply(whole=whole, **_events(whole))

    def fail(self, fail: Fail) -> JsonObject:
        """The body of an error."""
        return failure(fail)

    def fail_event(self, fail: Fail) -> bytes:
        """An error in the middle of a stream."""
        error = failure(fail)["error"]
        told = {key: error[key] for key in ("code", "message", "param")}
        return event({"type": "error", "sequence_number": 99, **told}, name="error")

    def _before(self, body: JsonObject) -> list[JsonObject]:
        earlier = body.get("previous_response_id")
        if earlier is None:
            return []
        if earlier not in self._said:
            raise Refused(
                f"Previous response with id '{earlier}' not found.",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return self._said[earlier]


def sealed(item_id: str) -> str:
    """The encrypted content of a reasoning item, which must come back as it was given."""
    return "gAAAA" + hashlib.sha256(item_id.encode()).hexdigest()


def _items(body: JsonObject) -> list[JsonObject]:
    given = body.get("input", [])
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return objects(given)


def _deferred(tool: JsonObject) -> bool:
    return tool.get("defer_loading") is True


def _searches(tool: JsonObject) -> bool:
    return tool.get("type") == "tool_search" and tool.get("execution") == "client"


def _namespaces(tools: list[JsonObject]) -> dict[str, str]:
    """The namespace of each function; a loaded one that is in none has one of its own name."""
    found: dict[str, str] = {}
    for tool in tools:
        if tool.get("type") == "namespace":
            found |= dict.fromkeys((one["name"] for one in objects(tool["tools"])), tool["name"])
        elif "name" in tool:
            found[tool["name"]] = tool["name"]
    return found


def _callable(
    tools: list[JsonObject], items: list[JsonObject]
) -> tuple[frozenset[str], dict[str, str]]:
    """Names that were shown, and the namespaces of those that are not in the default one."""
    default = {tool["name"] for tool in tools if tool["type"] == "function" and not _deferred(tool)}
    shown = [
        {**tool, "tools": [one for one in objects(tool["tools"]) if not _deferred(one)]}
        for tool in tools
        if tool["type"] == "namespace"
    ]
    for item in items:
        if item.get("type") == "tool_search_output":
            shown += objects(item.get("tools"))
        elif item.get("type") == "additional_tools":
            default |= {tool["name"] for tool in objects(item.get("tools")) if "name" in tool}
    found = {name: space for name, space in _namespaces(shown).items() if name not in default}
    return frozenset(default | set(found)), found


def _result(item: JsonObject) -> Result | None:
    if item.get("type") == "function_call_output":
        return Result(call_id=item["call_id"], text=text_of(item["output"]))
    if item.get("type") == "tool_search_output":
        names = [str(tool.get("name")) for tool in objects(item.get("tools"))]
        return Result(call_id=item.get("call_id") or "", text="\n".join(names))
    return None


def _output(turn: Turn, seen: Seen, number: int) -> list[JsonObject]:
    output: list[JsonObject] = []
    if turn.reasoning:
        item_id = f"rs_{number}"
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        item: JsonObject = {"id": item_id, "type": "reasoning", "summary": summary}
        output.append({**item, "encrypted_content": sealed(item_id), "status": "completed"})
    if turn.text or not turn.calls:
        part: JsonObject = {
            "type": "output_text",
            "text": turn.text,
            "annotations": [],
            "logprobs": [],
        }
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant"}
        output.append({**message, "status": "completed", "content": [part]})
    for index, call in enumerate(turn.calls):
        output.append(_called(call, seen, f"{number}_{index}"))
    return output


def _called(call: Call | Search | Huge, seen: Seen, number: str) -> JsonObject:
    call_id = (None if isinstance(call, Huge) else call.id) or f"call_{number}"
    if isinstance(call, Search) and seen.searches:
        return {
            "id": f"tsc_{number}",
            "type": "tool_search_call",
            "execution": "client",
            "call_id": call_id,
            "status": "completed",
            "arguments": call.arguments,
        }
    plain = as_call(call)
    item: JsonObject = {"id": f"fc_{number}", "type": "function_call", "call_id": call_id}
    item |= {} if plain.name is None else {"name": plain.name}
    if plain.name is not None and plain.name in seen.namespaces:
        item["namespace"] = seen.namespaces[plain.name]
    return {**item, "arguments": plain.text, "status": "completed"}


def _response(
    seen: Seen, usage: Usage, output: list[JsonObject], response_id: str, *, truncated: bool
) -> JsonObject:
    body = seen.json
    details = {"reason": "max_output_tokens"} if truncated else None
    return {
        "id": response_id,
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if truncated else "completed",
        "error": None,
        "incomplete_details": details,
        "instructions": body.get("instructions"),
        "metadata": body.get("metadata") or {},
        "model": seen.model,
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "store": body.get("store", True),
        "temperature": 1.0,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": [_echoed(tool) for tool in objects(body.get("tools"))],
        "top_p": 1.0,
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {
                "cached_tokens": usage.cached,
                "cache_write_tokens": usage.input - usage.cached,
            },
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        },
    }


def _echoed(tool: JsonObject) -> JsonObject:
    return {"strict": True, "parameters": None, **tool} if tool["type"] == "function" else tool


def _events(whole: JsonObject) -> dict[str, list[bytes]]:
    numbers = count()

    def one(kind: str, **fields: Any) -> bytes:
        return event({"type": kind, "sequence_number": next(numbers), **fields}, name=kind)

    begun: JsonObject = {**whole, "status": "in_progress", "output": [], "usage": None}
    begun["incomplete_details"] = None
    opening = [
        one("response.created", response=begun),
        one("response.in_progress", response=begun),
    ]
    words: list[bytes] = []
    closing: list[bytes] = []
    for index, item in enumerate(whole["output"]):
        begin = one("response.output_item.added", output_index=index, item=_empty(item))
        at = {"output_index": index, "item_id": item["id"]}
        told = [one(kind, **at, **fields) for kind, fields in _parts(item)]
        end = one("response.output_item.done", output_index=index, item=item)
        if item["type"] == "message":
            first, *words, done, last = told
            opening += [begin, first]
            closing += [done, last, end]
        else:
            (opening if item["type"] == "reasoning" else closing).extend([begin, *told, end])
    closing.append(one(f"response.{whole['status']}", response=whole))
    return {"opening": opening, "words": words, "closing": closing}


def _empty(item: JsonObject) -> JsonObject:
    """An item as it is when it begins."""
    blank: dict[str, JsonObject] = {
        "message": {"content": []},
        "reasoning": {"summary": [], "encrypted_content": ""},
        "function_call": {"arguments": ""},
    }
    return {**item, "status": "in_progress", **blank.get(item["type"], {})}


def _parts(item: JsonObject) -> list[tuple[str, JsonObject]]:
    """What is told of an item while it is made."""
    if item["type"] == "message":
        return _text_parts(item["content"][0])
    if item["type"] == "reasoning":
        return _summary_parts(item["summary"][0])
    if item["type"] != "function_call":
        return []
    name, text = "response.function_call_arguments", item["arguments"]
    done = {"arguments": text, "name": item.get("name")}
    return [*((f"{name}.delta", {"delta": part}) for part in pieces(text)), (f"{name}.done", done)]


def _text_parts(part: JsonObject) -> list[tuple[str, JsonObject]]:
    at = {"content_index": 0}
    name = "response.output_text"
    return [
        ("response.content_part.added", {**at, "part": {**part, "text": ""}}),
        *(
            (f"{name}.delta", {**at, "delta": piece, "logprobs": []})
            for piece in pieces(part["text"])
        ),
        (f"{name}.done", {**at, "text": part["text"], "logprobs": []}),
        ("response.content_part.done", {**at, "part": part}),
    ]


def _summary_parts(part: JsonObject) -> list[tuple[str, JsonObject]]:
    at = {"summary_index": 0}
    name = "response.reasoning_summary"
    return [
        (f"{name}_part.added", {**at, "part": {**part, "text": ""}}),
        *((f"{name}_text.delta", {**at, "delta": piece}) for piece in pieces(part["text"])),
        (f"{name}_text.done", {**at, "text": part["text"]}),
        (f"{name}_part.done", {**at, "part": part}),
    ]
