"""A value of the file as a message shows it."""

from collections.abc import Mapping

from tooldrawer.tool import Json

_LONGEST = 60


def quoted(text: str) -> str:
    """The text in quotes and on one line, a long one shortened."""
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def shown(value: Json, *, is_hidden: bool = False) -> str:
    """The value in a few words; of a hidden one only what it is."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value, is_hidden=is_hidden)
    if isinstance(value, int | float):
        return "a number" if is_hidden else repr(value)
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _text(value: str, *, is_hidden: bool) -> str:
    if not value:
        return "an empty text"
    if is_hidden:
        return "a text that is not shown"
    return quoted(value)
