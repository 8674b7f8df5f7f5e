"""What OpenAI's Responses API refuses, in its own words."""

from collections.abc import Callable, Mapping
from typing import Any

from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

from tests.models.openai import check_door, check_fields, check_name, check_type, unknown
from tests.models.request import JsonObject, Options, Refused, Request, objects

_FIELDS = frozenset(ResponseCreateParamsStreaming.__annotations__)
_FUNCTION = (
    "type", "name", "description", "parameters", "strict", "defer_loading", "allowed_callers",
    "output_schema", "async",
)  # fmt: skip
_SEARCH = ("type", "execution", "description", "parameters")
_ITEMS = ("message", "function_call", "function_call_output", "reasoning", "item_reference",
          "additional_tools", "compaction")  # fmt: skip
_NATIVE_ITEMS = ("tool_search_call", "tool_search_output")
_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "reasoning": "rs",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
}
_MOST_ID = 64
_SAID = ("output_text", "refusal")
_ASKED = ("input_text", "input_image", "input_file", "input_audio")

Seal = Callable[[str], str]


def check(request: Request, items: list[JsonObject], options: Options, seal: Seal) -> None:
    """The API would take the request."""
    check_door(request, options)
    body = request.json
    check_fields(body, _FIELDS)
    check_type(body.get("input"), (str, list), "input", "one of a string or array of input items")
    _check_tools(body, options)
    for index, item in enumerate(items):
        _check_item(item, f"input[{index}]", options)
        if item.get("type") == "reasoning":
            _check_reasoning(items, index, seal, stored=body.get("store") is not False)
    _check_pairs(items, "function_call", "function_call_output", "function call")
    _check_pairs(items, "tool_search_call", "tool_search_output", "tool search call")


def check_namespaces(
    items: list[JsonObject], namespaces: Mapping[str, str], options: Options
) -> None:
    """Calls of loaded tools come back with the namespace in which the model made them."""
    for index, item in enumerate(items):
        if item.get("type") != "function_call":
            continue
        where = f"input[{index}].namespace"
        if "namespace" in item and not options.native:
            raise unknown(where)
        if item["name"] in namespaces and item.get("namespace") is None:
            raise Refused(
                f"Missing namespace for function_call '{item['name']}'. It does not exist in the"
                " default namespace. Round-trip the model's function_call item with its namespace"
                " field included.",
                param=where,
            )


def _check_tools(body: JsonObject, options: Options) -> None:
    if body.get("tools") is None:
        return
    check_type(body["tools"], list, "tools", "an array of objects")
    for index, tool in enumerate(body["tools"]):
        check_type(tool, dict, f"tools[{index}]", "an object")
        _check_tool(tool, f"tools[{index}]", options)
    tools = objects(body["tools"])
    deferred = [tool for tool in tools if tool.get("defer_loading")]
    if deferred and not any(tool["type"] == "tool_search" for tool in tools):
        raise Refused(
            "Tools with `defer_loading` set to true require a `tool_search` tool.", param="tools"
        )


def _check_tool(tool: JsonObject, where: str, options: Options) -> None:
    kinds = ("function", "custom", *(("tool_search", "namespace") if options.native else ()))
    if tool.get("type") not in kinds:
        raise _invalid(tool.get("type"), kinds, f"{where}.type")
    if tool["type"] == "tool_search":
        check_fields(tool, _SEARCH, f"{where}.")
        if tool.get("execution") == "client":
            _check_present(tool, ("description", "parameters"), where)
        return
    check_name(tool.get("name"), f"{where}.name")
    if tool["type"] == "namespace":
        _check_present(tool, ("description", "tools"), where)
        for index, inner in enumerate(objects(tool.get("tools"))):
            _check_tool(inner, f"{where}.tools[{index}]", options)
        return
    if "defer_loading" in tool and not options.native:
        raise unknown(f"{where}.defer_loading")
    if tool["type"] == "function":
        check_fields(tool, _FUNCTION, f"{where}.")
        parameters = tool.get("parameters")
        check_type(parameters, (dict, type(None)), f"{where}.parameters", "an object")


def _check_present(found: JsonObject, names: tuple[str, ...], where: str) -> None:
    for name in names:
        if found.get(name) is None:
            raise Refused(
                f"Missing required parameter: '{where}.{name}'.",
                param=f"{where}.{name}",
                code="missing_required_parameter",
            )


def _invalid(value: object, kinds: tuple[str, ...], param: str) -> Refused:
    supported = ", ".join(f"'{kind}'" for kind in kinds[:-1]) + f", and '{kinds[-1]}'"
    return Refused(
        f"Invalid value: '{value}'. Supported values are: {supported}.",
        param=param,
        code="invalid_value",
    )


def _check_item(item: JsonObject, where: str, options: Options) -> None:
    kind = item.get("type", "message" if "role" in item else None)
    kinds = _ITEMS + (_NATIVE_ITEMS if options.native else ())
    if kind not in kinds:
        raise _invalid(kind, kinds, where)
    _check_id(item, kind, where)
    if kind == "message":
        _check_message(item, where)
    elif kind == "function_call":
        _check_call(item, where)
    elif kind == "function_call_output":
        _check_output(item, where)
    elif kind == "tool_search_output":
        _check_present(item, ("call_id", "tools"), where)
        for index, tool in enumerate(objects(item["tools"])):
            _check_tool(tool, f"{where}.tools[{index}]", options)


def _check_id(item: JsonObject, kind: str, where: str) -> None:
    prefix = _PREFIXES.get(kind)
    if item.get("id") is None or prefix is None:
        return
    if not str(item["id"]).startswith(prefix):
        raise Refused(
            f"Invalid '{where}.id': '{item['id']}'. Expected an ID that begins with '{prefix}'.",
            param=f"{where}.id",
            code="invalid_value",
        )


def _check_message(item: JsonObject, where: str) -> None:
    roles = ("assistant", "system", "developer", "user")
    if item.get("role") not in roles:
        raise _invalid(item.get("role"), roles, f"{where}.role")
    content = item.get("content")
    check_type(content, (str, list), f"{where}.content", "one of a string or array of objects")
    kinds = _SAID if item["role"] == "assistant" else _ASKED
    _check_parts(content, kinds, f"{where}.content")


def _check_parts(content: Any, kinds: tuple[str, ...], where: str) -> None:
    for index, part in enumerate(objects(content)):
        if part.get("type") not in kinds:
            raise _invalid(part.get("type"), kinds, f"{where}[{index}]")


def _check_call(item: JsonObject, where: str) -> None:
    check_type(item.get("call_id"), str, f"{where}.call_id", "a string")
    if len(item["call_id"]) > _MOST_ID:
        raise Refused(
            f"Invalid '{where}.call_id': string too long. Expected a string with maximum length"
            f" {_MOST_ID}, but got a string with length {len(item['call_id'])} instead.",
            param=f"{where}.call_id",
            code="string_above_max_length",
        )
    check_name(item.get("name"), f"{where}.name")
    check_type(item.get("arguments"), str, f"{where}.arguments", "a string")


def _check_output(item: JsonObject, where: str) -> None:
    check_type(item.get("call_id"), str, f"{where}.call_id", "a string")
    kinds = "one of a string or array of objects"
    check_type(item.get("output"), (str, list), f"{where}.output", kinds)
    _check_parts(item["output"], _ASKED, f"{where}.output")


def _check_reasoning(items: list[JsonObject], index: int, seal: Seal, *, stored: bool) -> None:
    item = items[index]
    if item.get("encrypted_content") is None and not stored:
        raise Refused(
            f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is"
            " set to false. Try again with `store` set to true, or remove this item from your"
            " input.",
            status=404,
            param="input",
        )
    if item.get("encrypted_content") not in {None, seal(str(item.get("id")))}:
        raise Refused(
            f"The encrypted content for item {item.get('id')} could not be verified.",
            code="invalid_encrypted_content",
        )
    following = items[index + 1].get("type", "message") if index + 1 < len(items) else None
    if following not in {"message", "function_call", "tool_search_call", "reasoning"}:
        raise Refused(
            f"Item '{item.get('id')}' of type 'reasoning' was provided without its required"
            " following item.",
            param="input",
        )


def _check_pairs(items: list[JsonObject], call: str, output: str, word: str) -> None:
    """Each call has an output after it, each output a call before it."""
    waiting: list[str] = []
    every: set[str] = set()
    for item in items:
        if item.get("execution") == "server":
            continue
        call_id = item.get("call_id")
        if item.get("type") == call and str(call_id) in every:
            raise Refused(f"Duplicate {output} for call_id '{call_id}'.", param="input")
        if item.get("type") == call:
            every.add(str(call_id))
            waiting.append(str(call_id))
        elif item.get("type") == output:
            if call_id not in waiting:
                raise Refused(
                    f"No tool call found for {word} output with call_id {call_id}.", param="input"
                )
            waiting.remove(str(call_id))
    if waiting:
        raise Refused(f"No tool output found for {word} {waiting[0]}.", param="input")
