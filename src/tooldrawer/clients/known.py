"""The clients that are known, and where each keeps its list of servers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rapidfuzz import fuzz, process

from tooldrawer.clients import dialect, inheritance
from tooldrawer.clients.dialect import Dialect
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.inheritance import Inheritance
from tooldrawer.errors import ConfigError

Where = Literal["user", "project", "local"]
Keys = tuple[str, ...]
EVERY = "*"
"""In `Keys`: every project. When something is written, it is the one here."""
_NEAR_ENOUGH = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file of a client, and the lists in it."""

    where: Where
    files: Callable[[Folders], tuple[Path, ...]]
    """The file under its several names; the first one is made when there is none."""
    lists: tuple[Keys, ...] = (("mcpServers",),)
    """The first one is made when there is none."""

    def file(self, folders: Folders) -> Path:
        """The file that is there, or that would be made."""
        files = self.files(folders)
        return next((file for file in files if file.is_file()), files[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that uses MCP servers."""

    name: str
    title: str
    places: tuple[Place, ...]
    dialect: Dialect
    inheritance: Inheritance
    """What of its own environment a server gets that it starts."""
    has_http: bool = True
    """Whether its list can have an address."""

    def place(self, where: str | None) -> Place:
        """The place of that kind, the user's own by default.

        Raises:
            ConfigError: It has no such place.
        """
        for place in self.places:
            if where in (None, place.where):
                return place
        known = ", ".join(place.where for place in self.places)
        raise ConfigError(f"{self.title} has no place {where!r}; it has: {known}.")


CLIENTS = (
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        places=(
            Place(
                where="user",
                files=lambda at: (at.settings / "Claude" / "claude_desktop_config.json",),
            ),
        ),
        dialect=dialect.CLAUDE_DESKTOP,
        inheritance=inheritance.desktop,
        has_http=False,
    ),
    Client(
        name="claude-code",
        title="Claude Code",
        places=(
            Place(where="user", files=lambda at: (at.claude / ".claude.json",)),
            Place(
                where="local",
                files=lambda at: (at.claude / ".claude.json",),
                lists=(("projects", EVERY, "mcpServers"),),
            ),
            Place(where="project", files=lambda at: (at.here / ".mcp.json",)),
        ),
        dialect=dialect.CLAUDE_CODE,
        inheritance=inheritance.everything,
    ),
    Client(
        name="cursor",
        title="Cursor",
        places=(
            Place(where="user", files=lambda at: (at.home / ".cursor" / "mcp.json",)),
            Place(where="project", files=lambda at: (at.here / ".cursor" / "mcp.json",)),
        ),
        dialect=dialect.CURSOR,
        inheritance=inheritance.desktop,
    ),
    Client(
        name="vscode",
        title="VS Code",
        places=(
            Place(
                where="user",
                files=lambda at: (
                    at.settings / "Code" / "User" / "mcp.json",
                    at.settings / "Code - Insiders" / "User" / "mcp.json",
                ),
                lists=(("servers",),),
            ),
            Place(
                where="project",
                files=lambda at: (at.here / ".vscode" / "mcp.json",),
                lists=(("servers",),),
            ),
        ),
        dialect=dialect.COMMON,
        inheritance=inheritance.desktop,
    ),
    Client(
        name="codex",
        title="Codex",
        places=(
            Place(
                where="user",
                files=lambda at: (at.codex / "config.toml",),
                lists=(("mcp_servers",),),
            ),
            Place(
                where="project",
                files=lambda at: (at.here / ".codex" / "config.toml",),
                lists=(("mcp_servers",),),
            ),
        ),
        dialect=dialect.CODEX,
        inheritance=inheritance.codex,
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        places=(
            Place(where="user", files=lambda at: (at.home / ".gemini" / "settings.json",)),
            Place(where="project", files=lambda at: (at.here / ".gemini" / "settings.json",)),
        ),
        dialect=dialect.GEMINI,
        inheritance=inheritance.gemini,
    ),
    Client(
        name="opencode",
        title="opencode",
        places=(
            Place(
                where="user",
                files=lambda at: _opencode_files(at.xdg / "opencode"),
                # The second is version 2's; it still reads the first.
                lists=(("mcp",), ("mcp", "servers")),
            ),
            Place(
                where="project",
                files=lambda at: (
                    *_opencode_files(at.here),
                    *_opencode_files(at.here / ".opencode"),
                ),
                lists=(("mcp",), ("mcp", "servers")),
            ),
        ),
        dialect=dialect.OPENCODE,
        inheritance=inheritance.everything,
    ),
)
_OTHER_NAMES = {
    "claude": "claude-code",
    "claude-desktop-app": "claude-desktop",
    "code": "vscode",
    "vs-code": "vscode",
    "gemini-cli": "gemini",
}


def client_named(name: str) -> Client:
    """The client of that name.

    Raises:
        ConfigError: None is called so; it names those that are known.
    """
    asked = name.strip().lower().replace(" ", "-").replace("_", "-")
    asked = _OTHER_NAMES.get(asked, asked)
    for client in CLIENTS:
        if client.name == asked:
            return client
    names = [client.name for client in CLIENTS]
    best = process.extractOne(asked, names, scorer=fuzz.ratio, score_cutoff=_NEAR_ENOUGH)
    hint = f" Did you mean {best[0]}?" if best else ""
    raise ConfigError(f"No client is called {name!r}; known are {', '.join(names)}.{hint}")


def _opencode_files(folder: Path) -> tuple[Path, ...]:
    return folder / "opencode.json", folder / "opencode.jsonc"
