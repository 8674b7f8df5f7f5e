"""A file's values against its shape: every mistake, in words."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

import pydantic
from rapidfuzz import process

from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.shape import Expected, FileShape
from tooldrawer.tool import Json

_NEAR_ENOUGH = 60.0
_SECRET_KEYS = ("env", "headers")


@cache
def _adapter() -> "pydantic.TypeAdapter[FileShape]":
    return pydantic.TypeAdapter(FileShape)


def checked(value: Json, *, secret: Iterable[Path] = ()) -> tuple[FileShape | None, list[Mistake]]:
    """The file as values of our own types, or what is wrong with it, all of it."""
    try:
        # In JSON mode "strict" means: no text for a number, no number for a text.
        return _adapter().validate_json(json.dumps(value), strict=True), []
    except pydantic.ValidationError as error:
        hidden = set(secret)
        return None, list(_mistakes(error, value, hidden))


def _mistakes(error: pydantic.ValidationError, value: Json, hidden: set[Path]) -> Iterator[Mistake]:
    seen: set[Path] = set()
    for found in error.errors(include_url=False, include_context=False):
        path = tuple(found["loc"])
        if found["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
            yield Mistake(path, _unknown(path))
            continue
        if path in seen:
            continue
        seen.add(path)
        given = _at(value, path)
        is_hidden = path in hidden or any(key in _SECRET_KEYS for key in path[:-1])
        yield Mistake(path, f"is {_shown(given, is_hidden=is_hidden)}, expected {_expected(path)}")


def _unknown(path: Path) -> str:
    kind, _ = _kind_at(path[:-1])
    known = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    best = process.extractOne(str(path[-1]), known, score_cutoff=_NEAR_ENOUGH)
    hint = f"did you mean {best[0]!r}?" if best else f"known are {', '.join(known)}"
    return f"is not a known key; {hint}"


def _expected(path: Path) -> str:
    _, words = _kind_at(path)
    return words


def _kind_at(path: Path) -> tuple[Any, str]:
    """The type that a key has, and the words for it; those of the nearest key that has some."""
    kind, words = cast("Any", FileShape), "settings by name"
    for step in path:
        kind, own = _plain(_below(kind, step))
        words = own or words
    return kind, words


def _below(kind: Any, step: str | int) -> Any:
    if is_dataclass(kind):
        return get_type_hints(kind, include_extras=True).get(str(step), str)
    arguments = get_args(kind)
    if get_origin(kind) is dict:
        return arguments[1]
    return arguments[0] if get_origin(kind) is tuple and isinstance(step, int) else str


def _plain(kind: Any) -> tuple[Any, str]:
    """A type without its annotations and its `None`, and the words among the annotations."""
    words = ""
    while get_origin(kind) in (Annotated, Union, UnionType):
        if get_origin(kind) is Annotated:
            kind, *notes = get_args(kind)
            words = words or next((note.words for note in notes if isinstance(note, Expected)), "")
        else:
            kind = next(part for part in get_args(kind) if part is not type(None))
    return kind, words


def _at(value: Json, path: Path) -> Json:
    for step in path:
        if isinstance(value, Mapping):
            value = cast("Mapping[str, Json]", value).get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _shown(value: Json, *, is_hidden: bool) -> str:
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_hidden:
        return "a text that is not shown" if isinstance(value, str) else "a number"
    return repr(value)
