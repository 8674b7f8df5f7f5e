"""Calls in any shape that a host may hold them: ours, or a provider's own JSON."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from tooldrawer.call import ToolCall
from tooldrawer.tool import Json, JsonObject

if TYPE_CHECKING:  # a library that keeps its own messages does without
    from tooldrawer.wire.message import Asked

Call: TypeAlias = "ToolCall | Asked | tuple[str, Json] | JsonObject"
Calls: TypeAlias = Iterable[Call]
"""Calls as values, as a wire read them, as `(name, arguments)`, or as mappings.

A mapping is `{"name", "arguments"}`, or an entry as the provider sent it: chat completions
(`"function": {…}`), Responses (`"function_call"` with `call_id`), Messages (`"tool_use"`).
"""

_ARGUMENT_KEYS = ("arguments", "input", "args")
_ID_KEYS = ("call_id", "id")
"""A Responses item has both: `id` names the item, and the output must refer to `call_id`."""


def read_call(call: Call) -> ToolCall:
    """The call as a value. A missing name becomes an empty one, which the session refuses."""
    if isinstance(call, ToolCall):
        return call
    if isinstance(call, tuple):
        return ToolCall(name=call[0], arguments=cast("JsonObject", call[1]))
    if not isinstance(call, Mapping):
        return ToolCall(name=call.name, arguments=cast("JsonObject", call.arguments), id=call.id)
    function = call.get("function")
    inner = cast("JsonObject", function) if isinstance(function, Mapping) else call
    arguments = _first_present(inner, _ARGUMENT_KEYS)
    return ToolCall(
        name=str(inner.get("name") or ""),
        arguments=cast("JsonObject", arguments),
        id=str(_first_present(call, _ID_KEYS) or ""),
    )


def _first_present(entry: JsonObject, keys: tuple[str, ...]) -> Json:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)
