"""Names of servers: which are right, and what becomes of one that another program allowed."""

import re
from collections.abc import Iterable
from unicodedata import normalize

SERVER_NAME_WORDS = (
    "at most 48 letters, digits, dots, dashes and underscores, a letter or digit first"
)
_LONGEST = 48
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,47}")
_OTHERS = re.compile(r"[^A-Za-z0-9_.-]+")


def is_server_name(text: str) -> bool:
    """Whether a server can have that name."""
    return _NAME.fullmatch(text) is not None


def server_names(given: Iterable[str], *, taken: Iterable[str] = ()) -> dict[str, str]:
    """A right name for each given one: its own where possible, never one name for two."""
    names = list(dict.fromkeys(given))
    reserved = {*taken, *(name for name in names if is_server_name(name))}
    found: dict[str, str] = {}
    held = set(taken)
    for name in names:
        is_free = is_server_name(name) and name not in held
        found[name] = name if is_free else _free(_near(name), reserved)
        held.add(found[name])
        reserved.add(found[name])
    return found


def _near(name: str) -> str:
    plain = normalize("NFKD", name).encode("ascii", errors="ignore").decode()
    return _OTHERS.sub("-", plain).strip("-_.")[:_LONGEST] or "server"


def _free(name: str, reserved: set[str]) -> str:
    number, found = 1, name
    while found in reserved:
        number += 1
        ending = f"-{number}"
        found = name[: _LONGEST - len(ending)] + ending
    return found
