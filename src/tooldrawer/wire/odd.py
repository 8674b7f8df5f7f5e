"""JSON of a stranger, who may have put anything anywhere."""

from collections.abc import Mapping, Sequence
from typing import cast

from tooldrawer.tool import Json, JsonObject


def an_object(value: Json) -> JsonObject:
    """The object, or an empty one."""
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def objects(value: Json) -> tuple[JsonObject, ...]:
    """The objects of an array; what else is in it is left out."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    return tuple(cast("JsonObject", item) for item in value if isinstance(item, Mapping))


def a_text(value: Json) -> str:
    """The text, or an empty one."""
    return value if isinstance(value, str) else ""


def a_count(value: Json) -> int:
    """The number of something, or zero."""
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else 0
