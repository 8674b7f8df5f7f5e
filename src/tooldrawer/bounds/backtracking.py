"""Whether a regular expression for `re`, which tries every way to match, has too many ways.

`re` cannot be interrupted, so a pattern is judged before it is used. What is in doubt counts as
ambiguous: a pattern that is refused can be written otherwise, one that hangs ends the process.
"""

import re
from dataclasses import dataclass, field
from math import log2

from tooldrawer.bounds.pattern import TOKEN

LONG_BACKTRACKING = (
    "could take for ever on some texts; write it without a repetition inside a repetition, as in "
    "(a+)+, and without repeated alternatives that begin alike"
)
"""What is said about a pattern that `may_backtrack_long`."""
_MAX_CHOICES = 24
"""Of both sides of a choice, optional parts and counts: as powers of two."""
_MAX_OPEN_REPEATS = 6
"""Repetitions without an end that follow each other: each multiplies the work by the text."""
_ENDLESS = 10**6
_MAX_DIGITS = 6


@dataclass(slots=True)
class _Part:
    """How many ways there are to match a part of a pattern."""

    choices: float = 0.0
    open_repeats: int = 0

    @property
    def is_ambiguous(self) -> bool:
        return bool(self.choices or self.open_repeats)

    def add(self, other: "_Part") -> None:
        self.choices = min(self.choices + other.choices, _ENDLESS)
        self.open_repeats = min(self.open_repeats + other.open_repeats, _ENDLESS)

    def repeat(self, least: int, most: int | None) -> "_Part":
        """This part so many times; `None` is without an end."""
        if most is None:
            return _Part(open_repeats=_ENDLESS if self.is_ambiguous else 1)
        more = log2(most - least + 1) if most > least else 0.0
        return _Part(
            choices=min(self.choices * most + more, _ENDLESS),
            open_repeats=min(self.open_repeats * most, _ENDLESS),
        )


@dataclass(slots=True)
class _Group:
    """A group while it is read, or the pattern itself."""

    whole: _Part = field(default_factory=_Part)
    last: _Part | None = None
    """What a repetition would be about."""
    starts: list[str] = field(default_factory=lambda: [""])
    """How each alternative begins: a letter, or something that may begin like any other."""

    def take(self, part: _Part, start: str) -> None:
        """Add the next part, which begins with the letter `start` if that is known."""
        self.settle()
        self.last = part
        self.starts[-1] = self.starts[-1] or start

    def settle(self) -> None:
        """Add the last part: nothing repeats it any more."""
        if self.last is not None:
            self.whole.add(self.last)
            self.last = None

    def end(self) -> _Part:
        """All of it. Alternatives that begin with different letters leave no choice."""
        self.settle()
        is_clear = all(len(each) == 1 for each in self.starts)
        if len(self.starts) > 1 and not (is_clear and len(set(self.starts)) == len(self.starts)):
            self.whole.choices += log2(len(self.starts))
        return self.whole


_UNCLEAR = "unclear"


def may_backtrack_long(pattern: str) -> bool:
    """Whether some text makes `re` try a number of ways that grows out of bounds."""
    groups = [_Group()]
    can_be_modified = False
    for token in TOKEN.finditer(pattern):
        kind, text = str(token.lastgroup), token.group()
        bounds = _bounds(kind, token)
        if bounds is not None:
            # Behind another one, `?` and `+` only say in which order ways are tried.
            if not can_be_modified:
                _repeat(groups[-1], bounds)
            can_be_modified = not can_be_modified
            continue
        can_be_modified = False
        if kind in ("group", "odd_group", "look"):
            groups.append(_Group())
        elif kind == "end" and len(groups) > 1:
            part = groups.pop().end()
            groups[-1].take(part, _UNCLEAR)
        elif text == "|":
            groups[-1].settle()
            groups[-1].starts.append("")
        elif kind != "flags":
            groups[-1].take(_Part(), text.casefold() if kind == "literal" else _UNCLEAR)
    parts = [group.end() for group in groups]
    return any(_is_too_much(part) for part in parts)


def _repeat(group: _Group, bounds: tuple[int, int | None]) -> None:
    if group.last is not None:
        group.last = group.last.repeat(*bounds)
        if bounds[0] == 0 and len(group.starts[-1]) == 1:
            group.starts[-1] = _UNCLEAR


def _bounds(kind: str, token: re.Match[str]) -> tuple[int, int | None] | None:
    """How often what comes before is repeated; nothing when the token is no repetition."""
    if kind in ("repeat", "possessive"):
        sign = token.group()[0]
        return (1 if sign == "+" else 0), (1 if sign == "?" else None)
    if kind != "count":
        return None
    least, most = token["least"], token["most"]
    if any(len(each or "") > _MAX_DIGITS for each in (least, most)):
        return 0, None
    if most == "":
        return int(least), None
    return int(least), int(most or least)


def _is_too_much(part: _Part) -> bool:
    return part.choices > _MAX_CHOICES or part.open_repeats > _MAX_OPEN_REPEATS
