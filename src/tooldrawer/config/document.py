"""A file's values, with the line of every key."""

import re
from dataclasses import dataclass
from typing import cast

import yaml

from tooldrawer.config.scalars import PLAIN, TAG, TEXT, Plain
from tooldrawer.config.syntax import NotYaml, composed
from tooldrawer.tool import Json

Path = tuple[str | int, ...]
_MOST_NODES = 100_000
_LONGEST_KEY = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_HALF = "has half a character, such as \\ud800"


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with one key."""

    path: Path
    text: str
    line: int | None = None
    is_unknown: bool = False
    """Not the value is wrong: there is no such key."""
    variable: str = ""
    """The environment variable that is missing, if that is all."""
    is_untrusted: bool = False
    """Nothing is wrong with it; the user has not trusted it yet."""


class Document:
    """The values, the line of each, and what is wrong with the YAML."""

    def __init__(self, text: str) -> None:
        self.value: Json = None
        self.mistakes: list[Mistake] = []
        self.unread: set[Path] = set()
        """Keys whose values could not be read; they stand in `value` as `None`."""
        self._lines: dict[Path, int] = {}
        self._nodes = 0
        try:
            node = composed(text)
            self.value = None if node is None else self._read(node, (), ())
        except NotYaml as error:
            self.mistakes = [Mistake((), f"is not YAML: {error}", error.line)]
        except _TooLarge:
            self.mistakes = [Mistake((), f"is too large, expected at most {_MOST_NODES} values")]

    def line(self, path: Path) -> int:
        """The line of a key, or of the nearest one around it."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def _read(self, node: yaml.Node, path: Path, around: tuple[yaml.Node, ...]) -> Json:
        self._lines.setdefault(path, node.start_mark.line + 1)
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise _TooLarge
        if node in around:
            return self._unreadable(path, "contains itself through an alias")
        inside = (*around, node)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{TAG}map":
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{TAG}seq":
            items = cast("list[yaml.Node]", node.value)
            return [self._read(item, (*path, at), inside) for at, item in enumerate(items)]
        return self._scalar(node, path)

    def _mapping(
        self, node: yaml.MappingNode, path: Path, inside: tuple[yaml.Node, ...]
    ) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name, line = str(cast("object", key.value)), key.start_mark.line + 1
            place = (*path, name)
            if complaint := _complaint(key):
                self.mistakes.append(Mistake(path, complaint, line))
            elif name in found:
                text = f"is there twice; the first is on line {self._lines[place]}"
                self.mistakes.append(Mistake(place, text, line))
            else:
                self._lines[place] = line
                found[name] = self._read(value, place, inside)
        return found

    def _scalar(self, node: yaml.Node, path: Path) -> Json:
        text, plain = cast("object", node.value), PLAIN.get(node.tag)
        if isinstance(text, str) and node.tag == TEXT:
            return self._unreadable(path, _HALF) if _SURROGATE.search(text) else text
        if isinstance(text, str) and plain is not None and plain.pattern.match(text):
            return self._plain(plain, text, path)
        return self._unreadable(path, "has a YAML tag; put a text that begins with ! into quotes")

    def _plain(self, plain: Plain, text: str, path: Path) -> Json:
        try:
            value = plain.read(text)
        except ValueError:  # thousands of digits
            value = float("inf")
        if isinstance(value, int | float) and abs(value) >= 2**63:
            return self._unreadable(path, "is a number that is too large")
        return value

    def _unreadable(self, path: Path, text: str) -> None:
        self.unread.add(path)
        self.mistakes.append(Mistake(path, text))


class _TooLarge(Exception):
    """Aliases can make a small file a huge one."""


def _complaint(key: yaml.Node) -> str:
    """What is wrong with a key; nothing when it is a text."""
    name = cast("object", key.value)
    if not isinstance(name, str):
        return "has a key that is a list or a mapping"
    if key.tag == TEXT:
        return "has a key with half a character" if _SURROGATE.search(name) else ""
    if key.tag not in PLAIN or not PLAIN[key.tag].pattern.match(name):
        return "has a key with a YAML tag"
    is_named = f"has the key {name[:_LONGEST_KEY]}, which is not a text; put it into quotes"
    return is_named if name else "has an empty key"
