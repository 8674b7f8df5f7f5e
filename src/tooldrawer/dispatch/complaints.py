"""What a schema objects to, found in bounded time."""

from collections.abc import Iterator, Sequence
from typing import cast

import jsonschema_rs

from tooldrawer.bounds.graph import MAX_STEPS
from tooldrawer.bounds.work import MAX_ERRORS, SchemaWork
from tooldrawer.dispatch.arguments import is_small
from tooldrawer.tool import JsonObject

Complaint = jsonschema_rs.ValidationError
Path = tuple[str | int, ...]

_MAX_PLACE_CHARS = 500
_BUDGET_US = 15_000
"""For all looks at one call's arguments; of the first look it is known that it is affordable."""
_ERROR_US = 25
_STEPS_PER_US = 50


class Critic:
    """Says what a schema objects to in one call's arguments and in repairs of them.

    The validator finds all objections or none. Those to alternatives inside alternatives multiply
    with every level, so they are only asked for when there cannot be too many, and not again when
    that was much work already.
    """

    def __init__(self, validator: jsonschema_rs.Validator, work: SchemaWork) -> None:
        self._validator = validator
        self._work = work
        self._left_us = _BUDGET_US

    def complaints(self, arguments: JsonObject) -> Sequence[Complaint] | None:
        """Every objection; nothing when they are too many to be told apart."""
        if self._left_us <= 0 or not is_small(arguments):
            return None
        work = self._work.measure(arguments)
        if work is None or work.steps > MAX_STEPS:
            return None
        self._left_us -= 20 + work.steps // _STEPS_PER_US
        if self._validator.is_valid(arguments):
            return ()
        if work.errors > MAX_ERRORS:
            return None
        found = list(self._validator.iter_errors(arguments))
        count = sum(1 for complaint in found for _ in leaves(complaint))
        self._left_us -= _ERROR_US * count + work.steps // _STEPS_PER_US
        return found

    def first(self, arguments: JsonObject) -> Complaint | None:
        """One objection; nothing where one may contain many others, to each of its alternatives."""
        if self._work.has_alternatives:
            return None
        try:
            self._validator.validate(arguments)
        except jsonschema_rs.ValidationError as error:
            return error
        return None


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


def show_place(path: Path) -> str:
    """A place in the arguments as text, cut when the names on the way to it are long."""
    text = "".join(f"/{part}" for part in path) or "/"
    return text if len(text) <= _MAX_PLACE_CHARS else f"{text[: _MAX_PLACE_CHARS - 1]}…"
