"""What a schema objects to, found in bounded time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import jsonschema_rs

from tooldrawer.call import is_deeper
from tooldrawer.dispatch.limits import MOST_LEVELS
from tooldrawer.tool import Json, JsonObject

Complaint = jsonschema_rs.ValidationError
Path = tuple[str | int, ...]

_FEW_LEVELS = 2
_MOST_LEVELS_EXPLAINED = 16
_MANY = 1_000


def complaints(
    arguments: JsonObject, validator: jsonschema_rs.Validator
) -> Sequence[Complaint] | None:
    """Every objection; nothing when they are too many to be told apart.

    Objections to alternatives inside alternatives multiply with every level, in a schema that
    contains itself to more than a computer can count. So they are asked for level by level, and no
    further when they become many.
    """
    if validator.is_valid(arguments) and not is_deeper(arguments, MOST_LEVELS):
        return ()
    if is_deeper(arguments, _MOST_LEVELS_EXPLAINED):
        return None
    levels = _FEW_LEVELS
    while is_deeper(arguments, levels):
        if _are_many(validator.iter_errors(_cut(arguments, levels))):
            return None
        levels += 1
    return list(validator.iter_errors(arguments))


def leaves(complaint: Complaint) -> Iterator[Complaint]:
    """The objection itself, or those of each alternative that was not met."""
    alternatives = cast(
        "Sequence[Sequence[Complaint]]", getattr(complaint.kind, "context", None) or ()
    )
    if not alternatives:
        yield complaint
    for alternative in alternatives:
        for part in alternative:
            yield from leaves(part)


def place(complaint: Complaint) -> Path:
    """Where in the arguments it is."""
    return tuple(complaint.instance_path)


def _are_many(found: Iterable[Complaint]) -> bool:
    every = (leaf for complaint in found for leaf in leaves(complaint))
    return any(position >= _MANY for position, _ in enumerate(every))


def _cut(value: Json, levels: int) -> Json:
    """A copy of the first `levels` levels, with empty objects and arrays below them."""
    if isinstance(value, Mapping):
        items = value.items() if levels else ()
        return {key: _cut(item, levels - 1) for key, item in items}
    if isinstance(value, list):
        return [_cut(item, levels - 1) for item in value] if levels else []
    return value
