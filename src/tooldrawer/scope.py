"""Who may see which tools."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from tooldrawer.option_checks import PATTERNS, Expected, freeze_lists, require_fields
from tooldrawer.patterns import Reach, matches, reach, tool_matches
from tooldrawer.tool import UPSTREAM_PREFIX, ServerNaming, Tool

_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which toolsets and tools exist for a session. Deny wins; no scope means everything.

    Raises:
        ConfigError: A field is not a list of patterns.
    """

    toolsets: Sequence[str] = ("*",)
    """Globs of enabled toolsets. The MCP server `github` is the toolset `mcp-github`; its own name
    means it too, without wildcards."""
    disabled_toolsets: Sequence[str] = ()
    """Globs of toolsets taken away again, by the names of toolsets or servers."""
    allow: Sequence[str] = ("*",)
    """Patterns of tools; see `patterns`."""
    deny: Sequence[str] = ()
    name: str = field(default="", compare=False)
    """For people: shown in the activity."""
    parent: "Scope | None" = None
    """The scope this one lies within."""

    def __post_init__(self) -> None:
        freeze_lists(self, "toolsets", "disabled_toolsets", "allow", "deny")
        require_fields(
            self, toolsets=PATTERNS, disabled_toolsets=PATTERNS, allow=PATTERNS, deny=PATTERNS
        )

    def within(self, parent: "Scope") -> Self:
        """The intersection with `parent`, which keeps its own ancestors: never wider than any."""
        top = parent if self.parent is None else self.parent.within(parent)
        return replace(self, parent=top)

    def admits(self, tool: Tool) -> bool:
        """Whether `tool` exists at all for a session of this scope."""
        return (
            self._enables(tool.source)
            and tool_matches(tool, self.allow)
            and not tool_matches(tool, self.deny, forbids=True)
            and (self.parent is None or self.parent.admits(tool))
        )

    def denies(self, tool: Tool) -> bool:
        """Whether a pattern of `deny` is about `tool`, here or in an ancestor."""
        is_denied = tool_matches(tool, self.deny, forbids=True)
        return is_denied or (self.parent is not None and self.parent.denies(tool))

    def can_admit(self, toolset: str, naming: ServerNaming | None = None) -> bool:
        """Whether a tool of `toolset` could exist here: what decides if it is worth waiting for."""
        allowed, is_open = self._reach(toolset, naming or ServerNaming())
        is_possible = is_open and allowed > Reach.NOTHING
        return is_possible and (self.parent is None or self.parent.can_admit(toolset, naming))

    def may_name(self, toolset: str, naming: ServerNaming | None = None) -> bool:
        """Whether `toolset` may be named while nothing is known of its tools.

        It may where the scope admits everything of it, or spells out its name. A pattern such as
        `*search*` could match a tool of any server; it does not give away the names of all.
        """
        allowed, is_open = self._reach(toolset, naming or ServerNaming())
        is_spelled_out = allowed is Reach.NAMED or self._spells_out(toolset)
        is_known = allowed is Reach.ALL or (allowed > Reach.NOTHING and is_spelled_out)
        return (
            is_open and is_known and (self.parent is None or self.parent.may_name(toolset, naming))
        )

    def admits_everything_of(self, toolset: str, naming: ServerNaming | None = None) -> bool:
        """Whether `toolset` is here as a whole, up to patterns that deny some of its tools."""
        allowed, is_open = self._reach(toolset, naming or ServerNaming())
        is_whole = is_open and allowed is Reach.ALL
        return is_whole and (
            self.parent is None or self.parent.admits_everything_of(toolset, naming)
        )

    @property
    def named_toolsets(self) -> tuple[str, ...]:
        """The toolsets that this scope spells out, without globs."""
        return tuple(name for name in self.toolsets if not _GLOB.search(name))

    def _reach(self, toolset: str, naming: ServerNaming) -> tuple[Reach, bool]:
        """What `allow` can match of a toolset, and whether the rest leaves anything of it."""
        denied = reach(toolset, self.deny, naming, forbids=True)
        is_open = denied is not Reach.ALL and self._enables(toolset)
        return reach(toolset, self.allow, naming), is_open

    def _enables(self, toolset: str) -> bool:
        enabled = matches(toolset, self.toolsets) or self._spells_out(toolset)
        return enabled and not any(
            matches(name, self.disabled_toolsets) for name in _toolset_names(toolset)
        )

    def _spells_out(self, toolset: str) -> bool:
        named = tuple(map(str.casefold, self.named_toolsets))
        return any(name.casefold() in named for name in _toolset_names(toolset))


def _toolset_names(toolset: str) -> tuple[str, ...]:
    """What a toolset may be called: the one of an MCP server also by the server's own name."""
    server = toolset.removeprefix(UPSTREAM_PREFIX)
    return (toolset,) if server == toolset else (toolset, server)


EVERYTHING = Scope()


SCOPE_OR_NAME = Expected(
    "a Scope or the name of a configured one",
    lambda value: value is None or isinstance(value, Scope | str),
)
