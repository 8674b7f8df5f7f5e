"""A tool's parameters in one line that a model can call it by."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard, cast

from tooldrawer.tool import Json, JsonObject, Tool

_MOST_REFERENCES = 8
_MOST_LEVELS = 8
_MOST_TYPES = 500
"""A schema may contain itself: what lies deeper, or comes after so many types, is `any`."""
_CUT = ", ...)"
_SIMPLE = {"string", "integer", "number", "boolean", "null", "object", "array"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much a signature says. Required parameters are always in it."""

    optional: bool = True
    """Optional parameters too; else three dots in their place."""
    values: int | None = None
    """How many values of an enumeration; all when none is given."""
    nested: bool = True
    """What the fields of an object are, one level deep."""
    types: bool = True
    """Types of parameters; else their names only."""


FULL = Detail()


def signature(tool: Tool, detail: Detail = FULL) -> str:
    """TypeScript-like parameters: required first, enumerations and defaults kept."""
    return _Reader(tool.parameters, detail).parameters(tool.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortSignature:
    """A signature of bounded length."""

    text: str
    is_shortened: bool
    """Whether something was left out."""


_SHORTER = (
    Detail(values=6),
    Detail(values=6, nested=False),
    Detail(optional=False, values=4, nested=False),
    Detail(optional=False, types=False),
)


def short_signature(tool: Tool, *, max_chars: int) -> ShortSignature:
    """The signature, with less detail when it is longer than `max_chars`, and then cut."""
    text = signature(tool)
    if len(text) <= max_chars:
        return ShortSignature(text=text, is_shortened=False)
    for detail in _SHORTER:
        text = signature(tool, detail)
        if len(text) <= max_chars:
            return ShortSignature(text=text, is_shortened=True)
    cut = text[: max_chars - len(_CUT)]
    whole_names = cut.rpartition(", ")[0] or cut
    return ShortSignature(text=f"{whole_names}{_CUT}", is_shortened=True)


class _Reader:
    """Reads one schema; `root` is where its references point."""

    def __init__(self, root: JsonObject, detail: Detail) -> None:
        self._root = root
        self._detail = detail
        self._level = 0
        self._types = 0
        self._resolutions = 0

    def parameters(self, schema: JsonObject) -> str:
        return f"({', '.join(self._fields(schema, nested=self._detail.nested))})"

    def _fields(self, schema: JsonObject, *, nested: bool) -> list[str]:
        properties, required = _properties(self._resolved(schema))
        first = [name for name in properties if name in required]
        fields = [self._field(name, properties[name], "", nested=nested) for name in first]
        fields += [f"{_printable(name)}: unknown" for name in required if name not in properties]
        rest = [name for name in properties if name not in required]
        if self._detail.optional:
            fields += [self._field(name, properties[name], "?", nested=nested) for name in rest]
        elif rest:
            fields.append("...")
        return fields

    def _field(self, name: str, schema: Json, mark: str, *, nested: bool) -> str:
        shown = f"{_printable(name)}{mark}"
        if not self._detail.types:
            return shown
        text = f"{shown}: {self._type(schema, nested=nested)}"
        part = self._resolved(schema)
        if "default" in part and part["default"] is not None:
            text += f" = {_literal(part['default'])}"
        return text

    def _type(self, schema: Json, *, nested: bool) -> str:
        self._types += 1
        if self._level >= _MOST_LEVELS or self._types > _MOST_TYPES:
            return "any"
        self._level += 1
        try:
            return self._known_type(self._resolved(schema), nested=nested)
        finally:
            self._level -= 1

    def _known_type(self, part: JsonObject, *, nested: bool) -> str:
        if "const" in part:
            return _literal(part["const"])
        values = part.get("enum")
        if _is_list(values):
            return self._values(cast("Sequence[Json]", values))
        for key in ("anyOf", "oneOf"):
            options = part.get(key)
            if _is_list(options):
                found = (
                    self._type(item, nested=nested) for item in cast("Sequence[Json]", options)
                )
                return "|".join(dict.fromkeys(found)) or "any"
        return self._plain(part, nested=nested)

    def _plain(self, part: JsonObject, *, nested: bool) -> str:
        kind = part.get("type")
        if _is_list(kind):
            kinds = [str(item) for item in cast("Sequence[Json]", kind)]
            return "|".join(self._plain({**part, "type": item}, nested=nested) for item in kinds)
        if kind == "array":
            item = self._type(part.get("items") or {}, nested=nested)
            return f"({item})[]" if "|" in item else f"{item}[]"
        if nested and part.get("properties"):
            return f"{{{', '.join(self._fields(part, nested=False))}}}"
        return kind if isinstance(kind, str) and kind in _SIMPLE else "any"

    def _values(self, values: Sequence[Json]) -> str:
        most = self._detail.values
        shown = "|".join(map(_literal, values[:most]))
        return shown if most is None or len(values) <= most else f"{shown}|..."

    def _resolved(self, schema: Json, references: int = _MOST_REFERENCES) -> JsonObject:
        """The schema with references inside the same document followed and `allOf` put together."""
        part: JsonObject = cast("JsonObject", schema) if isinstance(schema, Mapping) else {}
        reference, every = part.get("$ref"), part.get("allOf")
        others = [_pointed(self._root, reference)] if _is_local(reference) else []
        others += cast("Sequence[Json]", every) if _is_list(every) else ()
        self._resolutions += 1
        if not others or not references or self._resolutions > _MOST_TYPES:
            return part
        whole = {key: value for key, value in part.items() if key not in ("$ref", "allOf")}
        for other in others[:_MOST_REFERENCES]:
            whole = _joined(self._resolved(other, references - 1), whole)
        return whole


def _is_local(reference: Json) -> TypeGuard[str]:
    return isinstance(reference, str) and reference.startswith("#")


def _joined(one: JsonObject, other: JsonObject) -> dict[str, Json]:
    """Both schemas at once: the properties and the required ones of either."""
    properties, required = _properties(one)
    more, also = _properties(other)
    joined = {**one, **other}
    if properties or more:
        joined["properties"] = {**properties, **more}
    if required or also:
        joined["required"] = list(dict.fromkeys((*required, *also)))
    return joined


def _properties(schema: JsonObject) -> tuple[JsonObject, list[str]]:
    properties, required = schema.get("properties"), schema.get("required")
    names = cast("Sequence[Json]", required) if _is_list(required) else ()
    return (
        cast("JsonObject", properties) if isinstance(properties, Mapping) else {},
        [name for name in names if isinstance(name, str)],
    )


def _pointed(root: JsonObject, reference: str) -> Json:
    place: Json = root
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        place = cast("JsonObject", place).get(key) if isinstance(place, Mapping) else None
    return place


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _printable(name: str) -> str:
    """A parameter's name; one that would leave the line is written as JSON."""
    return name if name.isprintable() else json.dumps(name)


def _literal(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
