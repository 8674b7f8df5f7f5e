"""The answers "always", on disk: what was granted, and to whom."""

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import cast
from urllib.parse import quote

from platformdirs import user_data_path

from tooldrawer.json_store import JsonStore, StoreFormat
from tooldrawer.scope import EVERYTHING, Scope
from tooldrawer.tool import Json, JsonObject, Tool

_logger = logging.getLogger(__name__)
_ROOT = "grants"
_DIGEST_BYTES = 12
_ID_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """Whom a yes holds for: the principal and the scope that were asked, and subagents in it."""

    principal: str = ""
    """Who makes the calls; empty for the process itself."""
    scopes: tuple[str, ...] = ("",)
    """The session's own scope, then those of its ancestors."""

    @classmethod
    def of(cls, principal: str, scope: Scope) -> "Grantee":
        """Return the grantee that a session of this principal and scope is."""
        return cls(principal=principal, scopes=_scope_keys(scope))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One thing that a person allowed for good."""

    principal: str
    scope: str
    fingerprint: str
    """Of the tool: one that changes is asked about again."""
    about: str
    """What was asked about, beside the tool."""

    @property
    def id(self) -> str:
        """A short name for a person to type."""
        digest = blake2b(json.dumps(astuple(self)).encode(), digest_size=_ID_BYTES)
        return digest.hexdigest()


_Known = Mapping[Grant, str]
"""Grants, each with the tool's name."""


class Grants:
    """The grants of a user, in a private file that is read again when another process changed it.

    A damaged file grants nothing, and stays as it is until a person has repaired or moved it.
    """

    def __init__(self, path: Path | None = None) -> None:
        path = path or user_data_path("tooldrawer", appauthor=False) / "grants.json"
        self._store = JsonStore(path, _FORMAT)

    def __contains__(self, tool: object) -> bool:
        return isinstance(tool, Tool) and self.holds(tool)

    def holds(self, tool: Tool, about: str = "", grantee: Grantee | None = None) -> bool:
        """Whether `grantee` was granted `tool` as it is now, for what an `Ask` is `about`."""
        known = self._store.value
        grantee = grantee or Grantee()
        return any(_grant(tool, about, grantee, scope) in known for scope in grantee.scopes)

    def add(self, tool: Tool, about: Sequence[str] = ("",), grantee: Grantee | None = None) -> None:
        """Grant `tool` as it is now, for all that a person was asked about; durable on return.

        Raises:
            ConfigError: The file is damaged; it stays as it is.
            OSError: The file cannot be written.
        """
        grantee = grantee or Grantee()
        scope = grantee.scopes[0]
        added = {_grant(tool, each, grantee, scope): tool.name for each in about}
        with self._store.locked() as known:
            self._store.write({**known, **added})

    def remove(self, name: str) -> bool:
        """Take the grant with this id back, durably on return; whether there was one.

        Raises:
            ConfigError: The file is damaged; it stays as it is.
            OSError: The file cannot be written.
        """
        with self._store.locked() as known:
            kept = {grant: tool for grant, tool in known.items() if grant.id != name}
            if len(kept) < len(known):
                self._store.write(kept)
            return len(kept) < len(known)

    def entries(self) -> list[tuple[Grant, str]]:
        """Return all grants with their tools' names, ordered by these.

        Raises:
            ConfigError: The file is damaged.
        """
        return sorted(self._store.read().items(), key=lambda item: (item[1], astuple(item[0])))

    def names(self) -> Collection[str]:
        """The tools granted to anyone, by name."""
        return sorted(set(self._store.value.values()))


def _grant(tool: Tool, about: str, grantee: Grantee, scope: str) -> Grant:
    return Grant(
        principal=grantee.principal, scope=scope, fingerprint=tool.fingerprint, about=about
    )


def _scope_keys(scope: Scope) -> tuple[str, ...]:
    """Name a scope and its ancestors, innermost first; no two different ones share a key."""
    chain = [scope]
    while (parent := chain[-1].parent) is not None:
        chain.append(parent)
    path: list[str] = []
    keys: list[str] = []
    for each in reversed(chain):
        # A scope that takes nothing away is the one that it lies within.
        path += [part] if (part := _scope_part(each)) else []
        keys.append("/".join(path))
    return tuple(dict.fromkeys(reversed(keys)))


def _scope_part(scope: Scope) -> str:
    if scope.name:
        return quote(scope.name, safe=" ")
    lists = _patterns(scope)
    if lists == _patterns(EVERYTHING):
        return ""
    digest = blake2b(json.dumps(lists).encode(), digest_size=_DIGEST_BYTES)
    return f"#{digest.hexdigest()}"


def _patterns(scope: Scope) -> tuple[tuple[str, ...], ...]:
    lists = (scope.toolsets, scope.disabled_toolsets, scope.allow, scope.deny)
    return tuple(map(tuple, lists))


def _parse(content: bytes) -> _Known:
    """Read the grants of a file.

    Raises:
        ValueError: Something in it is not what this module writes.
    """
    found = cast("Json", json.loads(content))
    if not isinstance(found, dict):
        raise ValueError("expected an object")  # noqa: TRY004  the file's value is wrong
    if _ROOT not in found and all(isinstance(name, str) for name in found.values()):
        if found:
            _logger.warning(
                "%s grants of an earlier version do not say who was asked, and are not used; "
                "people are asked again.",
                len(found),
            )
        return {}
    entries = found.get(_ROOT)
    if not isinstance(entries, list):
        raise ValueError(f"expected a list of {_ROOT}")  # noqa: TRY004
    return dict(map(_entry, entries))


def _entry(found: Json) -> tuple[Grant, str]:
    if not isinstance(found, dict):
        raise ValueError("expected an object for each grant")  # noqa: TRY004
    names = ("principal", "scope", "fingerprint", "about")
    texts = {name: found.get(name) for name in (*names, "tool")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a grant lacks a text")
    known = cast("dict[str, str]", texts)
    return Grant(**{name: known[name] for name in names}), known["tool"]


def _serialize(known: _Known) -> JsonObject:
    return {_ROOT: [{"tool": name, **asdict(grant)} for grant, name in known.items()]}


_FORMAT: StoreFormat[_Known] = StoreFormat(
    parse=_parse,
    serialize=_serialize,
    empty={},
    damage="The grants in {path} cannot be read ({reason}), so people are asked again and nothing "
    "is granted for good. Repair the file, or move it away.",
)
