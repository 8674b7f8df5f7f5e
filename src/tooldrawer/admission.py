"""What a scope shows at one moment: the one check for everything that a toolset offers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from tooldrawer.catalog import Catalog
from tooldrawer.patterns import similar_servers
from tooldrawer.registry import Snapshot
from tooldrawer.scope import Scope
from tooldrawer.tool import UPSTREAM_PREFIX, ServerNaming, Tool
from tooldrawer.toolset import has_known_tools


class Server(Protocol):
    """What is known of a server before it has listed its tools."""

    name: str
    """Of its toolset."""

    @property
    def is_known(self) -> bool:
        """Whether its tools are known."""
        ...

    @property
    def naming(self) -> ServerNaming:
        """How the names of its tools are made."""
        ...


AnyServer = TypeVar("AnyServer", bound=Server)


def unknown_servers(
    servers: Iterable[AnyServer], admits: Callable[[str, ServerNaming], bool]
) -> list[AnyServer]:
    """The servers whose tools are not known and that a scope's `can_admit` or `may_name` admits."""
    found = tuple(servers)
    similar = similar_servers(each.name for each in found)
    return [
        each
        for each in found
        if not each.is_known and admits(each.name, replace(each.naming, similar=similar[each.name]))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Decides about a server as a whole, and about each prompt and resource that it offers.

    A server without an admitted tool is invisible: its name, its instructions, its log lines and
    its notifications too.
    """

    scope: Scope
    snapshot: Snapshot
    catalog: Catalog
    """The tools of `snapshot` that `scope` admits."""

    def admits_toolset(self, name: str) -> bool:
        """Whether anything of the toolset may be shown, its name included."""
        if name in self.catalog.sources:
            return True
        toolset, naming = self.snapshot.toolsets.get(name), self.snapshot.naming(name)
        if toolset is None or not has_known_tools(toolset):
            return self.scope.may_name(name, naming)
        # A server may offer prompts and resources alone; then there is no tool to admit.
        is_toolless_server = name.startswith(UPSTREAM_PREFIX) and not self.snapshot.listed_by(name)
        return is_toolless_server and self.scope.admits_everything_of(name, naming)

    def hides(self, name: str) -> bool:
        """Whether the toolset is there and nothing of it may be shown."""
        return name in self.snapshot.toolsets and not self.admits_toolset(name)

    def toolsets(self) -> tuple[str, ...]:
        """All toolsets that may be shown, whether they offer anything at the moment or not."""
        known = self.snapshot.toolsets
        # A server's own name in the scope stands for its toolset, which is known or to come.
        named = (
            name for name in self.scope.named_toolsets if f"{UPSTREAM_PREFIX}{name}" not in known
        )
        names = {*named, *known}
        return tuple(sorted(filter(self.admits_toolset, names)))

    def admits(self, item: Tool) -> bool:
        """Whether a prompt or a resource, described as a tool, may be shown and used.

        The scope's patterns apply to its name as they do to a tool's.
        """
        return self.admits_toolset(item.source) and self.scope.admits(item)
