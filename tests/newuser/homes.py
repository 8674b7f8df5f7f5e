"""Homes of people who use an agent, and how that agent starts the servers in its list.

How each agent reads its file is written here once more, on its own: `connect` must not be tested
with its own idea of it.
"""

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

SERVER = Path(__file__).with_name("notes_server.py")
LITERAL = "k9-litera1-secret-77aa"
"""A secret that is only in the client's own file."""
EXPORTED = "k9-exp0rted-secret-88bb"
"""A secret that is in the terminal's environment, as EXPORTED_TOKEN."""
DESKTOP = ("HOME", "PATH", "USER", "LANG", "SHELL", "TERM", "LOGNAME")
CODEX = (*DESKTOP, "LC_ALL", "TMPDIR", "TZ")
GEMINI_REMOVES = re.compile("TOKEN|SECRET|PASSWORD|KEY|AUTH|CREDENTIAL|PRIVATE|CERT", re.IGNORECASE)
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A command with exactly the environment that it gets."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One client: its file, a reference to a variable in its words, and how it starts a server."""

    name: str
    file: str
    """In the home folder."""
    key: str
    reference: str | None
    """None: it fills nothing in."""
    start: Callable[[Entry, Mapping[str, str]], Start]

    def entries(self, home: Path) -> dict[str, Entry]:
        """The list in its file."""
        text = (home / self.file).read_text(encoding="utf-8")
        value = tomllib.loads(text) if self.file.endswith(".toml") else json.loads(text)
        return value[self.key]

    def move_in(self, home: Path, sign_in: str) -> bytes:
        """Write its file; what is in it."""
        servers = {name: self._written(entry) for name, entry in self._servers(sign_in).items()}
        path = home / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.file.endswith(".toml"):
            text = "# mine\n" + "".join(_toml(self.key, *item) for item in servers.items())
        else:
            text = json.dumps({"theme": "dark", self.key: servers}, indent=3) + "\n"
        path.write_text(text, encoding="utf-8")
        return path.read_bytes()

    def _servers(self, sign_in: str) -> dict[str, Entry]:
        def notes(*arguments: str, env: Mapping[str, str]) -> Entry:
            args = [str(SERVER), "--needs", *arguments]
            return {"command": sys.executable, "args": args, "env": env}

        found: dict[str, Entry] = {
            "literal": notes("NOTES_TOKEN", LITERAL[-4:], env={"NOTES_TOKEN": LITERAL}),
            "dead": {"command": "no-such-command-anywhere", "args": []},
            "signin": {"url": sign_in},
        }
        if self.reference:
            for name, variable in (("exported", "EXPORTED_TOKEN"), ("unset", "UNSET_TOKEN")):
                env = {"NOTES_TOKEN": self.reference % variable}
                found[name] = notes("NOTES_TOKEN", EXPORTED[-4:], env=env)
        return found

    def _written(self, entry: Entry) -> Entry:
        if self.name == "opencode" and "url" not in entry:
            command = [entry["command"], *entry["args"]]
            return {"type": "local", "command": command, "environment": entry.get("env", {})}
        if self.name == "opencode":
            return {"type": "remote", "url": entry["url"]}
        if self.name == "gemini" and "url" in entry:
            return {"httpUrl": entry["url"]}
        if self.name == "codex" and "$" in str(entry.get("env", "")):
            variable = entry["env"]["NOTES_TOKEN"].removeprefix("$")
            args = [variable if text == "NOTES_TOKEN" else text for text in entry["args"]]
            return {"command": entry["command"], "args": args, "env_vars": [variable]}
        return entry


def _toml(key: str, name: str, entry: Entry) -> str:
    lines = [f"\n[{key}.{name}]"]
    for field, value in entry.items():
        if isinstance(value, dict):
            items = cast("dict[str, str]", value).items()
            pairs = ", ".join(f"{one} = {json.dumps(text)}" for one, text in items)
            lines.append(f"{field} = {{ {pairs} }}")
        else:
            lines.append(f"{field} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def _filled(env: Mapping[str, str], pattern: str, own: Mapping[str, str]) -> dict[str, str]:
    return {
        name: re.sub(pattern, lambda place: own.get(place[1], ""), text)
        for name, text in env.items()
    }


def _everything(entry: Entry, own: Mapping[str, str]) -> Start:
    env = _filled(entry.get("env", {}), r"\$\{(\w+)\}", own)
    return Start(command=entry["command"], args=tuple(entry["args"]), env={**own, **env})


def _opencode(entry: Entry, own: Mapping[str, str]) -> Start:
    command, *args = entry["command"]
    env = _filled(entry.get("environment", {}), r"\{env:(\w+)\}", own)
    return Start(command=command, args=tuple(args), env={**own, **env})


def _editor(entry: Entry, own: Mapping[str, str]) -> Start:
    kept = {name: own[name] for name in DESKTOP if name in own}
    env = _filled(entry.get("env", {}), r"\$\{env:(\w+)\}", own)
    return Start(command=entry["command"], args=tuple(entry["args"]), env={**kept, **env})


def _desktop(entry: Entry, own: Mapping[str, str]) -> Start:
    kept = {name: own[name] for name in DESKTOP if name in own}
    env = {**kept, **entry.get("env", {})}
    return Start(command=entry["command"], args=tuple(entry["args"]), env=env)


def _gemini(entry: Entry, own: Mapping[str, str]) -> Start:
    kept = {name: text for name, text in own.items() if not GEMINI_REMOVES.search(name)}
    env = _filled(entry.get("env", {}), r"\$(\w+)", own)
    return Start(command=entry["command"], args=tuple(entry["args"]), env={**kept, **env})


def _codex(entry: Entry, own: Mapping[str, str]) -> Start:
    names = (*CODEX, *entry.get("env_vars", ()))
    kept = {name: own[name] for name in names if name in own}
    env = {**kept, **entry.get("env", {})}
    return Start(command=entry["command"], args=tuple(entry["args"]), env=env)


_DESKTOP_FILE = "Claude/claude_desktop_config.json"
_CODE_FILE = "Code/User/mcp.json"
_SETTINGS = "Library/Application Support" if sys.platform == "darwin" else ".config"
AGENTS = (
    Agent(
        name="claude-code",
        file=".claude.json",
        key="mcpServers",
        reference="${%s}",
        start=_everything,
    ),
    Agent(
        name="codex",
        file=".codex/config.toml",
        key="mcp_servers",
        reference="$%s",
        start=_codex,
    ),
    Agent(
        name="cursor",
        file=".cursor/mcp.json",
        key="mcpServers",
        reference="${env:%s}",
        start=_editor,
    ),
    Agent(
        name="vscode",
        file=f"{_SETTINGS}/{_CODE_FILE}",
        key="servers",
        reference="${env:%s}",
        start=_editor,
    ),
    Agent(
        name="gemini",
        file=".gemini/settings.json",
        key="mcpServers",
        reference="$%s",
        start=_gemini,
    ),
    Agent(
        name="opencode",
        file=".config/opencode/opencode.json",
        key="mcp",
        reference="{env:%s}",
        start=_opencode,
    ),
    Agent(
        name="claude-desktop",
        file=f"{_SETTINGS}/{_DESKTOP_FILE}",
        key="mcpServers",
        reference=None,
        start=_desktop,
    ),
)


def terminal(home: Path) -> dict[str, str]:
    """The environment of a person's terminal."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "USER": "person",
        "LANG": "C.UTF-8",
        "EXPORTED_TOKEN": EXPORTED,
    }
