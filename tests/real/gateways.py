"""The gateway as its users run it: a process, in front of servers."""

import json
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from mcp import StdioServerParameters

from tests.real.programs import listening
from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.spec import UpstreamSpec

_WAIT = 60
"""Seconds for the first search, so that it sees all servers on a busy machine too."""


def configuration(
    folder: Path, upstreams: Iterable[UpstreamSpec], *, template: str = "", mode: str = "bridge"
) -> Path:
    """A file that puts the gateway in front of these servers."""
    tools: dict[str, Json] = {"tool_search": {"enabled": "on"}}
    if template:
        tools["name_template"] = template
    servers: dict[str, Json] = {each.name: _entry(each) for each in upstreams}
    document: JsonObject = {
        "tools": tools,
        "gateway": {"mode": mode, "port": 0, "first_search_wait": _WAIT},
        "mcp_servers": servers,
    }
    path = folder / "tooldrawer.yaml"
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")  # which is YAML too
    return path


def _entry(spec: UpstreamSpec) -> JsonObject:
    if spec.url:
        return {"url": spec.url}
    entry = {"command": spec.command, "args": list(spec.args), "env": dict(spec.env)}
    return cast("JsonObject", entry)


def over_stdio(config: Path) -> StdioServerParameters:
    """How a client starts the gateway."""
    command, *args = _command(config)
    return StdioServerParameters(command=command, args=args, env=_places(config.parent))


@contextmanager
def over_http(config: Path) -> Generator[str]:
    """A running gateway's address for clients."""
    with listening([*_command(config), "--http"], _places(config.parent)) as address:
        yield f"{address}/mcp"


def _command(config: Path) -> list[str]:
    return [sys.executable, "-m", "tooldrawer", "serve", "--config", str(config)]


def _places(folder: Path) -> dict[str, str]:
    """Folders of its own for all that the gateway keeps."""
    kinds = {"CACHE_HOME": "cache", "CONFIG_HOME": "config", "DATA_HOME": "data"}
    places = {f"XDG_{kind}": str(folder / name) for kind, name in kinds.items()}
    runtime = str(folder / "run")
    return {**places, "XDG_STATE_HOME": str(folder / "state"), "TOOLDRAWER_RUNTIME_DIR": runtime}
