"""What the model asked the bridge for, however sloppily it was wrapped."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, cast

from tooldrawer.bridge.schemas import BridgeNames
from tooldrawer.catalog import Catalog
from tooldrawer.errors import CallRejected, InvalidArguments, UnknownTool
from tooldrawer.tool import Json, JsonObject

MOST_AT_ONCE = 10
_NAME_KEYS = ("name", "tool_name", "tool", "names")
_ARGUMENT_KEYS = ("arguments", "args", "input", "params", "parameters")
_QUERY_KEYS = ("query", "queries", "q")
_LIMIT_KEYS = ("limit", "max_results", "top_k")
_ENVELOPE_KEYS = (*_ARGUMENT_KEYS, "tool_call", "function", "request")


@dataclass(frozen=True, slots=True)
class SearchTools:
    """Find tools for each query."""

    queries: tuple[str, ...]
    limit: int | None = None
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class DescribeTools:
    """Show the schema of each name."""

    names: tuple[str, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class CallTool:
    """Run a tool: the underlying one, never the bridge."""

    name: str
    arguments: JsonObject = field(default_factory=dict[str, Json])


Request = SearchTools | DescribeTools | CallTool


def parse(name: str, arguments: Json, names: BridgeNames) -> Request:
    """Read any call, bridge or direct, from any JSON whatever.

    Raises:
        InvalidArguments: It cannot be understood; the text says how to ask.
    """
    if name not in tuple(names):
        return CallTool(name, _arguments(arguments))
    if name == names.call:
        return _unwrapped(arguments, names, depth=0)
    keys = _QUERY_KEYS if name == names.search else _NAME_KEYS
    example = _example(name, names)
    envelope = _envelope(arguments, keys, text_is=keys[0])
    texts, is_list = _texts(_first(envelope, keys), example)
    if name == names.search:
        return SearchTools(texts, _whole_number(_first(envelope, _LIMIT_KEYS)), is_list)
    return DescribeTools(texts, is_list)


def depends_on_all_tools(name: str, arguments: Json, names: BridgeNames, catalog: Catalog) -> bool:
    """Whether tools that are not in the catalog yet could change the answer to a call."""
    try:
        request = parse(name, arguments, names)
        if isinstance(request, SearchTools):
            return True
        for wanted in (request.name,) if isinstance(request, CallTool) else request.names:
            catalog.get(wanted)
    except UnknownTool:
        return True
    except CallRejected:
        return False  # what is wrong with it is reported when it is answered
    return False


def _unwrapped(arguments: Json, names: BridgeNames, *, depth: int) -> Request:
    if _is_like_json(arguments) and (error := _json_error(arguments)):
        example = _example(names.call, names)
        raise InvalidArguments(f"The arguments are not valid JSON: {error}. {example}")
    envelope = _envelope(arguments, _NAME_KEYS, text_is=None)
    name = _first(envelope, _NAME_KEYS)
    if not isinstance(name, str) or not name.strip():
        raise InvalidArguments(_example(names.call, names))
    name = name.strip()
    inner = _inner_arguments(envelope)
    if name == names.call and depth == 0:
        return _unwrapped(inner, names, depth=1)
    if name in tuple(names):
        raise InvalidArguments(
            f"{name!r} cannot be called through {names.call!r}. Call {name!r} itself, "
            f"or give {names.call!r} the name of a tool that {names.search!r} found."
        )
    return CallTool(name, _arguments(inner))


def _inner_arguments(envelope: JsonObject) -> Json:
    for key in _ARGUMENT_KEYS:
        if key in envelope:
            return envelope[key]
    # Small models put the arguments beside the name instead of under it.
    return {key: value for key, value in envelope.items() if key not in _NAME_KEYS}


def _envelope(arguments: Json, wanted: tuple[str, ...], *, text_is: str | None) -> JsonObject:
    """The object that has one of the `wanted` keys: the arguments, or one level inside them."""
    outer = _decoded(arguments)
    if isinstance(outer, Mapping):
        whole = cast("JsonObject", outer)
        if any(key in whole for key in wanted):
            return whole
        for key in _ENVELOPE_KEYS:
            inner = _decoded(whole.get(key))
            if isinstance(inner, Mapping) and any(key in inner for key in wanted):
                return cast("JsonObject", inner)
            if text_is and isinstance(inner, str) and inner.strip():
                return {text_is: inner}
        return whole
    if text_is and outer is not None:
        return {text_is: outer}
    return {}


def _arguments(arguments: Json) -> JsonObject:
    value = _decoded(arguments)
    blank = isinstance(value, str) and value.strip() in ("", "null")
    if blank or value is None or value in ([], ()):
        return {}
    if isinstance(value, Mapping):
        return cast("JsonObject", value)
    if error := _json_error(arguments):
        raise InvalidArguments(
            f"The arguments are not valid JSON: {error}. "
            "Call again with a JSON object that has the tool's parameters."
        )
    raise InvalidArguments(
        "The arguments must be a JSON object with the tool's parameters, "
        f"not {_kind(value)}. Call again with an object."
    )


def _json_error(text: Json) -> str:
    """What is wrong with a text as JSON, and where; nothing when it is JSON or not a text.

    It does not repeat the text, which may hold a secret and goes into the activity.
    """
    if not isinstance(text, str):
        return ""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            return f"the text ends too early, after {len(text):,} characters"
        place = f"line {error.lineno}, column {error.colno} (character {error.pos + 1:,})"
        return f"{error.msg} at {place}".replace(" at at ", " at ")
    except RecursionError:
        return "it is nested too deep"
    except ValueError:  # Python reads no number of more than 4,300 digits
        return "a number has too many digits"
    return ""


def _is_like_json(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and value.strip()[:1] in ("{", "[", '"')


def _decoded(value: Json) -> Json:
    """JSON inside a text, taken out; any other text stays a text."""
    if _is_like_json(value):
        try:
            return cast("Json", json.loads(value))
        except (ValueError, RecursionError):
            return value
    return value


def _texts(value: Json, example: str) -> tuple[tuple[str, ...], bool]:
    found = _decoded(value)
    is_list = isinstance(found, Sequence) and not isinstance(found, str)
    items = cast("Sequence[Json]", found) if is_list else (found,)
    texts = tuple(item.strip() for item in items if isinstance(item, str) and item.strip())
    if not texts or len(texts) != len(items):
        raise InvalidArguments(example)
    if len(texts) > MOST_AT_ONCE:
        raise InvalidArguments(
            f"At most {MOST_AT_ONCE} at once, not {len(texts)}. Ask for the most important ones."
        )
    return texts, is_list


def _whole_number(value: Json) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return int(float(value)) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _first(envelope: JsonObject, keys: tuple[str, ...]) -> Json:
    return next((envelope[key] for key in keys if envelope.get(key) is not None), None)


def _example(name: str, names: BridgeNames) -> str:
    if name == names.search:
        return f'{name} needs "query", e.g. {{"query": "create github issue"}}.'
    if name == names.describe:
        return f'{name} needs "name", as {names.search} gave it, e.g. {{"name": "mcp_git_log"}}.'
    return (
        f'{name} needs "name" and "arguments", '
        'e.g. {"name": "mcp_git_log", "arguments": {"limit": 5}}. '
        f"Find names with {names.search}."
    )


def _kind(value: Json) -> str:
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, Sequence) else "a single value"


def unnested(arguments: JsonObject, parameters: JsonObject) -> JsonObject:
    """The arguments, taken out of one more envelope when the tool has no parameter of that name."""
    properties = parameters.get("properties")
    if len(arguments) != 1 or not isinstance(properties, Mapping):
        return arguments
    key = next(iter(arguments))
    inner = _decoded(arguments[key])
    if key in properties or key not in _ARGUMENT_KEYS or not isinstance(inner, Mapping):
        return arguments
    return cast("JsonObject", inner)
