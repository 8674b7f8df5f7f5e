"""A tool's parameters as OpenAI takes them. One schema that it refuses is a refused request."""

from collections.abc import Mapping, Sequence
from typing import cast

from tooldrawer.call import thaw
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.choices import CHOICES, every_parameter
from tooldrawer.wire.odd import an_object

_REFUSED_AT_THE_TOP = (*CHOICES, "enum", "not")
_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_LISTS_OF_SCHEMAS = (*CHOICES, "prefixItems")
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions")


def accepted(parameters: JsonObject) -> dict[str, Json]:
    """The schema itself, unless the API refuses it; then one that admits all that it admits.

    Refused are: no `properties` at the top, choices between whole schemas there, a type other than
    an object, and a list that does not say of what. What is called is checked against the tool's
    own schema in any case.
    """
    schema = an_object(_mended(parameters))
    found = dict(schema)
    properties = dict(an_object(schema.get("properties")))
    if any(key in schema for key in _REFUSED_AT_THE_TOP):
        properties = every_parameter(schema)
        for key in (*_REFUSED_AT_THE_TOP, "additionalProperties"):
            found.pop(key, None)
    return {**found, "type": "object", "properties": properties}


def _mended(schema: Json) -> Json:
    """A copy in which every list says of what; values that are no schemas are left alone."""
    if not isinstance(schema, Mapping):
        return thaw(schema)
    found: dict[str, Json] = {}
    for key, value in schema.items():
        if key in _NAMED_SCHEMAS and isinstance(value, Mapping):
            named = cast("JsonObject", value).items()
            found[key] = {name: _mended(each) for name, each in named if _is_schema(each)}
        elif key in _LISTS_OF_SCHEMAS and _is_list(value):
            found[key] = [_mended(each) for each in cast("Sequence[Json]", value)]
        else:
            found[key] = _mended(value) if key in _SCHEMAS else thaw(value)
    kind = found.get("type")
    if (kind == "array" or (_is_list(kind) and "array" in cast("Sequence[Json]", kind))) and not (
        "items" in found or "prefixItems" in found
    ):
        found["items"] = {}
    return found


def _is_schema(value: Json) -> bool:
    return isinstance(value, bool | Mapping)


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
