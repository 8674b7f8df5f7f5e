"""Who may see which tools."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import lru_cache
from typing import Self

from tooldrawer.tool import Tool

_GLOB = re.compile(r"[*?\[]")


@lru_cache(maxsize=1024)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns) or r"(?!)")


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the globs fits the whole `name`; case counts."""
    return _compiled(patterns).match(name) is not None


def tool_matches(tool: Tool, patterns: tuple[str, ...]) -> bool:
    """Whether one of the globs fits the tool's name, or its name before it was shortened."""
    if matches(tool.name, patterns):
        return True
    return bool(tool.long_name) and matches(tool.long_name, patterns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which toolsets and tools exist for a session. Deny wins; no scope means everything."""

    toolsets: Sequence[str] = ("*",)
    """Globs of enabled toolsets."""
    disabled_toolsets: Sequence[str] = ()
    """Globs of toolsets taken away again."""
    allow: Sequence[str] = ("*",)
    """Globs of tool names."""
    deny: Sequence[str] = ()
    name: str = field(default="", compare=False)
    """For people: shown in the activity."""
    parent: "Scope | None" = None
    """The scope this one lies within."""

    def __post_init__(self) -> None:
        for key in ("toolsets", "disabled_toolsets", "allow", "deny"):
            value = getattr(self, key)
            if isinstance(value, str):
                raise TypeError(f"Scope.{key} is the text {value!r}; expected a list of patterns.")
            object.__setattr__(self, key, tuple(value))

    def within(self, parent: "Scope") -> Self:
        """The intersection with `parent`, which keeps its own ancestors: never wider than any."""
        top = parent if self.parent is None else self.parent.within(parent)
        return replace(self, parent=top)

    def admits(self, tool: Tool) -> bool:
        """Whether `tool` exists at all for a session of this scope."""
        return (
            self._admits_toolset(tool.source)
            and tool_matches(tool, tuple(self.allow))
            and not tool_matches(tool, tuple(self.deny))
            and (self.parent is None or self.parent.admits(tool))
        )

    def admits_toolset(self, name: str) -> bool:
        """Whether the toolset `name` is enabled here and in every ancestor."""
        return self._admits_toolset(name) and (
            self.parent is None or self.parent.admits_toolset(name)
        )

    @property
    def named_toolsets(self) -> tuple[str, ...]:
        """The toolsets that this scope spells out, without globs."""
        return tuple(name for name in self.toolsets if not _GLOB.search(name))

    def _admits_toolset(self, name: str) -> bool:
        enabled = matches(name, tuple(self.toolsets))
        return enabled and not matches(name, tuple(self.disabled_toolsets))


EVERYTHING = Scope()
