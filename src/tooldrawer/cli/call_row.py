"""One call as one row for a person: the real tool, its arguments in short, what came of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tooldrawer.cli.output import harmless
from tooldrawer.cli.width import columns, cut
from tooldrawer.tokens import compact
from tooldrawer.tool import Json, JsonObject

State = Literal["running", "ok", "wrong", "quiet"]

_MOST = 300
"""Characters of all arguments together that are worth looking at."""
_LEAST = 8
"""Columns below which arguments say nothing."""
_GAP = "  "
_COLOURS: Mapping[State, str] = {"running": "36", "ok": "32", "wrong": "31", "quiet": "2"}
_DIM = "2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """The few characters that are no letters; another set where an encoding lacks them."""

    ok: str = "✓"
    wrong: str = "✗"
    quiet: str = "·"
    more: str = "…"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


PLAIN = Glyphs(ok="+", wrong="!", quiet="-", more="...", spinner="|/-\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is to be shown, before anybody knows how much room there is."""

    head: str
    """A tool's name, or a whole sentence."""
    state: State
    arguments: str | None = None
    """In short; None where there are none to show."""
    tail: str = ""
    """What came of it."""
    session: str = ""
    """Whose call it is, when it is a subagent's."""
    depth: int = 0

    def drawn(self, width: int, *, mark: str, glyphs: Glyphs, colour: bool) -> str:
        """The row in at most `width` columns."""
        before = f"{'  ' * self.depth}{mark} {f'{self.session} ' if self.session else ''}"
        room = width - columns(before)
        head, arguments, tail = self._fitted(room, glyphs.more)
        if room < 1:
            return cut(before, width, mark=glyphs.more)
        if not colour:
            return f"{before}{head}{arguments}{tail}"
        if self.state == "quiet":
            return _painted(f"{before}{head}{arguments}{tail}", _DIM)
        coloured = _painted(before, _COLOURS[self.state])
        ending = _painted(tail, _COLOURS["wrong"] if self.state == "wrong" else _DIM)
        return f"{coloured}{head}{_painted(arguments, _DIM)}{ending}"

    def _fitted(self, room: int, more: str) -> tuple[str, str, str]:
        """Head, arguments and tail: arguments give way first, then a long reason, the name last."""
        tail = f"{_GAP}{self.tail}" if self.tail else ""
        arguments = "" if self.arguments is None else f"({self.arguments})"
        free = room - columns(self.head)
        # A reason may be long: it gets half of the row, or what nobody else needs.
        tail = cut(tail, max(room // 2, free - columns(arguments)), mark=more)
        if self.arguments is not None and columns(arguments) > free - columns(tail):
            inside = free - columns(tail) - 2
            arguments = f"({cut(self.arguments, inside, mark=more)})" if inside >= _LEAST else ""
        head = cut(self.head, room - columns(arguments) - columns(tail), mark=more)
        if not head and self.head:
            return cut(self.head, room, mark=more), "", ""
        return head, arguments, tail


def in_short(arguments: JsonObject) -> str:
    """Arguments as `path: "a.txt", lines: 3`, without a character that steers a terminal."""
    parts: list[str] = []
    length = 0
    for key, value in arguments.items():
        parts.append(f"{key[:_MOST]}: {_value(value)}")
        length += len(parts[-1])
        if length > _MOST:
            break
    return harmless(", ".join(parts), keep="")[: 2 * _MOST]


def spent(seconds: float) -> str:
    """A duration for people."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def counted(number: int, noun: str) -> str:
    """`1 tool`, `2,000 tools`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _value(value: Json) -> str:
    if isinstance(value, str):
        return json.dumps(value[:_MOST], ensure_ascii=False)
    if isinstance(value, Mapping | Sequence):
        return compact(value)[:_MOST]
    return json.dumps(value)


def _painted(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text else ""
