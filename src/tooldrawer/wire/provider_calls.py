"""Calls in any shape that a host may hold them: ours, or a provider's own JSON."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from tooldrawer.call import ToolCall
from tooldrawer.tool import Json, JsonObject

if TYPE_CHECKING:  # a library that keeps its own messages does without
    from tooldrawer.wire.message import Asked

Call: TypeAlias = "ToolCall | Asked | ProviderCall | tuple[str, Json] | JsonObject"
Calls: TypeAlias = "Iterable[Call]"
"""Calls as values, as a wire read them, as `(name, arguments)`, as mappings or as SDK objects.

A mapping is `{"name", "arguments"}`, or an entry as the provider sent it: chat completions
(`"function": {…}`), Responses (`"function_call"` with `call_id`), Messages (`"tool_use"`). The
objects that the SDKs of OpenAI and Anthropic make of those have the same fields.
"""

_ARGUMENT_KEYS = ("arguments", "input", "args")
_ID_KEYS = ("call_id", "id")
"""A Responses item has both: `id` names the item, and the output must refer to `call_id`."""
_INNER_KEYS = ("function", "custom")
_EXPECTED = (
    'An entry is a ToolCall, a pair (name, arguments), a mapping such as {"name": ..., '
    '"arguments": ...}, or a call as the SDK of OpenAI or Anthropic gives it.'
)


class NamedCall(Protocol):
    """A call of the Responses or Messages API as an SDK gives it."""

    @property
    def name(self) -> str:
        """Of the tool."""
        ...


class ChatCall(Protocol):
    """A call of a chat completion as an SDK gives it."""

    @property
    def function(self) -> NamedCall:
        """Name and arguments."""
        ...


ProviderCall: TypeAlias = NamedCall | ChatCall


def read_call(call: Call) -> ToolCall:
    """The call as a value. A missing name becomes an empty one, which the session refuses.

    Raises:
        TypeError: It is nothing that can be read as a call.
    """
    if isinstance(call, ToolCall):
        return call
    if isinstance(call, tuple):
        return _read_pair(call)
    outer = _fields(call)
    inner = next((_fields(outer[key]) for key in _INNER_KEYS if outer.get(key) is not None), outer)
    return ToolCall(
        name=str(inner.get("name") or ""),
        arguments=cast("JsonObject", _first_present(inner, _ARGUMENT_KEYS)),
        id=str(_first_present(outer, _ID_KEYS) or ""),
    )


def _read_pair(call: tuple[object, ...]) -> ToolCall:
    match call:
        case (str(name), arguments):
            return ToolCall(name=name, arguments=cast("JsonObject", arguments))
        case _:
            raise TypeError(f"{call!r:.100} cannot be read as a call. {_EXPECTED}")


def _fields(entry: object) -> Mapping[str, object]:
    """What a mapping or an object says about a call."""
    if isinstance(entry, Mapping):
        return cast("Mapping[str, object]", entry)
    if not any(hasattr(entry, key) for key in ("name", *_INNER_KEYS)):
        raise TypeError(f"{entry!r:.100} cannot be read as a call. {_EXPECTED}")
    keys = ("name", *_INNER_KEYS, *_ARGUMENT_KEYS, *_ID_KEYS)
    return {key: getattr(entry, key, None) for key in keys}


def _first_present(entry: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)
