"""A tool as the texts it is found by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from tooldrawer.search.text import spaced
from tooldrawer.tool import Json, JsonObject, Tool

# What nobody reads does not make a tool easier to find: a megabyte costs what a page does.
_LONGEST_NAME = 256
_LONGEST_DESCRIPTION = 4_000
_LONGEST_PARAMETER = 400
_MOST_PARAMETERS = 64
_MOST_VALUES = 24
_LONGEST_VALUE = 40
_NESTED = 1

_ENCODED_DESCRIPTION = 400
_ENCODED_PARAMETERS = 8


NAME, SERVER = 1, 2
"""Where in a tool a word stands, as bits, as far as it matters for its rank."""


@dataclass(frozen=True, slots=True)
class Field:
    """A text of a tool, and its weight in hundredths.

    Whole numbers, so that lengths stay whole and a score does not depend on the order in which an
    index grew. Chosen on public tool-retrieval sets, where a tool's own name says most.
    """

    text: str
    weight: int
    place: int = 0


def fields(tool: Tool) -> Iterator[Field]:
    """What a tool is found by: name, server, description, parameters and their values."""
    yield Field(tool.local_name[:_LONGEST_NAME], 200, NAME)
    yield Field(tool.server[:_LONGEST_NAME], 150, SERVER)
    yield Field(tool.description[:_LONGEST_DESCRIPTION], 60)
    yield from _parameters(tool.parameters, _NESTED)


def passage(tool: Tool) -> str:
    """What the encoder reads of a tool, the telling parts first."""
    description = " ".join(tool.description[:_LONGEST_DESCRIPTION].split())[:_ENCODED_DESCRIPTION]
    properties = _properties(tool.parameters)
    names = [name[:_LONGEST_NAME] for name in list(properties)[:_ENCODED_PARAMETERS]]
    parameters = " ".join(map(spaced, names))
    server, name = spaced(tool.server[:_LONGEST_NAME]), spaced(tool.local_name[:_LONGEST_NAME])
    return f"{server}: {name}. {description} {parameters}"


def _parameters(schema: JsonObject, depth: int) -> Iterator[Field]:
    for name, described in list(_properties(schema).items())[:_MOST_PARAMETERS]:
        yield Field(name[:_LONGEST_NAME], 33)
        if not isinstance(described, Mapping):
            continue
        parameter = cast("JsonObject", described)
        yield Field(_text(parameter.get("description"))[:_LONGEST_PARAMETER], 22)
        values = parameter.get("enum")
        if isinstance(values, list | tuple):
            for value in values[:_MOST_VALUES]:
                yield Field(_text(value)[:_LONGEST_VALUE], 22)
        if depth:
            yield from _parameters(parameter, depth - 1)
            items = parameter.get("items")
            if isinstance(items, Mapping):
                yield from _parameters(cast("JsonObject", items), depth - 1)


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return cast("JsonObject", properties) if isinstance(properties, Mapping) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
