"""OpenAPI's `nullable: true`, which JSON Schema does not know, in words that it does."""

from collections.abc import Mapping
from typing import cast

from tooldrawer.tool import Json, JsonObject

_VALUE_KEYWORDS = frozenset({"const", "enum", "default", "example", "examples"})
"""Keywords that hold values, not schemas."""
_NOT_ONLY_TYPE = frozenset({"const", "$ref", "anyOf", "oneOf", "allOf", "not"})
"""Keywords that may refuse null by themselves."""
_MAX_LEVELS = 128
"""Deeper schemas are not checked at all."""
_NULL: JsonObject = {"type": "null"}


def allow_null(schema: JsonObject) -> dict[str, Json]:
    """A copy of the schema in which everything nullable accepts null, to a bounded depth."""
    return cast("dict[str, Json]", _rewrite(schema, _MAX_LEVELS))


def _rewrite(part: Json, levels: int) -> Json:
    if not levels:
        return part
    if isinstance(part, list):
        return [_rewrite(item, levels - 1) for item in part]
    if not isinstance(part, Mapping):
        return part
    copy: dict[str, Json] = {
        key: value if key in _VALUE_KEYWORDS else _rewrite(value, levels - 1)
        for key, value in part.items()
    }
    return _accept_null(copy) if copy.get("nullable") is True else copy


def _accept_null(schema: dict[str, Json]) -> Json:
    kind, values = schema.get("type"), schema.get("enum")
    if not isinstance(kind, str) or schema.keys() & _NOT_ONLY_TYPE:
        return {"anyOf": [schema, _NULL]}
    schema["type"] = [kind, "null"]
    if isinstance(values, list) and None not in values:
        schema["enum"] = [*values, None]
    return schema
