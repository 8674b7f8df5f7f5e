"""What a schema objects to, found in bounded time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import jsonschema_rs

from tooldrawer.call import is_deeper
from tooldrawer.dispatch.limits import MOST_LEVELS
from tooldrawer.tool import Json, JsonObject

Complaint = jsonschema_rs.ValidationError
Path = tuple[str | int, ...]

_WORK = 50_000
"""In all. Looking once costs 20, 10 for each objection, and 1 for every 100 characters."""
_FEW_LEVELS = 2
_MANY = 300


class Critic:
    """Says what a schema objects to in one call's arguments and in repairs of them.

    Objections to alternatives inside alternatives multiply with every level, in a schema that
    contains itself to more than a computer can count. So they are asked for level by level, no
    further when they become many, and not again when that was much work already.
    """

    def __init__(self, validator: jsonschema_rs.Validator, *, size: int) -> None:
        self._validator = validator
        self._each = 20 + size // 100
        self._work = _WORK

    def complaints(self, arguments: JsonObject) -> Sequence[Complaint] | None:
        """Every objection; nothing when they are too many to be told apart."""
        if is_deeper(arguments, MOST_LEVELS):
            return None
        if self._validator.is_valid(arguments):
            return ()
        levels, count = _FEW_LEVELS, 0
        while self._work > 0 and count <= _MANY:
            if not is_deeper(arguments, levels):
                return self._found(arguments)[0]
            count = self._found(_cut(arguments, levels))[1]
            levels += 1
        return None

    def _found(self, arguments: Json) -> tuple[Sequence[Complaint], int]:
        found = list(self._validator.iter_errors(arguments))
        count = sum(1 for complaint in found for _ in leaves(complaint))
        self._work -= self._each + 10 * count
        return found, count


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


def missing_arguments(found: Sequence[Complaint]) -> tuple[str, ...]:
    """The required arguments that are missing, if nothing else is wrong."""
    names: list[str] = []
    for complaint in found:
        if complaint.kind.name != "required" or place(complaint):
            return ()
        names.append(str(complaint.kind.property))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    return tuple(names)


def place(complaint: Complaint) -> Path:
    """Where in the arguments it is."""
    return tuple(complaint.instance_path)


def _cut(value: Json, levels: int) -> Json:
    """A copy of the first `levels` levels, with empty objects and arrays below them."""
    if isinstance(value, Mapping):
        items = value.items() if levels else ()
        return {key: _cut(item, levels - 1) for key, item in items}
    if isinstance(value, list):
        return [_cut(item, levels - 1) for item in value] if levels else []
    return value
