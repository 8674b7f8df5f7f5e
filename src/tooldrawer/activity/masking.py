"""Secrets out of events, before anyone sees them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import cast

from tooldrawer.activity.events import Event
from tooldrawer.tool import Json

MASK = "***"
# `tokens` and `max_tokens` count things; `token`, `access_token` and `tokenId` name a secret.
_ANYWHERE = (
    r"pass(?:word|wd|phrase|code)|secret|token(?!s)|api[_\-.]?key|authorization|credential|cookie"
    r"|private[_\-.]?key|access[_\-.]?key"
)
_AS_A_WORD = r"pwd|pass|auth"
_SECRET_KEY = re.compile(rf"{_ANYWHERE}|(?:^|[_\-.])(?:{_AS_A_WORD})(?:$|[_\-.])", re.IGNORECASE)
_IN_QUOTES = r"[^\"\\]{0,64}"
_SECRET_PAIR = re.compile(
    # Inside a text: "password": "...", and \"password\": \"...\" where JSON is quoted in JSON.
    rf"(?P<pair>(?P<quote>\\?\")(?:{_IN_QUOTES}?(?:{_ANYWHERE})|(?:{_IN_QUOTES}[_\-.])?"
    rf"(?:{_AS_A_WORD})(?=[_\-.\"\\])){_IN_QUOTES}(?P=quote)\s*:\s*)"
    r"(?:(?P=quote)(?:\\.|[^\\])*?(?:(?P=quote)|$)|-?\d[\d.eE+\-]*)",
    re.IGNORECASE | re.DOTALL,
)
_ASSIGNED = re.compile(
    # A line of `.env`, an option of a command: PASSWORD=..., --api-key=..., export TOKEN="...".
    # Only where the name ends so: `token_count=3` is no secret.
    rf"(?P<name>(?:{_ANYWHERE}|(?<![a-z])(?:{_AS_A_WORD}))=)"
    r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'&;,]+)",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"\b[Bb]earer\s+[\w\-.~+/]{8,}=*"
    r"|\b(?:sk|pk|rk)[-_](?:[a-zA-Z]+[-_])*[A-Za-z0-9_\-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bxox[abeprs]-[A-Za-z0-9\-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    # It begins only where a word does, else a long row of beginnings would be read over and over.
    r"|(?<![\w\-])eyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]{4,}"
)


_PLAIN = frozenset((bool, int, float, type(None)))
"""What cannot have a secret in it; most of an event is that."""


@cache
def _names(kind: type[Event]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def names_secret(key: object) -> bool:
    """Whether the value of `key` is likely to be a secret."""
    return _SECRET_KEY.search(str(key)) is not None


class Masker:
    """Replaces values of keys that look like secrets, and whatever looks like one, by `***`."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        # Each on its own: flags and groups of one must not reach another.
        self._values = (_SECRET_VALUE, *map(re.compile, patterns))

    def __call__(self, event: Event) -> Event:
        """The event with its secrets masked; the same object when it has none."""
        changes = {
            name: clean
            for name in _names(type(event))
            if (value := getattr(event, name)).__class__ not in _PLAIN
            and (clean := self.masked(value)) != value
        }
        return replace(event, **changes) if changes else event

    def masked(self, value: Json) -> Json:
        """A value without its secrets."""
        if isinstance(value, str):
            return self._text(value)
        if value.__class__ in _PLAIN:
            return value
        if isinstance(value, Mapping):
            return {
                key: MASK if names_secret(key) else self.masked(item)
                for key, item in cast("Mapping[str, Json]", value).items()
            }
        if isinstance(value, Sequence):
            return type(value)(self.masked(item) for item in value) if value else value  # pyright: ignore[reportCallIssue]
        return value

    def _text(self, text: str) -> str:
        clean = (
            _SECRET_PAIR.sub(rf"\g<pair>\g<quote>{MASK}\g<quote>", text) if ":" in text else text
        )
        if "=" in clean:
            clean = _ASSIGNED.sub(rf"\g<name>{MASK}", clean)
        for pattern in self._values:
            clean = pattern.sub(MASK, clean)
        return clean
