"""Small mistakes in arguments that can be put right without guessing."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import jsonschema_rs

from tooldrawer.call import thaw
from tooldrawer.tool import Json

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_MOST_REPAIRS = 50

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """One value put right."""

    path: Path
    before: Json
    after: Json
    is_left_out: bool = False

    def __str__(self) -> str:
        place = "".join(f"/{part}" for part in self.path)
        if self.is_left_out:
            return f"{place}: null left out"
        return f"{place}: {_shown(self.before)} → {_shown(self.after)}"


def repaired(
    arguments: dict[str, Json], validator: jsonschema_rs.Validator
) -> tuple[dict[str, Json], tuple[Repair, ...]]:
    """The arguments with every safe repair made, and the list of them.

    A repair is kept only when the complaint about its place goes away.
    """
    current, repairs = arguments, list[Repair]()
    while len(repairs) < _MOST_REPAIRS:
        step = _next_step(current, validator)
        if step is None:
            break
        current, repair = step
        repairs.append(repair)
    return current, tuple(repairs)


def _next_step(
    arguments: dict[str, Json], validator: jsonschema_rs.Validator
) -> tuple[dict[str, Json], Repair] | None:
    errors = list(validator.iter_errors(arguments))
    before = {_identity(error) for error in errors}
    for error in errors:
        for path, repair in _candidates(error):
            changed = _with(arguments, path, repair)
            left = {_identity(found) for found in validator.iter_errors(changed)}
            if _identity(error) not in left and len(left) < len(before) + _new_below(left, path):
                return changed, repair
    return None


def _identity(error: jsonschema_rs.ValidationError) -> tuple[Path, tuple[str | int, ...]]:
    return tuple(error.instance_path), tuple(error.schema_path)


def _new_below(left: set[tuple[Path, tuple[str | int, ...]]], path: Path) -> int:
    """Complaints inside a value that only now can be looked into, e.g. a decoded object."""
    return sum(1 for place, _ in left if len(place) > len(path) and place[: len(path)] == path)


def _candidates(error: jsonschema_rs.ValidationError) -> Iterator[tuple[Path, Repair]]:
    path = tuple(error.instance_path)
    value = cast("Json", error.instance)
    if path and isinstance(path[-1], str) and value is None and _is_type_error(error):
        yield path, Repair(path, None, None, is_left_out=True)
    for leaf in _leaves(error):
        place = tuple(leaf.instance_path)
        if not place:
            continue
        old = cast("Json", leaf.instance)
        for new in _values(old, leaf):
            yield place, Repair(place, old, new)


def _is_type_error(error: jsonschema_rs.ValidationError) -> bool:
    return error.kind.name in ("type", "anyOf", "oneOf", "enum")


def _leaves(error: jsonschema_rs.ValidationError) -> Iterator[jsonschema_rs.ValidationError]:
    """The complaint itself, or those of each alternative that was not met."""
    context = getattr(error.kind, "context", None)
    if not context:
        yield error
        return
    for branch in context:
        if len(branch) == 1:
            yield from _leaves(branch[0])


def _values(value: Json, error: jsonschema_rs.ValidationError) -> Iterator[Json]:
    kind = error.kind
    if kind.name == "type":
        for wanted in cast("Sequence[str]", kind.types):  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            yield from _as_type(value, wanted)
    elif kind.name == "enum" and isinstance(value, str):
        options = cast("Sequence[Json]", kind.options)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        yield from _as_one_of(value, options)


def _as_type(value: Json, wanted: str) -> Iterator[Json]:
    if isinstance(value, str):
        yield from _from_text(value, wanted)
    if wanted == "array" and value is not None and not isinstance(value, list):
        yield [thaw(value)]


def _from_text(value: str, wanted: str) -> Iterator[Json]:
    text = value.strip()
    if wanted == "integer" and _WHOLE.fullmatch(text):
        yield int(text)
    elif wanted == "number" and _NUMBER.fullmatch(text):
        yield int(text) if _WHOLE.fullmatch(text) else float(text)
    elif wanted == "boolean" and text.casefold() in ("true", "false"):
        yield text.casefold() == "true"
    elif wanted in ("object", "array") and text[:1] in ("{", "["):
        try:
            decoded = cast("Json", json.loads(text))
        except (ValueError, RecursionError):
            return
        if isinstance(decoded, dict if wanted == "object" else list):
            yield decoded


def _as_one_of(value: str, options: Sequence[Json]) -> Iterator[Json]:
    folded = value.strip().casefold()
    same = [item for item in options if isinstance(item, str) and item.strip().casefold() == folded]
    if len(same) == 1:
        yield same[0]


def _with(arguments: dict[str, Json], path: Path, repair: Repair) -> dict[str, Json]:
    """A copy with one value changed or left out."""
    copy = cast("dict[str, Json]", thaw(arguments))
    place: Json = copy
    for step in path[:-1]:
        place = cast("dict[str | int, Json]", place)[step]
    holder = cast("dict[str | int, Json]", place)
    if repair.is_left_out:
        del holder[path[-1]]
    else:
        holder[path[-1]] = repair.after
    return copy


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
