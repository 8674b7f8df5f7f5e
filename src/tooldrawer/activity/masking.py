"""Secrets out of events, before anyone sees them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import cast

from tooldrawer.activity.events import Event
from tooldrawer.tool import Json

MASK = "***"
# `tokens` and `max_tokens` count things; `token`, `access_token` and `tokenId` name a secret.
_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase|code)|(^|[_\-.])pwd($|[_\-.])|secret|token(?!s)|api[_\-.]?key"
    r"|authorization|credential|cookie|private[_\-.]?key|access[_\-.]?key|(^|[_\-.])auth($|[_\-.])",
    re.IGNORECASE,
)
_SECRET_VALUES = (
    r"\b[Bb]earer\s+[\w\-.~+/]{8,}=*",
    r"\b(?:sk|pk|rk)[-_](?:[a-zA-Z]+[-_])*[A-Za-z0-9_\-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bxox[abeprs]-[A-Za-z0-9\-]{10,}",
    r"\bAKIA[0-9A-Z]{16}\b",
    r"\beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]{4,}",
)


class Masker:
    """Replaces values of keys that look like secrets, and whatever looks like one, by `***`."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._values = re.compile("|".join((*_SECRET_VALUES, *patterns)))

    def __call__(self, event: Event) -> Event:
        """The event with its secrets masked; the same object when it has none."""
        changes = {
            field.name: clean
            for field in fields(event)
            if (value := getattr(event, field.name)) is not None
            and (clean := self.masked(value)) != value
        }
        return replace(event, **changes) if changes else event

    def masked(self, value: Json) -> Json:
        """A value without its secrets."""
        if isinstance(value, str):
            return self._values.sub(MASK, value)
        if isinstance(value, Mapping):
            return {
                key: MASK if _SECRET_KEY.search(key) else self.masked(item)
                for key, item in cast("Mapping[str, Json]", value).items()
            }
        if isinstance(value, Sequence):
            return type(value)(self.masked(item) for item in value) if value else value  # pyright: ignore[reportCallIssue]
        return value
