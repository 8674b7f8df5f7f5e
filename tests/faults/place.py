"""Where one test happens: its servers, its settings, its folders."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from tests.faults.processes import MARK, marked
from tooldrawer.tool import Json, JsonObject

ROOT = Path(__file__).parents[2]


@dataclass
class Place:
    """A configuration of the gateway, and a mark for every process that comes of it."""

    folder: Path
    mark: str
    servers: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    settings: dict[str, Json] = field(default_factory=dict[str, Json])

    def plain(self, name: str, *options: str, **entry: Json) -> None:
        """Configure a server of tests/upstream/servers/plain.py."""
        self.program(name, "-m", "tests.upstream.servers.plain", *options, **entry)

    def rude(self, name: str, **entry: Json) -> None:
        """Configure a server of tests/faults/rude.py."""
        self.program(name, "-m", "tests.faults.rude", **entry)

    def program(self, name: str, *args: str, **entry: Json) -> None:
        """Configure a server that is a Python program; `-S` halves the time that it needs."""
        self.add(name, command=sys.executable, args=["-S", *args], cwd=str(ROOT), **entry)

    def add(self, name: str, **entry: Json) -> None:
        """Configure any server."""
        marked: JsonObject = {"env": {MARK: self.mark}} if "command" in entry else {}
        self.servers[name] = {**entry, **marked}

    @property
    def config(self) -> Path:
        """The gateway's file."""
        return self.folder / "tooldrawer.yaml"

    @property
    def runtime(self) -> Path:
        """Where its control socket is found."""
        return self.folder / "run"

    @property
    def complaints(self) -> str:
        """What the gateway wrote to stderr."""
        return (self.folder / "stderr").read_text(encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """Nothing that a gateway keeps goes to the user's own folders."""
        kinds = ("CACHE", "DATA", "CONFIG", "STATE")
        places = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in kinds}
        own = {"TOOLDRAWER_RUNTIME_DIR": str(self.runtime), MARK: self.mark}
        return {**os.environ, **places, **own}

    def write(self) -> None:
        """Put the configuration where the gateway reads it, in one step."""
        document: dict[str, Json] = {
            "tools": {"tool_search": {"enabled": "on", "search": "lexical"}},
            "gateway": {"first_search_wait": 0, "port": 0},
            "mcp_servers": cast("JsonObject", self.servers),
            **self.settings,
        }
        self.replace(json.dumps(document))

    def replace(self, text: str) -> None:
        """Put any text there."""
        draft = self.config.with_suffix(".new")
        draft.write_text(text, encoding="utf-8")
        draft.replace(self.config)

    def left(self) -> list[str]:
        """The processes of this test that run."""
        return marked(self.mark)
