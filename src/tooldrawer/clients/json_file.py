"""A client's settings in JSON, edited as text: comments, order and spaces are the user's."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from tooldrawer.activity import MASK
from tooldrawer.clients.secrets import (
    is_plain_path,
    is_reference,
    is_secret_argument,
    is_secret_header,
    is_secret_name,
    is_secret_text,
)
from tooldrawer.config.jsonc import JsonText, Node, NotJson, gap
from tooldrawer.config.sentences import key_shown
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json, JsonObject

_VALUES = ("env", "environment")
_REST_OF_LINE = re.compile(r"[ \t]*(?:/\*[^\r\n]*?\*/[ \t]*)*(?://[^\r\n]*)?(?=\r?\n)")
_EMPTY_REST = re.compile(r"[ \t]*(?:\r?\n|$)")
_INDENT = re.compile(r"[ \t]*")
_HALF = re.compile("[\ud800-\udfff]")


class JsonFile:
    """One JSON file."""

    def __init__(self, text: str, *, name: str) -> None:
        """Read `text`.

        Raises:
            ConfigError: It is not JSON, or no object.
        """
        self._name = name
        start = "\ufeff" if text.startswith("\ufeff") else ""
        self._text = text if text.strip("\ufeff \t\r\n") else f"{start}{{}}\n"
        try:
            self._json = JsonText(self._text)
        except NotJson as error:
            raise ConfigError(f"{name}:{error.line}: the file is not JSON: {error}.") from None
        if not isinstance(self._json.value, dict):
            raise ConfigError(f"{name}:1: the file has no settings by name; it is left as it is.")

    def entries(self, keys: tuple[str, ...]) -> JsonObject | None:
        """The servers of one list."""
        for length in range(1, len(keys) + 1):
            node = self._json.node(keys[:length])
            if node is None or node.value is None:
                return None
            if not isinstance(node.value, dict):
                line, key = self._json.line(keys[:length]), key_shown(keys[:length])
                raise ConfigError(f"{self._name}:{line}: {key} is not an object; expected one.")
        return cast("JsonObject", cast("Node", self._json.node(keys)).value)

    def edited(self, keys: tuple[str, ...], changes: Mapping[str, Json]) -> str:
        """The text with these entries changed."""
        expected = dict(self.entries(keys) or {})
        text = self._text
        for name, entry in changes.items():
            if entry is None:
                text = _without(text, (*keys, name))
                expected.pop(name, None)
            elif expected.get(name) != entry:
                text = _with(text, (*keys, name), entry)
                expected[name] = entry
        after = JsonFile(text, name=self._name)
        if (after.entries(keys) or {}) != expected or not self._differs_only_at(keys, after):
            raise ConfigError(f"{self._name}: cannot be edited; the same key may be there twice.")
        return text

    def _differs_only_at(self, keys: tuple[str, ...], other: "JsonFile") -> bool:
        return without_list(self._json.value, keys) == without_list(other._json.value, keys)

    def masked(self) -> str:
        """The text without secrets."""
        parts, at = list[str](), 0
        for node in _secrets(self._json.root):
            parts += [self._text[at : node.start], f'"{MASK}"']
            at = node.end
        return "".join((*parts, self._text[at:]))


def without_list(value: Json, keys: tuple[str, ...]) -> Json:
    """A file's value without the list at `keys`, and without objects that only lead to it."""
    if not keys or not isinstance(value, Mapping):
        return None
    rest = {key: item for key, item in value.items() if key != keys[0]}
    if (below := without_list(value.get(keys[0]), keys[1:])) not in (None, {}):
        rest[keys[0]] = below
    return rest


def _secrets(node: Node, *, key: str = "", is_secret: bool = False) -> list[Node]:
    """The texts that are not to be shown, none within another."""
    if isinstance(node.value, str):
        text = node.value
        is_hidden = is_secret or is_secret_name(key) or is_secret_text(text)
        is_harmless = is_reference(text) or is_plain_path(key, text)
        return [node] if is_hidden and not is_harmless else []
    found: list[Node] = []
    for member in node.members:
        is_below = (
            is_secret or key in _VALUES or (key == "headers" and is_secret_header(member.key))
        )
        found += _secrets(member.node, key=member.key, is_secret=is_below)
    before = ""
    for item in node.items:
        text = item.value if isinstance(item.value, str) else ""
        found += _secrets(item, is_secret=is_secret or is_secret_argument(before, text))
        before = text
    return found


@dataclass(frozen=True, slots=True)
class _Style:
    """How a text is written."""

    unit: str
    """One level of indentation; empty when all stands on one line."""
    line_end: str
    colon: str

    @classmethod
    def of(cls, text: str, root: Node) -> "_Style":
        line_end = "\r\n" if "\r\n" in text else "\n"
        first = root.members[0] if root.members else None
        if first is None:
            return cls("  ", line_end, ": ")
        colon = ": " if text[first.node.start - 1].isspace() else ":"
        if "\n" not in text[root.start : root.end]:
            return cls("", line_end, colon)
        return cls(_indent(text, first.start) or "  ", line_end, ": ")

    def render(self, value: Json, indent: str) -> str:
        """The value, as it stands behind a key that is indented so."""
        if not self.unit:
            comma = ", " if self.colon.endswith(" ") else ","
            return _dumped(value, separators=(comma, self.colon))
        return _dumped(value, indent=self.unit).replace("\n", self.line_end + indent)


def _dumped(value: Json, **style: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, **style)
    # Half a character can be escaped, but not written.
    return json.dumps(value, **style) if _HALF.search(text) else text


def _with(text: str, keys: tuple[str, ...], value: Json) -> str:
    """The text with `value` at `keys`; objects on the way are made."""
    found = JsonText(text)
    style = _Style.of(text, found.root)
    around, depth = found.root, 0
    while depth < len(keys) and (member := around.member(keys[depth])) is not None:
        is_last, is_object = depth == len(keys) - 1, isinstance(member.node.value, dict)
        if is_last or not is_object:
            whole = value if is_last else _nested(keys[depth + 1 :], value)
            new = style.render(whole, _indent(text, member.start))
            return text[: member.node.start] + new + text[member.node.end :]
        around, depth = member.node, depth + 1
    return _inserted(text, around, keys[depth], _nested(keys[depth + 1 :], value), style)


def _nested(keys: tuple[str, ...], value: Json) -> Json:
    for key in reversed(keys):
        value = {key: value}
    return value


def _inserted(text: str, around: Node, key: str, value: Json, style: _Style) -> str:
    if not around.members:
        return _first(text, around, key, value, style)
    first, last = around.members[0], around.members[-1]
    is_spread = "\n" in text[around.start : first.start]
    indent = _indent(text, first.start)
    own = style if is_spread else _Style("", style.line_end, style.colon)
    new = f"{_dumped(key)}{own.colon}{own.render(value, indent)}"
    end = last.node.end
    comma = gap(text, end)
    has_comma = text[comma : comma + 1] == ","
    if not is_spread:
        space = " " if style.colon.endswith(" ") else ""
        return f"{text[:end]},{space}{new}{text[end:]}"
    after = comma + 1 if has_comma else end
    rest = _REST_OF_LINE.match(text, after)
    at = rest.end() if rest else after
    line = f"{style.line_end}{indent}{new}"
    if has_comma:
        return f"{text[:at]}{line},{text[at:]}"
    return f"{text[:end]},{text[end:at]}{line}{text[at:]}"


def _first(text: str, around: Node, key: str, value: Json, style: _Style) -> str:
    """Into an object that has nothing, or nothing but comments, which stay behind it."""
    at = around.start + 1
    inside, outer = text[at : around.end - 1], _indent(text, around.start)
    if not style.unit:
        return f"{text[:at]}{_dumped(key)}{style.colon}{style.render(value, '')}{text[at:]}"
    indent = outer + style.unit
    new = f"{style.line_end}{indent}{_dumped(key)}: {style.render(value, indent)}"
    kept = inside if inside.strip() else style.line_end + outer
    return text[:at] + new + kept + text[around.end - 1 :]


def _without(text: str, keys: tuple[str, ...]) -> str:
    around = JsonText(text).node(keys[:-1])
    member = around.member(keys[-1]) if around else None
    if around is None or member is None:
        return text
    at = around.members.index(member)
    start, end = member.start, member.node.end
    comma = gap(text, end)
    if text[comma : comma + 1] == ",":
        text = text[:comma] + text[comma + 1 :]
    elif at:
        before = gap(text, around.members[at - 1].node.end)
        text = text[:before] + text[before + 1 :]
        start, end = start - 1, end - 1
    return _cut(text, start, end)


def _cut(text: str, start: int, end: int) -> str:
    """Without that part, and without the line that it leaves empty."""
    line_start = text.rfind("\n", 0, start) + 1
    rest = _EMPTY_REST.match(text, end)
    if text[line_start:start].strip() or rest is None:
        after = end + 1 if text[end : end + 1] == " " else end
        return text[:start] + text[after:]
    return text[:line_start] + text[rest.end() :]


def _indent(text: str, at: int) -> str:
    """The white space that the line of a character begins with."""
    start = text.rfind("\n", 0, at) + 1
    match = _INDENT.match(text, start)
    return match.group() if match else ""
