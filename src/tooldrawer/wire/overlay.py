"""A definition in its own words, with what is known about the tool now laid over it."""

from tooldrawer.call import thawed
from tooldrawer.tool import Json, JsonObject


def overlaid(raw: JsonObject, known: dict[str, Json]) -> dict[str, Json]:
    """`raw` in its own order, its known fields renewed; what it left out stays left out."""
    return {**thawed(raw), **{key: known[key] for key in known if key in raw or key == "name"}}
