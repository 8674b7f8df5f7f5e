"""JSON text into values that know where they stand; comments and trailing commas are passed over.

Other programs' files are edited by hand, so an edit needs the place of a value and not only the
value: what is around it stays as it is, byte for byte.
"""

import json
import re
from dataclasses import dataclass
from typing import cast

from tooldrawer.config.document import Path
from tooldrawer.tool import Json

_MOST_LEVELS = 100
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_TEXT = re.compile(r'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_BYTE_ORDER_MARK = "\ufeff"


class NotJson(Exception):
    """The text is not JSON; `str(error)` says why, without repeating what is in it."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value, and where it stands in the text."""

    value: Json
    start: int
    end: int
    members: tuple["Member", ...] = ()
    """Of an object, in the order of the text; a key may be there twice."""
    items: tuple["Node", ...] = ()
    """Of a list."""

    def member(self, key: str) -> "Member | None":
        """The member of that key; of several the last, as every JSON reader takes it."""
        return next((one for one in reversed(self.members) if one.key == key), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One key of an object."""

    key: str
    start: int
    """Where the key's quote opens."""
    node: Node


class JsonText:
    """A JSON text, its values and their places."""

    def __init__(self, text: str) -> None:
        """Read all of `text`.

        Raises:
            NotJson: It is none, or nested too deeply.
        """
        self.text = text
        self.root = _Reader(text).document()

    @property
    def value(self) -> Json:
        """What the text says."""
        return self.root.value

    def node(self, path: Path) -> Node | None:
        """The value at `path`; nothing when there is none."""
        found = self._walked(path)
        return found[-1][1] if len(found) == len(path) + 1 else None

    def line(self, path: Path) -> int:
        """The line of a key, or of the nearest one around it."""
        return line_of(self.text, self._walked(path)[-1][0])

    def _walked(self, path: Path) -> list[tuple[int, Node]]:
        """The values on the way to `path`, as far as it goes, with where each one's key begins."""
        found = [(self.root.start, self.root)]
        for step in path:
            node = found[-1][1]
            if isinstance(step, int):
                items = node.items[step : step + 1]
                below = [(item.start, item) for item in items]
            else:
                member = node.member(step)
                below = [(member.start, member.node)] if member else []
            if not below:
                break
            found += below
        return found


def line_of(text: str, at: int) -> int:
    """The line that a character stands in, from 1."""
    return text.count("\n", 0, at) + 1


def gap(text: str, at: int) -> int:
    """Where the spaces and comments that begin at `at` end."""
    match = _GAP.match(text, at)
    return match.end() if match else at


class _Reader:
    """Reads one text from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
        self._levels = 0

    def document(self) -> Node:
        self._skip()
        found = self._value()
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("something follows after its end")
        return found

    def _value(self) -> Node:
        start, next_one = self._at, self._next()
        if next_one in ("{", "["):
            self._levels += 1
            if self._levels > _MOST_LEVELS:
                raise self._wrong(f"more than {_MOST_LEVELS} levels are nested")
            node = self._object(start) if next_one == "{" else self._list(start)
            self._levels -= 1
            return node
        if next_one == '"':
            text = self._string()
            return Node(value=text, start=start, end=self._at)
        return self._plain(start)

    def _object(self, start: int) -> Node:
        members: list[Member] = []
        self._at += 1
        while self._goes_on("}", start, is_first=not members):
            key_start = self._at
            if self._next() != '"':
                raise self._wrong("a key is missing here, expected one in double quotes")
            key = self._string()
            self._skip()
            if self._next() != ":":
                raise self._wrong("a key has no colon behind it")
            self._at += 1
            self._skip()
            members.append(Member(key=key, start=key_start, node=self._value()))
        value: dict[str, Json] = {member.key: member.node.value for member in members}
        return Node(value=value, start=start, end=self._at, members=tuple(members))

    def _list(self, start: int) -> Node:
        items: list[Node] = []
        self._at += 1
        while self._goes_on("]", start, is_first=not items):
            items.append(self._value())
        value = [item.value for item in items]
        return Node(value=value, start=start, end=self._at, items=tuple(items))

    def _goes_on(self, closing: str, start: int, *, is_first: bool) -> bool:
        """Whether another one follows, after the comma that has to stand before it."""
        self._skip()
        if not is_first and self._next() == ",":
            self._at += 1
            self._skip()
        elif not is_first and self._next() not in (closing, ""):
            raise self._wrong("a comma is missing here")
        if not self._next():
            raise NotJson(f"a {self._text[start]} is not closed", line_of(self._text, start))
        if self._next() != closing:
            return True
        self._at += 1
        return False

    def _string(self) -> str:
        match = _TEXT.match(self._text, self._at)
        if match is None:
            raise self._wrong("a quote is not closed on its line")
        try:
            found = cast("str", json.loads(match.group(), strict=False))
        except ValueError:
            raise self._wrong("a backslash means nothing here; write it twice") from None
        self._at = match.end()
        return found

    def _plain(self, start: int) -> Node:
        if match := _NUMBER.match(self._text, self._at):
            value = _number(match.group())
        elif (match := _WORD.match(self._text, self._at)) and match.group() in _WORDS:
            value = _WORDS[match.group()]
        else:
            is_text = match is not None or self._next() == "'"
            raise self._wrong(
                "a text has to stand in double quotes" if is_text else "a value is missing here"
            )
        self._at = match.end()
        return Node(value=value, start=start, end=self._at)

    def _skip(self) -> None:
        self._at = gap(self._text, self._at)
        if self._text.startswith("/*", self._at):
            raise self._wrong("a comment is not closed")

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _wrong(self, words: str) -> NotJson:
        line_start = self._text.rfind("\n", 0, self._at) + 1
        column = self._at - line_start + 1
        return NotJson(f"{words} (column {column})", line_of(self._text, self._at))


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:  # a fraction, or thousands of digits
        return float(text)
