"""Schemas without what a model does not need: they are paid for on every turn."""

from collections.abc import Mapping, Sequence
from typing import cast

from tooldrawer.tool import Json, JsonObject


def lean(schema: JsonObject) -> JsonObject:
    """The same schema with references filled in, and without null as a value or a default.

    To leave an argument out says the same as null; the dispatcher repairs a null. What a class
    says about itself is for readers of the code.
    """
    shared = cast("JsonObject", schema.get("$defs", {}))
    return cast("JsonObject", _lean({k: v for k, v in schema.items() if k != "$defs"}, shared))


def _lean(value: Json, shared: JsonObject) -> Json:
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        return value
    if isinstance(value, Sequence):
        return [_lean(item, shared) for item in value]
    part = _without_null(_filled(value, shared))
    return {key: _lean(item, shared) for key, item in part.items() if not _is_idle(key, item)}


def _filled(part: JsonObject, shared: JsonObject) -> JsonObject:
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return part
    found = cast("JsonObject", shared[reference.removeprefix("#/$defs/")])
    return {key: value for key, value in found.items() if key != "description"}


def _without_null(part: JsonObject) -> JsonObject:
    choices = part.get("anyOf")
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        return part
    left = [choice for choice in choices if choice != {"type": "null"}]
    others = {key: value for key, value in part.items() if key != "anyOf"}
    if len(left) == 1 and isinstance(left[0], Mapping):
        return {**left[0], **others}
    return {**others, "anyOf": left}


def _is_idle(key: str, value: Json) -> bool:
    # Unknown arguments are refused all the same, by the reader of the function's signature.
    return (key == "additionalProperties" and value is False) or (
        key == "default" and value is None
    )
