"""A file's values against its shape: every mistake, in words."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

import pydantic
from rapidfuzz import fuzz, process

from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.shape import EMBEDDINGS, Expected, FileShape
from tooldrawer.config.words import shown
from tooldrawer.tool import Json

_NEAR_ENOUGH = 60.0
_SECRET_KEYS = ("args", "env", "headers", "url", "api_key")


@cache
def _adapter() -> "pydantic.TypeAdapter[FileShape]":
    return pydantic.TypeAdapter(FileShape)


def checked(value: Json, *, secret: Collection[Path] = ()) -> tuple[FileShape, list[Mistake]]:
    """The file as values of our own types, without what is wrong with it, and all that is wrong."""
    try:
        return _validated(value), []
    except pydantic.ValidationError as error:
        mistakes = list(_mistakes(error, value, secret))
    return _validated(without(value, [mistake.path for mistake in mistakes])), mistakes


def _validated(value: Json) -> FileShape:
    # In JSON mode "strict" means: no text for a number, no number for a text.
    return _adapter().validate_json(json.dumps(value), strict=True)


def _mistakes(
    error: pydantic.ValidationError, value: Json, secret: Collection[Path]
) -> Iterator[Mistake]:
    for found in error.errors(include_url=False, include_context=False, include_input=False):
        path = tuple(found["loc"])
        if found["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
            yield Mistake(path, _unknown(path), is_unknown=True)
        else:
            given = shown(_at(value, path), is_hidden=path in secret or _may_be_secret(path))
            yield Mistake(path, f"is {given}, expected {_kind_at(path)[1]}")


def _may_be_secret(path: Path) -> bool:
    """Whether people write secrets there: how to reach a server, a file that is no settings."""
    if path[:3] == EMBEDDINGS:
        return len(path) < 4 or path[3] in _SECRET_KEYS
    if not path or path[0] != "mcp_servers":
        return not path
    return len(path) < 3 or path[2] in _SECRET_KEYS


def without(value: Json, paths: Collection[Path]) -> Json:
    """The file without those keys; of a list all or nothing, so that positions stay right."""
    if not isinstance(value, dict):
        return {}
    kept: dict[str, Json] = {}
    for key, item in value.items():
        below = [path[1:] for path in paths if path[0] == key]
        if not below:
            kept[key] = item
        elif isinstance(item, dict) and all(below):
            kept[key] = without(item, below)
    return kept


def _unknown(path: Path) -> str:
    kind, _ = _kind_at(path[:-1])
    known = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    best = process.extractOne(str(path[-1]), known, scorer=fuzz.ratio, score_cutoff=_NEAR_ENOUGH)
    hint = f"did you mean {best[0]!r}?" if best else f"known are {', '.join(known)}"
    return f"is not a known key; {hint}"


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
            # The outermost words come last: nested annotations are one flat list.
            own = [note.words for note in notes if isinstance(note, Expected)]
            words = words or (own[-1] if own else "")
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
