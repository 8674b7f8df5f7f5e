"""The tools of one scope at one moment."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from types import MappingProxyType
from typing import TypeAlias

from rapidfuzz import fuzz, process

from tooldrawer.errors import UnknownTool
from tooldrawer.naming import hashed, unique
from tooldrawer.tool import Tool

_NOTATION = re.compile(r"[\W_]+")
_NEAR = 3
_NEAR_ENOUGH = 60.0
_LONGEST_NAME_ASKED = 256

Spellings: TypeAlias = tuple[Mapping[str, list[Tool]], ...]
"""Tools by what they can be called; what comes first is looked up first."""


class Catalog:
    """An immutable snapshot. What is not in it cannot be found, described or called."""

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        reserved: Collection[str] = (),
        holders: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.tools = tuple(unique(tools, reserved=reserved, holders=holders))
        """In the order given, each under a name of its own."""
        self._by_name = {tool.name: tool for tool in self.tools}
        self._spellings: Spellings | None = None
        self._run_together: Spellings | None = None
        self._fingerprint = ""

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @cached_property
    def sources(self) -> frozenset[str]:
        """The toolsets that have a tool here."""
        return frozenset(tool.source for tool in self.tools)

    @property
    def fingerprint(self) -> str:
        """A digest of the tools; their order does not count."""
        if not self._fingerprint:
            digest = blake2b(digest_size=16)
            for fingerprint in sorted(tool.fingerprint for tool in self.tools):
                digest.update(fingerprint.encode())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def get(self, name: str) -> Tool:
        """The tool of that name, in any notation that means exactly one.

        Raises:
            UnknownTool: With the nearest names of this catalog, for the model to choose from.
        """
        if name in self._by_name:
            return self._by_name[name]
        found = self.spelled(name)
        if len(found) == 1:
            return found[0]
        near = tuple(tool.name for tool in found[:_NEAR]) or self._near(name)
        raise UnknownTool(near=near, asked=name)

    def spelled(self, name: str) -> list[Tool]:
        """The tools that `name` can mean, ignoring case and notation.

        `github__create_issue`, `github.create_issue` and `github/create_issue` mean the tool of the
        server `github`; `create_issue` every server's tool of that name.
        """
        key = _spelling(name)
        return next((found[key] for found in self._spelled() if key in found), list[Tool]())

    def run_together(self, name: str) -> list[Tool]:
        """The tools that `name` spells when word boundaries do not count either: `createIssue`."""
        if self._run_together is None:
            self._run_together = tuple(map(_without_boundaries, self._spelled()))
        key = _spelling(name).replace("_", "")
        return next((found[key] for found in self._run_together if key in found), list[Tool]())

    def _spelled(self) -> Spellings:
        if self._spellings is None:
            self._spellings = _spellings(self.tools)
        return self._spellings

    def _near(self, name: str) -> tuple[str, ...]:
        spellings = [(tool.name, tool) for tool in self.tools]
        spellings += [
            (tool.local_name, tool) for tool in self.tools if tool.local_name != tool.name
        ]
        best = process.extract(
            name[:_LONGEST_NAME_ASKED],
            [spelling for spelling, _ in spellings],
            scorer=fuzz.ratio,
            score_cutoff=_NEAR_ENOUGH,
            limit=_NEAR * 2,
        )
        found = dict.fromkeys(spellings[position][1].name for _, _, position in best)
        return tuple(found)[:_NEAR]


def _spellings(tools: Iterable[Tool]) -> Spellings:
    """The tools by their full names and by their bare ones: a full name is looked up first."""
    full: dict[str, list[Tool]] = {}
    bare: dict[str, list[Tool]] = {}
    for tool in tools:
        local = tool.local_name
        names = (tool.name, tool.long_name, f"{tool.server}_{local}", f"{tool.source}_{local}")
        # Under the name it gives way with, too: a parent session may know it by that one.
        for key in {_spelling(name) for name in (*names, hashed(tool)) if name}:
            full.setdefault(key, []).append(tool)
        bare.setdefault(_spelling(local), []).append(tool)
    return full, bare


def _without_boundaries(spelled: Mapping[str, list[Tool]]) -> Mapping[str, list[Tool]]:
    found: dict[str, dict[str, Tool]] = {}
    for key, tools in spelled.items():
        found.setdefault(key.replace("_", ""), {}).update({tool.name: tool for tool in tools})
    return {key: list(tools.values()) for key, tools in found.items()}


def _spelling(name: str) -> str:
    return _NOTATION.sub("_", name.casefold()).strip("_")
