"""A definition in its own words, with what is known about the tool now laid over it."""

from tooldrawer.call import thawed
from tooldrawer.tool import NO_PARAMETERS, Json, JsonObject


def overlaid(raw: JsonObject, known: dict[str, Json]) -> dict[str, Json]:
    """`raw` in its own order, its known fields renewed; what it left out or empty stays so."""
    renewed = {
        key: value
        for key, value in known.items()
        if key == "name" or (key in raw and not (_is_nothing(raw[key]) and _is_nothing(value)))
    }
    return {**thawed(raw), **renewed}


def _is_nothing(value: Json) -> bool:
    return value in (None, "", {}, NO_PARAMETERS)
