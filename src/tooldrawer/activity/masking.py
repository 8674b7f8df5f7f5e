"""Secrets out of events, before anyone sees them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import cast
from unicodedata import category, normalize

from tooldrawer.activity.events import Event
from tooldrawer.activity.secret_formats import MASK, has_any, mask_formats
from tooldrawer.tool import Json

# `tokens` and `max_tokens` count things; `token`, `access_token` and `tokenId` name a secret.
_ANYWHERE = (
    r"pass(?:word|wd|phrase|code)|secret(?!ar)|token(?!s|i[sz])|api[_\-.]?key|authorization"
    r"|credential|cookie|(?:private|access|account|signing|encryption|master)[_\-.]?key"
    r"|connection[_\-.]?string|webhook[_\-.]?url|session[_\-.]?id(?![a-z])"
)
_AS_A_WORD = r"pwd|pass|auth|jwt|otp|dsn"
_WORDS = (
    *("pass", "secret", "token", "key", "auth", "credential", "cookie", "string", "webhook"),
    *("pwd", "jwt", "otp", "dsn", "session"),
)
"""One of them is in every name that the patterns above find."""
_SECRET_KEY = re.compile(
    rf"{_ANYWHERE}|(?:^|[_\-.])(?:{_AS_A_WORD}|bearer)(?:$|[_\-.])|(?:^|[_\-.])pin(?:[_\-.]?code)?$",
    re.IGNORECASE,
)
_NAMING_KEYS = ("name", "key", "header", "field")
_VALUE_KEY = "value"
"""A header or a variable as an object: {"name": "X-Api-Key", "value": ...}."""
_IN_QUOTES = r"[^\"\\]{0,64}"
_SECRET_PAIR = re.compile(
    # Inside a text: "password": "...", and \"password\": \"...\" where JSON is quoted in JSON.
    rf"(?P<pair>(?P<quote>\\?\")(?:{_IN_QUOTES}?(?:{_ANYWHERE})|(?:{_IN_QUOTES}[_\-.])?"
    rf"(?:{_AS_A_WORD})(?=[_\-.\"\\])){_IN_QUOTES}(?P=quote)\s*:\s*)"
    r"(?:(?P=quote)(?:\\.|[^\\])*?(?:(?P=quote)|$)|-?\d[\d.eE+\-]*)",
    re.IGNORECASE | re.DOTALL,
)
_NAME = rf"(?:{_ANYWHERE}|(?<![a-z])(?:{_AS_A_WORD}))"
_ASSIGNED = re.compile(
    # A line of `.env`, an option of a command: PASSWORD=..., --api-key=..., export TOKEN="...".
    # Only where the name ends so: `token_count=3` is no secret.
    rf"(?P<name>{_NAME}=)(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'&;,]+)",
    re.IGNORECASE,
)
_STATED = re.compile(
    # A header, or a line of YAML or INI: X-Api-Key: ..., password = .... After a colon a sentence
    # may follow, so what has no digit is left, unless it is called an authorization.
    rf"(?P<name>{_NAME}['\"]?[ \t]{{0,4}}[:=][ \t]{{0,4}}['\"]?)(?!\*)"
    r"(?:(?:basic|bearer|digest|token|apikey)[ \t]{1,4}[^\s\"',;&]{8,}"
    r"|(?=[^\s\"',;&]{0,256}?\d)[^\s\"',;&]{6,})",
    re.IGNORECASE,
)
_OPTION = re.compile(
    # An option with its value behind a space: --password hunter2.
    rf"(?P<name>(?<![\w\-])--(?!no-)[\w\-]{{0,40}}?(?:{_ANYWHERE}|pwd|pass)[ \t]{{1,4}})"
    r"(?![\-])(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'&;,]+)",
    re.IGNORECASE,
)


_PLAIN = frozenset((bool, int, float, type(None)))
"""What cannot have a secret in it; most of an event is that."""
_OBJECTS, _ARRAYS = (dict, Mapping), (list, Sequence)
"""The usual types first: the others take ten times as long to see."""


@cache
def _names(kind: type[Event]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def names_secret(key: object) -> bool:
    """Whether the value of `key` is likely to be a secret."""
    name = str(key)
    return _SECRET_KEY.search(name if name.isascii() else _fold(name)) is not None


def _fold(name: str) -> str:
    """A name without wide and invisible characters, which a server may take for the plain one."""
    plain = normalize("NFKC", name)
    return "".join(char for char in plain if category(char) != "Cf")


def _names_its_value(pairs: Mapping[str, Json]) -> bool:
    """Whether one entry of an object is the name of another one, which is a secret."""
    if _VALUE_KEY not in pairs:
        return False
    names = (pairs.get(key) for key in _NAMING_KEYS)
    return any(isinstance(name, str) and names_secret(name) for name in names)


class Masker:
    """Replaces values of keys that look like secrets, and whatever looks like one, by `***`."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        # Each on its own: flags and groups of one must not reach another.
        self._more = tuple(map(re.compile, patterns))

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
        if value.__class__ in _PLAIN or not value:
            return value
        if isinstance(value, _OBJECTS):
            return self._object(cast("Mapping[str, Json]", value))
        if isinstance(value, _ARRAYS):
            return type(value)(map(self.masked, value))  # pyright: ignore[reportCallIssue]
        return value

    def _object(self, pairs: Mapping[str, Json]) -> dict[str, Json]:
        hidden = _VALUE_KEY if _names_its_value(pairs) else None
        masked: dict[str, Json] = {}
        numbers: dict[str, int] = {}
        for key, item in pairs.items():
            # A caller may send keys that are not text.
            name = self._text(key) if isinstance(key, str) else key  # pyright: ignore[reportUnnecessaryIsInstance]
            clean = name
            while clean in masked:  # no entry may replace another one
                numbers[name] = numbers.get(name, 1) + 1
                clean = f"{name} ({numbers[name]})"
            is_secret = key == hidden or names_secret(key)
            masked[clean] = MASK if is_secret else self.masked(item)
        return masked

    def _text(self, text: str) -> str:
        text = self._mask_named(text)
        for pattern in self._more:
            text = pattern.sub(MASK, text)
        return text

    @staticmethod
    def _mask_named(text: str) -> str:
        """Mask the values of names that look like secrets, and secrets of a known format."""
        if not has_any(text.lower(), _WORDS):
            return mask_formats(text)
        if ":" in text and '"' in text:
            text = _SECRET_PAIR.sub(rf"\g<pair>\g<quote>{MASK}\g<quote>", text)
        if "=" in text:
            text = _ASSIGNED.sub(rf"\g<name>{MASK}", text)
        # Before what follows, so that a header with a known token is masked as a whole.
        text = mask_formats(text)
        if ":" in text or "=" in text:
            text = _STATED.sub(rf"\g<name>{MASK}", text)
        return _OPTION.sub(rf"\g<name>{MASK}", text) if "--" in text else text
