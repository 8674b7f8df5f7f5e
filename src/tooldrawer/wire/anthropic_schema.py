"""A tool's parameters as Anthropic takes them. One schema that it refuses is a refused request."""

import re

from tooldrawer.call import thawed
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.choices import CHOICES, every_parameter
from tooldrawer.wire.odd import a_text, an_object

_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def accepted(parameters: JsonObject) -> dict[str, Json]:
    """The schema itself, unless the API refuses it; then one that admits all that it admits.

    Of 2,367 tools of real servers, 9 do not say that they take an object and 9 have parameters
    with names like `StartTime<`. Choices between whole schemas are refused at the top too. What is
    called is checked against the tool's own schema in any case.
    """
    schema = thawed(parameters)
    if any(choice in schema for choice in CHOICES):
        schema = _without_choices(schema)
    schema = {**schema, "type": "object"}
    properties = an_object(schema.get("properties"))
    refused = [key for key in properties if not _KEY.fullmatch(key)]
    return _without(refused, schema, properties) if refused else schema


def _without_choices(schema: dict[str, Json]) -> dict[str, Json]:
    """Every parameter of every choice, none of them required but those that always are."""
    refused = (*CHOICES, "additionalProperties")
    kept = {key: value for key, value in schema.items() if key not in refused}
    return {**kept, "properties": every_parameter(schema)}


def _without(
    refused: list[str], schema: dict[str, Json], properties: JsonObject
) -> dict[str, Json]:
    """The schema without those parameters, which its description names instead."""
    kept = {key: value for key, value in schema.items() if key != "additionalProperties"}
    kept["properties"] = {key: value for key, value in properties.items() if key not in refused}
    required = kept.pop("required", None)
    if isinstance(required, list):
        kept["required"] = [key for key in required if key not in refused]
    told = f"Takes these parameters too: {', '.join(refused)}."
    kept["description"] = " ".join(filter(None, (a_text(schema.get("description")), told)))
    return kept
