"""YAML with the line of every key, and without YAML 1.1's surprises."""

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import cast

import yaml

from tooldrawer.tool import Json

Path = tuple[str | int, ...]
_MOST_NODES = 100_000


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core schema: `on`, `off`, `yes`, `no` and dates are texts."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^[-+]?[0-9]+$", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
        "-+.0123456789",
    ),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
):
    _Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
        _tag, re.compile(_pattern), [*_first, ""]
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
        self._nodes = 0
        try:
            node = cast(
                "yaml.Node | None",
                yaml.compose(text, Loader=_Loader),  # pyright: ignore[reportUnknownMemberType]
            )
        except yaml.YAMLError as error:
            self.mistakes.append(_not_yaml(error))
            return
        if node is not None:
            self.value = self._read(node, (), ())

    def line(self, path: Path) -> int:
        """The line of a key, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def _read(self, node: yaml.Node, path: Path, around: tuple[yaml.Node, ...]) -> Json:
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._nodes += 1
        if node in around or self._nodes > _MOST_NODES:
            self._wrong(path, "repeats itself through an alias", node)
            return None
        inside = (*around, node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode):
            items = cast("list[yaml.Node]", node.value)
            return [self._read(item, (*path, at), inside) for at, item in enumerate(items)]
        return self._scalar(node, path)

    def _mapping(
        self, node: yaml.MappingNode, path: Path, inside: tuple[yaml.Node, ...]
    ) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            place = (*path, name)
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                self._wrong(place, "is not a text; put the key into quotes", key)
                continue
            if name in found:
                first = self.lines[place]
                self._wrong(place, f"is there twice; the first is on line {first}", key)
                continue
            self.lines[place] = key.start_mark.line + 1
            found[name] = self._read(value, place, inside)
        return found

    def _scalar(self, node: yaml.Node, path: Path) -> Json:
        constructor = yaml.constructor.SafeConstructor()
        try:
            value: Hashable = constructor.construct_object(node)  # pyright: ignore[reportUnknownMemberType]
        except (yaml.YAMLError, ValueError) as error:
            self._wrong(path, f"cannot be read: {_first_line(error)}", node)
            return None
        if value is None or isinstance(value, str | bool | int | float):
            return value
        self._wrong(path, f"has the YAML tag {node.tag}, expected plain text or a number", node)
        return None

    def _wrong(self, path: Path, text: str, node: yaml.Node) -> None:
        self.mistakes.append(Mistake(path, text, node.start_mark.line + 1))


def _not_yaml(error: yaml.YAMLError) -> Mistake:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or _first_line(error)
    where = f" (column {mark.column + 1})" if mark else ""
    return Mistake((), f"is not YAML: {problem}{where}", mark.line + 1 if mark else 1)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
