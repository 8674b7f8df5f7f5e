"""What Anthropic's Messages API refuses, in its own words."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from anthropic.types import (
    DocumentBlockParam,
    ImageBlockParam,
    RedactedThinkingBlockParam,
    SearchResultBlockParam,
    TextBlockParam,
    ThinkingBlockParam,
    ToolParam,
    ToolReferenceBlockParam,
    ToolResultBlockParam,
    ToolUseBlockParam,
)
from anthropic.types.beta.message_create_params import (
    MessageCreateParamsStreaming as BetaMessageCreateParams,
)
from anthropic.types.message_create_params import MessageCreateParamsStreaming

from tests.models.request import (
    JsonObject,
    Options,
    Refused,
    Request,
    compact,
    is_list,
    is_object,
    objects,
)

_FIELDS = frozenset(MessageCreateParamsStreaming.__annotations__)
_BETA_FIELDS = frozenset(BetaMessageCreateParams.__annotations__) - {"betas"}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MOST_BREAKPOINTS = 4
_TOOL = frozenset(ToolParam.__annotations__)
_INNER = {
    "text": frozenset(TextBlockParam.__annotations__),
    "image": frozenset(ImageBlockParam.__annotations__),
    "document": frozenset(DocumentBlockParam.__annotations__),
    "search_result": frozenset(SearchResultBlockParam.__annotations__),
}
_REFERENCE = {"tool_reference": frozenset(ToolReferenceBlockParam.__annotations__)}
_BLOCKS = {
    "user": _INNER | {"tool_result": frozenset(ToolResultBlockParam.__annotations__)},
    "assistant": {
        "text": _INNER["text"],
        "thinking": frozenset(ThinkingBlockParam.__annotations__),
        "redacted_thinking": frozenset(RedactedThinkingBlockParam.__annotations__),
        "tool_use": frozenset(ToolUseBlockParam.__annotations__),
    },
    "system": {"text": _INNER["text"]},
}

Sign = Callable[[str], str]


def check(request: Request, options: Options, sign: Sign) -> None:
    """The API would take the request."""
    _check_door(request, options)
    body = request.json
    known = _BETA_FIELDS if request.query.get("beta") == "true" else _FIELDS
    _check_fields(body, known, "")
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise Refused(f"{name}: Field required")
    _check_model(body["model"], options)
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        raise Refused("max_tokens: Input should be greater than or equal to 1")
    _check_tools(body, options)
    _check_messages(body, options, sign)
    _check_pairs(objects(body["messages"]))
    _check_references(body)
    found = compact(body).count(b'"cache_control":{')
    if found > _MOST_BREAKPOINTS:
        raise Refused(
            f"A maximum of {_MOST_BREAKPOINTS} blocks with cache_control may be provided."
            f" Found {found}."
        )


def _check_door(request: Request, options: Options) -> None:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    key = request.headers.get("x-api-key", bearer)
    if options.auth and not key:
        raise Refused("x-api-key header is required", status=401)
    if key == "wrong":
        raise Refused("invalid x-api-key", status=401)
    if "anthropic-version" not in request.headers:
        raise Refused("anthropic-version: header is required")


def _check_model(model: object, options: Options) -> None:
    if not isinstance(model, str):
        raise Refused("model: Input should be a valid string")
    if options.known_models is not None and model not in options.known_models:
        raise Refused(f"model: {model}", status=404)


def _check_fields(found: Iterable[str], known: Iterable[str], where: str) -> None:
    for name in found:
        if name not in known:
            raise Refused(f"{where}{name}: Extra inputs are not permitted")


def _check_tools(body: JsonObject, options: Options) -> None:
    tools = body.get("tools")
    if tools is None:
        if body.get("tool_choice") is not None:
            raise Refused("tool_choice: tool_choice may only be specified while providing tools.")
        return
    if not is_list(tools):
        raise Refused("tools: Input should be a valid list")
    for index, tool in enumerate(objects(tools)):
        _check_tool(tool, f"tools.{index}.", options)
    names = [tool["name"] for tool in objects(tools)]
    if len(set(names)) < len(names):
        raise Refused("tools: Tool names must be unique.")
    if names and all(tool.get("defer_loading") for tool in objects(tools)):
        raise Refused(
            "At least one tool must have defer_loading=false. All tools cannot be deferred."
        )


def _check_tool(tool: JsonObject, where: str, options: Options) -> None:
    if tool.get("type") not in {None, "custom"}:
        _check_hosted(tool, where, options)
        return
    _check_fields(tool, _TOOL if options.native else _TOOL - {"defer_loading"}, f"{where}custom.")
    if not isinstance(tool.get("name"), str):
        raise Refused(f"{where}custom.name: Field required")
    _check_name(tool["name"], f"{where}custom.name")
    schema = tool.get("input_schema")
    if not is_object(schema):
        raise Refused(f"{where}custom.input_schema: Field required")
    if schema.get("type") != "object":
        raise Refused(f"{where}custom.input_schema.type: Input should be 'object'")
    for word in ("oneOf", "allOf", "anyOf"):
        if word in schema:
            raise Refused(
                f"{where}custom.input_schema: input_schema does not support oneOf, allOf, or anyOf"
                " at the top level"
            )
    if tool.get("defer_loading") and tool.get("cache_control"):
        raise Refused(
            f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set."
            " Tools with defer_loading cannot use prompt caching."
        )


def _check_hosted(tool: JsonObject, where: str, options: Options) -> None:
    kind = str(tool.get("type"))
    if not kind.startswith("tool_search_tool_") or not options.native:
        raise Refused(
            f"{where[:-1]}: Input tag '{kind}' found using 'type' does not match any of the"
            " expected tags: 'custom'"
        )

    if not isinstance(tool.get("name"), str):
        raise Refused(f"{where}{kind}.name: Field required")


def _check_name(name: str, where: str) -> None:
    if not _NAME.fullmatch(name):
        raise Refused(f"{where}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")


def _check_messages(body: JsonObject, options: Options, sign: Sign) -> None:
    messages = body["messages"]
    if not is_list(messages) or not messages:
        raise Refused("messages: at least one message is required")
    for index, message in enumerate(objects(messages)):
        _check_message(message, f"messages.{index}", options, sign)
    if messages[0]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')
    if messages[-1]["role"] == "assistant":
        raise Refused(
            "This model does not support assistant message prefill. The conversation must end with"
            " a user message."
        )


def _check_message(message: JsonObject, where: str, options: Options, sign: Sign) -> None:
    _check_fields(message, ("role", "content"), f"{where}.")
    if message.get("role") not in _BLOCKS:
        raise Refused(f"{where}.role: Input should be 'user', 'assistant' or 'system'")
    content = message.get("content")
    if not isinstance(content, str) and not is_list(content):
        raise Refused(f"{where}.content: Input should be a valid list")
    if not content:
        raise Refused(f"{where}: all messages must have non-empty content")
    for index, block in enumerate(objects(content)):
        at = f"{where}.content.{index}"
        _check_block(block, _BLOCKS[message["role"]], at)
        _check_special(block, at, options, sign)


def _check_block(block: JsonObject, kinds: dict[str, frozenset[str]], where: str) -> None:
    kind = block.get("type")
    if kind not in kinds:
        tags = ", ".join(f"'{tag}'" for tag in sorted(kinds))
        raise Refused(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected"
            f" tags: {tags}"
        )
    _check_fields(block, kinds[kind], f"{where}.{kind}.")
    if kind == "text" and not isinstance(block.get("text"), str):
        raise Refused(f"{where}.text.text: Input should be a valid string")
    if kind == "text" and not block["text"]:
        raise Refused("messages: text content blocks must be non-empty")


def _check_special(block: JsonObject, where: str, options: Options, sign: Sign) -> None:
    if block["type"] == "tool_use":
        _check_use(block, f"{where}.tool_use")
    elif block["type"] == "tool_result":
        _check_result(block, f"{where}.tool_result", options)
    elif block["type"] == "thinking" and block.get("signature") != sign(block["thinking"]):
        raise Refused(f"{where}: Invalid `signature` in `thinking` block")


def _check_use(block: JsonObject, where: str) -> None:
    for name in ("id", "name"):
        if not isinstance(block.get(name), str):
            raise Refused(f"{where}.{name}: Field required")
    if not _ID.fullmatch(block["id"]):
        raise Refused(f"{where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    _check_name(block["name"], f"{where}.name")
    if not isinstance(block.get("input"), dict):
        raise Refused(f"{where}.input: Input should be a valid dictionary")


def _check_result(block: JsonObject, where: str, options: Options) -> None:
    if not isinstance(block.get("tool_use_id"), str):
        raise Refused(f"{where}.tool_use_id: Field required")
    content = block.get("content", "")
    if not isinstance(content, str) and not is_list(content):
        raise Refused(f"{where}.content: Input should be a valid list")
    kinds = _INNER | (_REFERENCE if options.native else {})
    for index, part in enumerate(objects(content)):
        _check_block(part, kinds, f"{where}.content.{index}")


def _check_pairs(messages: list[JsonObject]) -> None:
    """Each tool_use is answered in the next message, before anything else is said in it."""
    waiting: list[str] = []
    every: set[str] = set()
    for index, message in enumerate(messages):
        blocks = objects(message["content"])
        results = [block for block in blocks if block["type"] == "tool_result"]
        for at, block in enumerate(results):
            if block["tool_use_id"] not in waiting:
                raise Refused(
                    f"messages.{index}.content.{at}: unexpected `tool_use_id` found in"
                    f" `tool_result` blocks: {block['tool_use_id']}. Each `tool_result` block must"
                    " have a corresponding `tool_use` block in the previous message."
                )
        _check_answered(waiting, blocks, index)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(every | set(waiting)) < len(every) + len(waiting):
            raise Refused(f"messages.{index}.content: `tool_use` ids must be unique")
        every |= set(waiting)


def _check_answered(waiting: list[str], blocks: list[JsonObject], index: int) -> None:
    leading: list[Any] = []
    for block in blocks:
        if block["type"] != "tool_result":
            break
        leading.append(block["tool_use_id"])
    missing = [call for call in waiting if call not in leading]
    if missing:
        raise Refused(
            f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks"
            f" immediately after: {', '.join(missing)}. Each `tool_use` block must have a"
            " corresponding `tool_result` block in the next message."
        )


def _check_references(body: JsonObject) -> None:
    names = {tool["name"] for tool in objects(body.get("tools"))}
    for message in objects(body["messages"]):
        for block in objects(message["content"]):
            for part in objects(block.get("content")):
                if part["type"] == "tool_reference" and part.get("tool_name") not in names:
                    raise Refused(
                        f"Tool reference '{part.get('tool_name')}' not found in available tools"
                    )
