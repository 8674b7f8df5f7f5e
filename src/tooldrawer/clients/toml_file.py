"""A client's settings in TOML, edited as text: comments, order and spaces are the user's."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from tooldrawer.activity import MASK
from tooldrawer.clients.json_file import without_list
from tooldrawer.clients.secrets import (
    is_plain_path,
    is_reference,
    is_secret_name,
    is_secret_text,
)
from tooldrawer.config.sentences import key_shown
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json, JsonObject

_PIECE = re.compile(
    r'(?P<text>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<comment>\#[^\n]*)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>\n)|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)
_HEADER = re.compile(r"[ \t]*\[{1,2}(?P<key>[^\n]*?)\]{1,2}[ \t]*(?:\#[^\n]*)?\r?$", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r"line (\d+), column (\d+)")
_SECRET_TABLES = ("env", "http_headers")


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with a header of its own: its key, and from where to where it goes."""

    key: tuple[str, ...]
    start: int
    end: int
    """Where its last line ends; comments behind it belong to what follows."""


class TomlFile:
    """One TOML file."""

    def __init__(self, text: str, *, name: str) -> None:
        """Read `text`.

        Raises:
            ConfigError: It is not TOML.
        """
        self._name, self._text = name, text
        try:
            self._value = cast("dict[str, Json]", tomllib.loads(text.removeprefix("\ufeff")))
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))
            line = int(place.group(1)) if place else text.count("\n") + 1
            reason = str(error).partition(" (at ")[0].rstrip(".")
            raise ConfigError(f"{name}:{line}: the file is not TOML: {reason}.") from None

    def entries(self, keys: tuple[str, ...]) -> JsonObject | None:
        """The servers of one list."""
        value: Json = self._value
        for key in keys:
            value = cast("JsonObject", value).get(key)
            if value is None:
                return None
            if not isinstance(value, dict):
                raise ConfigError(f"{self._name}: {key_shown(keys)} is not a table; expected one.")
        return cast("JsonObject", value)

    def edited(self, keys: tuple[str, ...], changes: Mapping[str, Json]) -> str:
        """The text with these entries changed."""
        expected = dict(self.entries(keys) or {})
        text = self._text
        for name, entry in changes.items():
            if entry is None:
                text = _without(text, (*keys, name))
                expected.pop(name, None)
            elif expected.get(name) != entry:
                text = _with(text, (*keys, name), cast("JsonObject", entry))
                expected[name] = entry
        if not self._becomes(text, keys, expected):
            names = ", ".join(changes)
            raise ConfigError(
                f"{self._name}: cannot be edited, since {key_shown(keys)} is not written as tables "
                f"such as {_header((*keys, 'name'))}; change it by hand ({names})."
            )
        return text

    def _becomes(self, text: str, keys: tuple[str, ...], expected: JsonObject) -> bool:
        try:
            after = TomlFile(text, name=self._name)
            found = after.entries(keys) or {}
        except ConfigError:
            return False
        rest = without_list(after._value, keys) == without_list(self._value, keys)
        return rest and found == expected

    def masked(self) -> str:
        """The text without secrets."""
        text, found = self._text, list(_secrets(self._text))
        for start, end in reversed(found):
            lines = "\n" * text.count("\n", start, end)
            text = f'{text[:start]}"{MASK}"{lines}{text[end:]}'
        return text


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    """Where the texts stand that are not to be shown."""
    table: tuple[str, ...] = ()
    line, depth = "", 0
    for piece in _PIECE.finditer(text):
        if piece["open"] and not depth and not line.strip():
            table = _key_at(text, piece.start()) or table
        if piece["text"] and _is_hidden(table, line, piece["text"]):
            yield piece.span("text")
        depth += bool(piece["open"]) - bool(piece["close"])
        line = "" if piece["end"] and not depth else line + piece.group()


def _is_hidden(table: tuple[str, ...], line: str, text: str) -> bool:
    """Whether a text is likely to be a secret, by its table, its key and what is in it."""
    key, equals, before = line.partition("=")
    if not equals:
        return False
    own, value = key.strip().strip("\"'").split("."), text.strip("\"'")
    # In an inline table it is the key before it, in a list the option before it.
    near = re.findall(r"([\w-]+)[\"']?\s*=\s*$|[\"'](-[^\"']*)[\"']\s*,\s*$", before)
    names = [own[-1], *(name for pair in near for name in pair if name)]
    if is_reference(value) or is_plain_path(names[-1], value):
        return False
    if any(step in _SECRET_TABLES for step in (*table, *own)):
        return True
    return any(map(is_secret_name, names)) or is_secret_text(value)


def _with(text: str, key: tuple[str, ...], entry: JsonObject) -> str:
    """The text with the table `key`: in the place of the one that is there, or at the end."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    new = _rendered(key, entry).replace("\n", line_end)
    own = [table for table in _tables(text) if table.key[: len(key)] == key]
    if not own:
        ending = "" if not text or text.endswith("\n") else line_end
        gap = line_end if text.strip("\ufeff\r\n\t ") else ""
        return f"{text}{ending}{gap}{new}"
    for table in reversed(own[1:]):
        text = _cut(text, table)
    return text[: own[0].start] + new + text[own[0].end :]


def _without(text: str, key: tuple[str, ...]) -> str:
    for table in reversed([one for one in _tables(text) if one.key[: len(key)] == key]):
        text = _cut(text, table)
    return text


def _cut(text: str, table: _Table) -> str:
    before, after = text[: table.start], text[table.end :]
    # One empty line is enough where there were two around it.
    if re.search(r"(?:^|\n)\r?\n$", before) and re.match(r"\r?\n", after):
        after = after.partition("\n")[2]
    return before + after


def _tables(text: str) -> Iterator[_Table]:
    starts = list(_headers(text))
    for position, (start, key) in enumerate(starts):
        limit = starts[position + 1][0] if position + 1 < len(starts) else len(text)
        yield _Table(key, start, _content_end(text, start, limit))


def _headers(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where each table's header begins; what only looks like one inside a value is none."""
    depth, is_line_start, line_start = 0, True, 1 if text.startswith("\ufeff") else 0
    for piece in _PIECE.finditer(text, line_start):
        if piece["open"] and is_line_start and depth == 0:
            key = _key_at(text, piece.start())
            if key is not None:
                yield line_start, key
        depth += bool(piece["open"]) - bool(piece["close"])
        if piece["end"]:
            is_line_start, line_start = True, piece.end()
        elif piece.group().strip():
            is_line_start = False


def _key_at(text: str, at: int) -> tuple[str, ...] | None:
    match = _HEADER.match(text, at)
    if match is None:
        return None
    try:
        value: Any = tomllib.loads(f"[{match['key'].strip('[] ')}]")
    except tomllib.TOMLDecodeError:
        return None
    steps: list[str] = []
    while value:
        ((step, value),) = value.items()
        steps.append(step)
    return tuple(steps)


def _content_end(text: str, start: int, limit: int) -> int:
    """The end of the last line that has more than a comment."""
    end = start
    for piece in _PIECE.finditer(text, start, limit):
        if not piece["comment"] and piece.group().strip():
            end = piece.end()
    line = text.find("\n", end, limit)
    return limit if line < 0 else line + 1


def _header(key: tuple[str, ...]) -> str:
    return f"[{'.'.join(map(_key, key))}]"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _rendered(key: tuple[str, ...], entry: JsonObject) -> str:
    plain = {name: value for name, value in entry.items() if not isinstance(value, Mapping)}
    lines = [_header(key), *(f"{_key(name)} = {_value(value)}" for name, value in plain.items())]
    text = "".join(f"{line}\n" for line in lines)
    for name, value in entry.items():
        if isinstance(value, Mapping):
            text += "\n" + _rendered((*key, name), cast("JsonObject", value))
    return text


def _value(value: Json) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, default=str)


def _text(text: str) -> str:
    # TOML's basic strings are JSON's, but for DEL, which has to be escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
