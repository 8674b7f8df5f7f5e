"""Bounds on the message and the data of a server's protocol error."""

from typing import cast

from tooldrawer.bounds.size import Size, SizeLimits
from tooldrawer.errors import ServerRefused
from tooldrawer.json_values import Json

MAX_ERROR_CHARS = 10_000
"""Of a message, and of the data beside it. A stack trace of 100 lines fits."""
_MAX_DATA_LEVELS = 64
_MAX_NOTE_CHARS = 50


def cut_message(message: str, max_chars: int = MAX_ERROR_CHARS) -> str:
    """The message, or its beginning and how much was left out."""
    if len(message) <= max_chars:
        return message
    kept = message[: max(0, max_chars - _MAX_NOTE_CHARS)]
    return f"{kept}… [{len(message) - len(kept):,} more characters left out]"


def bound_data(data: object, max_chars: int = MAX_ERROR_CHARS) -> object:
    """The data, or a text instead of it; a part of it would not be of the form it has."""
    limits = SizeLimits(levels=_MAX_DATA_LEVELS, values=max_chars, bytes=max_chars)
    if Size(cast("Json", data), limits).excess:
        return "[The data of this error was left out: too large.]"
    return data


def bound_refusal(error: ServerRefused, max_chars: int) -> ServerRefused:
    """The error with at most `max_chars` in its message and in its data."""
    message, data = cut_message(str(error), max_chars), bound_data(error.data, max_chars)
    if message == str(error) and data is error.data:
        return error
    return ServerRefused(message, code=error.code, data=data)
