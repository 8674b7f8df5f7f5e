"""How large a JSON value is, found in one pass that ends as soon as it is too large."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from tooldrawer.bounds.comparison import ORDINARY_NUMBER_STEPS, number_steps
from tooldrawer.json_values import OBJECTS, Json, values_inside

_MARKS = 2
"""Bytes of a value, and of its name, besides their characters: quotes, comma and colon."""
_NUMBERS = (int, float)
_INTEGERS = frozenset((int, bool))
_NUMBER_BYTES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLimits:
    """What a value may have at most."""

    levels: int
    values: int
    bytes: int


class Size:
    """What a value has; of one that is too large, what was counted until that was seen."""

    __slots__ = (
        "bytes", "containers", "excess", "has_long_numbers", "is_ascii", "is_finite", "values",
    )  # fmt: skip

    def __init__(self, value: Json, limits: SizeLimits) -> None:
        """Count a value, level by level. Nothing is looked at after there was too much."""
        self.values = 1
        """The value itself and all that is in it."""
        self.containers = 0
        """How many of the values are objects or arrays that are not empty."""
        self.bytes = 0
        """About as many as it has in JSON."""
        self.has_long_numbers = False
        """Whether arithmetic on one of its numbers takes unusually long."""
        self.is_ascii = True
        """Whether its texts and names have ASCII characters only."""
        self.is_finite = True
        """Whether none of its numbers is infinite or NaN."""
        self.excess: Literal["", "levels", "values", "bytes"] = ""
        """Of what it has too much."""
        level = [value]
        for _ in range(limits.levels + 1):
            level = self._count_level(level, limits)
            if not level:
                return
        self.excess = "levels"

    def _count_level(self, level: list[Json], limits: SizeLimits) -> list[Json]:
        """The level below, empty when there is none or no use in counting it."""
        below: list[Json] = []
        texts: list[str] = []
        numbers: list[float] = []
        for each in level:
            if isinstance(each, str):
                texts.append(each)
            elif isinstance(each, _NUMBERS):
                numbers.append(each)
            elif each:
                inside = values_inside(each)
                self.containers += 1
                self.values += len(inside)
                if self.values > limits.values:
                    self.excess = "values"
                    return []
                below += inside
                # Not every host gives text for names.
                texts += map(str, each) if isinstance(each, OBJECTS) else ()
        self._add_texts(texts)
        self._add_numbers(numbers)
        self.bytes += _MARKS * (len(level) + len(below))
        if self.bytes > limits.bytes:
            self.excess = "bytes"
            return []
        return below

    def _add_texts(self, texts: Sequence[str]) -> None:
        self.bytes += sum(map(len, texts))
        if not all(map(str.isascii, texts)):
            self.is_ascii = False
            # A character beyond ASCII has two to four bytes; to encode a long text takes too long.
            self.bytes += sum(len(text) for text in texts if not text.isascii())

    def _add_numbers(self, numbers: Sequence[float]) -> None:
        self.bytes += _NUMBER_BYTES * len(numbers)
        longest = numbers
        if numbers and _INTEGERS.issuperset(map(type, numbers)):
            # Sooner than looking at each.
            longest = (max(numbers), min(numbers))
        elif not all(isfinite(each) for each in numbers if isinstance(each, float)):
            self.is_finite = False
        if any(number_steps(number) > ORDINARY_NUMBER_STEPS for number in longest):
            self.has_long_numbers = True
            self.bytes += sum(each.bit_length() // 4 for each in numbers if isinstance(each, int))
