"""Checks of the values that options are constructed with.

A wrong value is reported where it is given, with its field and what is expected there, and not by
an error of whatever uses it later.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tooldrawer.errors import ConfigError

_MAX_VALUE_CHARS = 100
"""Of a value that is repeated in a message."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a value must be: in words, and as a test."""

    words: str
    accepts: Callable[[Any], bool]


def require_fields(options: object, /, **fields: Expected) -> None:
    """Raise a `ConfigError` that lists every field of `options` with a wrong value."""
    values = {name: (getattr(options, name), each) for name, each in fields.items()}
    require_values(type(options).__name__, **values)


def require_values(owner: str, /, **values: tuple[object, Expected]) -> None:
    """Raise a `ConfigError` that lists every wrong value; `owner` is the class they are for."""
    mistakes = [
        f"{owner}.{name} is {_shorten(value)}, expected {expected.words}."
        for name, (value, expected) in values.items()
        if not expected.accepts(value)
    ]
    if mistakes:
        raise ConfigError(*mistakes)


def whole_number(least: int, most: int | None = None) -> Expected:
    """A whole number from `least`, to `most` if that is given."""
    limit = "" if most is None else f" to {most}"
    return Expected(
        f"a whole number from {least}{limit}",
        lambda value: _is_number(value, int) and least <= value and (most is None or value <= most),
    )


def number(least: float, most: float | None = None) -> Expected:
    """A number from `least`, to `most` if that is given."""
    limit = "" if most is None else f" to {most:g}"
    return Expected(
        f"a number from {least:g}{limit}",
        lambda value: (
            _is_number(value, int | float) and least <= value and (most is None or value <= most)
        ),
    )


def one_of(choices: Sequence[str]) -> Expected:
    """One of several words."""
    words = f"{', '.join(choices[:-1])} or {choices[-1]}"
    return Expected(words, lambda value: isinstance(value, str) and value in choices)


def instance_of(kind: type) -> Expected:
    """An object of one class."""
    return Expected(f"a {kind.__name__}", lambda value: isinstance(value, kind))


SECONDS = Expected(
    "a number of seconds above 0", lambda value: _is_number(value, int | float) and value > 0
)
TEXT = Expected("a text", lambda value: isinstance(value, str))
TEXTS = Expected(
    "a list of texts",
    lambda value: isinstance(value, tuple) and all(isinstance(each, str) for each in value),  # pyright: ignore[reportUnknownVariableType]
)
PATTERNS = Expected("a list of patterns such as 'mcp_github_*'", TEXTS.accepts)


CALLABLES = Expected(
    "a list of functions or callable objects",
    lambda value: isinstance(value, tuple) and all(callable(each) for each in value),  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
)


def freeze(values: Any) -> Any:
    """A tuple of a list's members; what is not a list stays as it is, for a check to refuse."""
    return tuple(values) if isinstance(values, Iterable) else values  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def freeze_lists(options: object, *names: str) -> None:
    """Make a tuple of each list in these fields; a text stays one, for the check to refuse."""
    for name in names:
        value = getattr(options, name)
        if isinstance(value, Iterable) and not isinstance(value, str | bytes | tuple):
            object.__setattr__(options, name, tuple(value))  # pyright: ignore[reportUnknownArgumentType]


def find_pattern_mistake(text: str) -> str:
    """Why `text` is not a regular expression; nothing when it is one."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        return str(error)
    return ""


def _is_number(value: object, kind: Any) -> bool:
    """Whether a value is a number of this kind; `True` and `False` are not."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[: _MAX_VALUE_CHARS - 1]}…"
