"""YAML with the line of every key, and without YAML 1.1's surprises."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import yaml

from tooldrawer.config.syntax import NotYaml, composed
from tooldrawer.tool import Json

Path = tuple[str | int, ...]
_MOST_NODES = 100_000
_TAG = "tag:yaml.org,2002:"
_TEXT = f"{_TAG}str"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Plain:
    """How a value without quotes looks, and what it means: YAML 1.2's core schema."""

    pattern: re.Pattern[str]
    first: str
    read: Callable[[str], Json]


_PLAIN = {
    f"{_TAG}bool": _Plain(
        re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
        "tTfF",
        lambda text: text.lower() == "true",
    ),
    f"{_TAG}int": _Plain(re.compile(r"[-+]?[0-9]+\Z"), "-+0123456789", int),
    f"{_TAG}float": _Plain(
        re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z"),
        "-+.0123456789",
        float,
    ),
    f"{_TAG}null": _Plain(re.compile(r"(?:~|null|Null|NULL|)\Z"), "~nN", lambda _: None),
}


class _Loader(yaml.SafeLoader):
    """`on`, `off`, `yes`, `no`, dates and numbers in other notations are texts."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _plain in _PLAIN.items():
    _Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
        _tag, _plain.pattern, [*_plain.first, ""]
    )


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with one key."""

    path: Path
    text: str
    line: int | None = None


class Document:
    """A file's values, the line of each, and what is wrong with its YAML."""

    def __init__(self, text: str) -> None:
        self.value: Json = None
        self.lines: dict[Path, int] = {}
        self.mistakes: list[Mistake] = []
        self.unread: set[Path] = set()
        """The keys whose values have a mistake already and stand here as `None`."""
        self._nodes = 0
        try:
            node = composed(text, _Loader)
            self.value = None if node is None else self._read(node, (), ())
        except NotYaml as error:
            self.mistakes = [Mistake((), f"is not YAML: {error}", error.line)]
        except _TooLarge:
            text = f"is too large, expected at most {_MOST_NODES} values"
            self.mistakes = [Mistake((), text, 1)]

    def line(self, path: Path) -> int:
        """The line of a key, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def _read(self, node: yaml.Node, path: Path, around: tuple[yaml.Node, ...]) -> Json:
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise _TooLarge
        if node in around:
            return self._unreadable(path, "contains itself through an alias")
        inside = (*around, node)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            items = cast("list[yaml.Node]", node.value)
            return [self._read(item, (*path, at), inside) for at, item in enumerate(items)]
        return self._scalar(node, path)

    def _mapping(
        self, node: yaml.MappingNode, path: Path, inside: tuple[yaml.Node, ...]
    ) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name, complaint = _name(key)
            line = key.start_mark.line + 1
            if complaint:
                place = (*path, name) if name else path
                self.mistakes.append(Mistake(place, complaint, line))
            elif name in found:
                place = (*path, name)
                text = f"is there twice; the first is on line {self.lines[place]}"
                self.mistakes.append(Mistake(place, text, line))
            else:
                self.lines[*path, name] = line
                found[name] = self._read(value, (*path, name), inside)
        return found

    def _scalar(self, node: yaml.Node, path: Path) -> Json:
        plain = _PLAIN.get(node.tag)
        is_plain = plain is not None and isinstance(node.value, str)
        if node.tag == _TEXT and isinstance(node.value, str):
            if _SURROGATE.search(node.value):
                return self._unreadable(path, "has half a character, such as \\ud800")
            return node.value
        if plain is None or not is_plain or not plain.pattern.match(node.value):
            return self._unreadable(
                path, "has a YAML tag; put a text that begins with ! into quotes"
            )
        return self._number(plain, node.value, path)

    def _number(self, plain: _Plain, text: str, path: Path) -> Json:
        try:
            value = plain.read(text)
        except ValueError:  # thousands of digits
            value = float("inf")
        if isinstance(value, int | float) and not abs(value) < 2**63:
            return self._unreadable(path, "is a number too large to be used")
        return value

    def _unreadable(self, path: Path, text: str) -> None:
        self.unread.add(path)
        self.mistakes.append(Mistake(path, text, self.line(path)))


class _TooLarge(Exception):
    """Aliases can make a small file a huge one."""


def _name(key: yaml.Node) -> tuple[str, str]:
    """A key as a text, and what is wrong with it."""
    if not isinstance(key, yaml.ScalarNode):
        return "", "has a key that is not a text"
    name = str(key.value)
    if key.tag != _TEXT:
        text = "is not a text; put the key into quotes" if name else "has a key that is empty"
        return name, text
    return name, "has half a character, such as \\ud800" if _SURROGATE.search(name) else ""
