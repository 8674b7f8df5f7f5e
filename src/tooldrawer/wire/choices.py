"""Choices between whole schemas at the top of a tool's parameters, which providers refuse there."""

from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.odd import an_object, objects

CHOICES = ("oneOf", "anyOf", "allOf")


def every_parameter(schema: JsonObject) -> dict[str, Json]:
    """The parameters of the schema and of all its choices; of two with one name the first."""
    branches = [branch for key in CHOICES for branch in objects(schema.get(key))]
    found: dict[str, Json] = {}
    for branch in (schema, *branches):
        for name, value in an_object(branch.get("properties")).items():
            found.setdefault(name, value)
    return found
