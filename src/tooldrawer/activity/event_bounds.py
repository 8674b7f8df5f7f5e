"""Bounds on what one event keeps, so that masking and storing it costs little.

Arguments may have a megabyte and errors of servers more. Only events are bounded: a tool and the
person who approves a call get the arguments as they are.
"""

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Self, cast

from tooldrawer.activity.events import Event
from tooldrawer.activity.secret_formats import MASK
from tooldrawer.bounds.size import Size, SizeLimits
from tooldrawer.json_values import ARRAYS, OBJECTS, SCALARS, Json

MAX_TEXT_CHARS = 3_000
"""A longer text is cut, and shown up to `_MARGIN_CHARS` less."""
_MARGIN_CHARS = 1_000
"""The masker sees this much of a cut text that is not shown: a secret is recognized by what follows
it too, such as the `@` behind the password of an address. No secret within it can be shown in part.
"""
MAX_EVENT_BYTES = 20_000
"""Of all texts and values of an event, in memory. In the slowest case, `token:` repeated, the
masker takes 1.3 µs for a character: 26 ms. As a line of JSON this is at most 120 kB, where each
character is written as `\\u0001`."""
_VALUE_BYTES = 64
"""What a value takes besides its characters: the object and its place in a table."""
_WIDEST_CHARACTER_BYTES = 4
_MAX_KEY_CHARS = 200
_MAX_LEVELS = 16
_MAX_SMALL_BYTES = MAX_TEXT_CHARS
_MAX_SMALL_VALUES = 20
_SMALL = SizeLimits(levels=_MAX_LEVELS, values=_MAX_SMALL_VALUES, bytes=_MAX_SMALL_BYTES)
_MAX_NUMBER_BITS = 128
_REST_KEY = "…"
_NAMED_VALUE_KEY = "value"
_TOKEN_CHARS = (
    string.ascii_letters
    + string.digits
    + string.punctuation.translate(dict.fromkeys(b"\"',;&<>{}[]"))
)
"""Tokens longer than the margin, such as JSON web tokens, have only these. A cut text ends before
such a run, so that no part of one is left. A backslash is among them: at the end it would hide
from the masker that a quoted text goes on."""
_OPEN_QUOTE = re.compile(r"(?:=|--[\w\-]{1,40}[ \t]{1,4})(?:\"[^\"\n]*|'[^'\n]*)\Z")
"""The masker recognizes PASSWORD="..." by the second quote, which may be behind the cut."""


class CutText(str):
    """The part of a cut text that the masker sees; `finish` makes what is kept of it."""

    __slots__ = ("all_chars",)
    all_chars: int

    @classmethod
    def of(cls, text: str, room: int) -> Self:
        """The first `room` characters, without a token or a quoted value that goes on there."""
        window = text[:room].rstrip(_TOKEN_CHARS)
        cut = cls(_OPEN_QUOTE.sub("", window))
        cut.all_chars = len(text)
        return cut

    def finish(self, masked: str) -> str:
        """The beginning of the masked text, and how long the text was.

        The margin is taken from the masked end: what is masked before it is mostly shorter then.
        """
        shown = masked[: max(0, len(masked) - _MARGIN_CHARS)][: MAX_TEXT_CHARS - _MARGIN_CHARS]
        return f"{shown}… [cut; {self.all_chars:,} characters in all]"


class _Room:
    """What an event may still have. Once something did not fit, nothing else does."""

    def __init__(self) -> None:
        self.left = MAX_EVENT_BYTES

    def take(self, size: int) -> bool:
        fits = size <= self.left
        self.left = self.left - size if fits else 0
        return fits


def mask_bounded(event: Event, mask: Callable[[Event], Event]) -> Event:
    """The masked event with every text, list and object within bounds.

    A secret in a text that is cut is masked, or it is cut off as a whole.
    """
    bounded = bound_event(event)
    masked = mask(bounded)
    if bounded is event:
        return masked
    changes = {
        name: _finish(getattr(bounded, name), getattr(masked, name))
        for name in _field_names(type(event))
    }
    return replace(masked, **changes)


def bound_event(event: Event) -> Event:
    """The event as the masker gets it; the same object if nothing is too long."""
    if _measure_small(event):
        return event
    room = _Room()
    values = {name: getattr(event, name) for name in _field_names(type(event))}
    # The texts first: without the id of its call an event would not belong to it.
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    changes = {name: _bound_text(text, room) for name, text in texts.items()}
    changes |= {
        name: _bound(value, room)
        for name, value in values.items()
        if value.__class__ not in SCALARS and name not in texts
    }
    return replace(event, **changes)


def event_bytes(event: Event) -> int:
    """About the memory that an event takes which was bounded; the most, if it is a large one."""
    return _measure_small(event) or MAX_EVENT_BYTES


def _measure_small(event: Event) -> int:
    """The bytes of an event that needs no cut for sure, which nearly all are; else 0."""
    names = _field_names(type(event))
    size = _VALUE_BYTES * len(names)
    for name in names:
        value = getattr(event, name)
        kind = value.__class__
        if kind is str:
            size += _text_bytes(value)
        elif kind not in SCALARS and value:
            inside = _measure_flat(value) or _measure_nested(value)
            if not inside:
                return 0
            size += inside
    return size if size <= _MAX_SMALL_BYTES else 0


def _measure_flat(value: Json) -> int:
    """The bytes of a short array or object of texts and plain values; else 0."""
    if len(cast("Sequence[Json]", value)) > _MAX_SMALL_VALUES:
        return 0
    items: list[Json] = list(cast("Iterable[Json]", value))
    if isinstance(value, OBJECTS):
        items += value.values()
    size = _VALUE_BYTES * len(items)
    for item in items:
        kind = item.__class__
        if kind is str:
            size += _text_bytes(cast("str", item))
        elif kind not in SCALARS or _is_long_number(item):
            return 0
    return size


def _measure_nested(value: Json) -> int:
    size = Size(value, _SMALL)
    # Characters beyond ASCII count twice there.
    return 0 if size.excess else 2 * size.bytes + _VALUE_BYTES * size.values


@cache
def _field_names(kind: type[Event]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text) * _WIDEST_CHARACTER_BYTES


def _bound(value: Json, room: _Room, level: int = 0) -> Json:
    if isinstance(value, str):
        return _bound_text(value, room)
    if not value or value.__class__ in SCALARS:
        return "[left out: a long number]" if _is_long_number(value) else value
    if level == _MAX_LEVELS:
        return "[left out: nested too deep]"
    if isinstance(value, OBJECTS):
        return _bound_object(cast("Mapping[str, Json]", value), room, level)
    return _bound_array(value, room, level) if isinstance(value, ARRAYS) else value


def _bound_text(text: str, room: _Room) -> str:
    width = 1 if text.isascii() else _WIDEST_CHARACTER_BYTES
    seen = min(MAX_TEXT_CHARS, room.left // width)
    if len(text) <= seen:
        room.left -= len(text) * width
        return text
    room.left = room.left - seen * width if seen == MAX_TEXT_CHARS else 0
    return CutText.of(text, seen)


def _is_long_number(value: Json) -> bool:
    return value.__class__ is int and cast("int", value).bit_length() > _MAX_NUMBER_BITS


def _bound_object(pairs: Mapping[str, Json], room: _Room, level: int) -> Json:
    kept: dict[str, Json] = {}
    for key, item in pairs.items():
        name = str(key)  # not every host gives text for names
        # Whether a value is a secret is seen by its key, so both are kept or none.
        if len(name) <= _MAX_KEY_CHARS and room.take(_text_bytes(name) + _VALUE_BYTES):
            kept[name] = _bound(item, room, level + 1)
        if not room.left:
            break
    if left := len(pairs) - len(kept):
        kept[_REST_KEY] = f"[left out: {left:,} more entries]"
    others = (item for name, item in kept.items() if name != _NAMED_VALUE_KEY)
    if _NAMED_VALUE_KEY in kept and (left or any(isinstance(item, CutText) for item in others)):
        # What is missing may be the name that tells that this is a secret.
        kept[_NAMED_VALUE_KEY] = "[left out]"
    return kept


def _bound_array(items: Sequence[Json], room: _Room, level: int) -> Json:
    kept: list[Json] = []
    for item in items:
        if not room.take(_VALUE_BYTES):
            break
        kept.append(_bound(item, room, level + 1))
    if left := len(items) - len(kept):
        kept.append(f"[left out: {left:,} more items]")
    return tuple(kept) if isinstance(items, tuple) else kept


def _finish(bounded: Json, masked: Json) -> Json:
    """The masked value, its cut texts without their margins."""
    if isinstance(bounded, CutText):
        return bounded.finish(masked) if isinstance(masked, str) else masked
    if isinstance(bounded, dict) and isinstance(masked, dict):
        if len(bounded) != len(masked):
            return MASK  # two names became the same when they were masked
        finished = _finish_all(bounded.values(), masked.values())
        return dict(zip(masked, finished, strict=True))
    if isinstance(bounded, list | tuple) and isinstance(masked, list | tuple):
        finished = _finish_all(cast("list[Json]", bounded), cast("list[Json]", masked))
        return tuple(finished) if isinstance(masked, tuple) else finished
    return masked


def _finish_all(bounded: Iterable[Json], masked: Iterable[Json]) -> list[Json]:
    return [_finish(before, after) for before, after in zip(bounded, masked, strict=True)]
