"""Servers whose names and tools collide, scopes in every form, and what each scope admits.

Every text of a server has a word that occurs nowhere else, so that a trace of it can be found in
anything that a principal receives.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.gateway.rig import Document, goods, shelf, tool

MARKERS = {
    "kiwi": "quokkaone",
    "kiwi_plum": "wombattwo",
    "Kiwi.Fig": "numbatthree",
    "lime": "bilbyfour",
}
"""The servers, and the word in all that each of them says."""
STOCKS = (("find", "plum_find", "bulkWipe"), ("find", "say_it", "WIPE_ALL"), ("wipe",), ())
"""Lists of tools that a server may have: the same names as another's, and names that run on from
a server's own."""
ITEMS = ("find_notes", "wipe_notes", "plum_find")
NAMES = tuple(dict.fromkeys((*ITEMS, *(name for stock in STOCKS for name in stock))))
Admits = Callable[[str, str], bool]
"""Whether a scope admits what a server calls so."""


def _wipes(name: str) -> bool:
    return "wipe" in name.casefold()


NONE: Admits = lambda server, name: False  # noqa: E731
FORMS: tuple[tuple[Document, Admits], ...] = (
    ({"toolsets": ["mcp-kiwi"]}, lambda server, _: server == "kiwi"),
    ({"toolsets": ["MCP-Kiwi_Plum"]}, lambda server, _: server == "kiwi_plum"),
    (
        {"toolsets": ["mcp-*"], "disabled_toolsets": ["mcp-kiwi*"]},
        lambda server, _: server == "lime",
    ),
    ({"allow": ["mcp_kiwi_*"]}, lambda server, _: server == "kiwi"),
    ({"allow": ["mcp_kiwi_plum_*"]}, lambda server, _: server == "kiwi_plum"),
    ({"allow": ["mcp_kiwi.fig_*"]}, lambda server, _: server == "Kiwi.Fig"),
    (
        {"allow": ["mcp_KIWI_plum_find"]},
        lambda server, name: (server, name) == ("kiwi_plum", "find"),
    ),
    ({"allow": ["*WIPE*"]}, lambda _, name: _wipes(name)),
    ({"allow": ["mcp_*_find"]}, lambda _, name: name.casefold().endswith("find")),
    ({"deny": ["mcp_kiwi_*"]}, lambda server, _: server != "kiwi"),
    ({"deny": ["mcp_kiwi_plum_*", "*wipe*"]}, lambda s, n: s != "kiwi_plum" and not _wipes(n)),
    ({"deny": ["*kiwi*"]}, lambda server, _: server == "lime"),
    (
        {"toolsets": ["mcp-kiwi", "mcp-lime"], "allow": ["*find*"], "deny": ["mcp_lime_find"]},
        lambda s, n: s in ("kiwi", "lime") and "find" in n and (s, n) != ("lime", "find"),
    ),
    (
        {"allow": ["mcp_lime_*", "mcp_kiwi_find*"], "deny": ["*WIPE*"]},
        lambda s, n: not _wipes(n) and (s == "lime" or (s == "kiwi" and n.startswith("find"))),
    ),
    ({"toolsets": []}, NONE),
    ({"deny": ["*"]}, NONE),
    ({}, lambda _, __: True),
)
"""Scopes as a file has them, and what they mean."""


@dataclass
class Orchard:
    """The servers as they are now."""

    folder: Path
    stocks: dict[str, tuple[str, ...]]

    def entries(self) -> dict[str, Document]:
        """For the configuration."""
        return {name: shelf(self._file(name)) for name in self.stocks}

    def restock(self, server: str, stock: tuple[str, ...], *, update: int = 0) -> None:
        """Let a server list other tools, and say that its resources changed."""
        self.stocks[server] = stock
        marker = MARKERS[server]
        goods(
            self._file(server),
            *(tool(name, f"Find and wipe things {self.mark(server, name)}") for name in stock),
            instructions=f"Find and wipe with {marker}.",
            prompts=[
                {"name": name, "description": self.mark(server, name), "count": update}
                for name in ITEMS
            ],
            resources=[
                {"uri": f"{marker}://{name}", "name": name, "count": update} for name in ITEMS
            ],
            resourceTemplates=[{"uriTemplate": f"{marker}://more/{{n}}", "name": "find_more"}],
            updated=[f"{marker}://{name}" for name in ITEMS] if update else [],
            count=update,
        )

    def _file(self, server: str) -> Path:
        return self.folder / f"{MARKERS[server]}.json"

    @staticmethod
    def mark(server: str, name: str) -> str:
        """The word of one tool, prompt or resource."""
        return f"{MARKERS[server]}-{name}"

    def admitted(self, admits: Admits) -> frozenset[str]:
        """The servers that a scope shows."""
        return frozenset(
            server
            for server, stock in self.stocks.items()
            if any(admits(server, name) for name in stock)
            or (not stock and _is_whole(admits, server))
        )

    def traces(self, admits: Admits, text: str) -> set[str]:
        """What is in a text and must not be, for a principal of that scope."""
        shown = self.admitted(admits)
        found = {
            server
            for server in self.stocks.keys() - shown
            if MARKERS[server] in text or re.search(_alone(server), text)
        }
        visible = {
            _full_name(server, name)
            for server in shown
            for name in (*NAMES, *ITEMS)
            if admits(server, name)
        }
        for server in self.stocks:
            for name in NAMES:
                is_shown = server in shown and admits(server, name)
                if not is_shown and _has_item(text, server, name, visible):
                    found.add(f"{server} {name}")
        return found

    def items(self, admits: Admits) -> list[tuple[str, str]]:
        """The prompts of a scope, and the resources: the server and the name of each."""
        shown = self.admitted(admits)
        return [
            (server, name)
            for server in self.stocks
            for name in ITEMS
            if server in shown and admits(server, name)
        ]

    def tools(self, admits: Admits) -> list[tuple[str, str]]:
        """The tools of a scope."""
        return [
            (server, name)
            for server, stock in self.stocks.items()
            for name in stock
            if admits(server, name)
        ]


def clean(name: str) -> str:
    """A name as providers accept it."""
    return re.sub(r"[^\w-]", "_", name)


def _full_name(server: str, name: str) -> str:
    return clean(f"mcp_{server}_{name}").casefold()


def _has_item(text: str, server: str, name: str, visible: set[str]) -> bool:
    """Whether a text tells of one tool, prompt or resource: by its mark, address or full name."""
    own = (Orchard.mark(server, name), f"{MARKERS[server]}://{name}")
    full = _full_name(server, name)
    return any(re.search(_alone(each), text) for each in own) or (
        full not in visible and re.search(rf"(?i){re.escape(full)}(?!\w)", text) is not None
    )


def _is_whole(admits: Admits, server: str) -> bool:
    """Whether a scope admits a server that has no tools: as a whole, up to some denied names."""
    return admits(server, "anything at all")


def _alone(name: str) -> str:
    """The name where it is not a part of another one; a toolset's begins with `mcp-`."""
    return rf"(?i)(?<![\w.])(mcp-)?(?<![\w.]){re.escape(name)}(?![\w.-]*\w)"


def planted(folder: Path) -> Orchard:
    """An orchard with every server in it."""
    orchard = Orchard(folder, {})
    for server, stock in zip(MARKERS, STOCKS, strict=True):
        orchard.restock(server, stock)
    return orchard


def probes(orchard: Orchard) -> Iterable[str]:
    """Names under which somebody might try to call what is hidden."""
    for server, stock in orchard.stocks.items():
        for name in (*stock, "find"):
            yield from (f"mcp_{server}_{name}", f"{server}.{name}", name)
