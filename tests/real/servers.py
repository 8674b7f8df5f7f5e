"""Real servers which nobody here wrote: how each is started, on files of its own."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.real.install import EXAMPLE
from tooldrawer.upstream.spec import UpstreamSpec

INSTALLED = Path(__file__).parents[2] / ".servers"
MODULES = INSTALLED / "npm" / "node_modules"
MCP1, MCP2 = INSTALLED / "mcp1" / "bin", INSTALLED / "mcp2" / "bin"
CONFORMANCE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
OLDEST_NODE = 22
"""The conformance suite, and a package under the servers, ask for it."""
SPEAKS: Mapping[str, str] = MappingProxyType(
    {
        "everything": "2025-11-25",
        "filesystem": "2025-11-25",
        "memory": "2025-11-25",
        "gitlab": "2024-11-05",
        "git": "2026-07-28",
        "time": "2026-07-28",
        "sqlite": "2025-11-25",
    }
)
"""Every server, and the newest protocol that it knows."""
_ON_NODE = frozenset({"everything", "filesystem", "memory", "gitlab"})


@cache
def node() -> str:
    """A Node that is new enough: the one that was installed here, else the machine's; else ''."""
    for found in (MODULES / ".bin" / "node", shutil.which("node")):
        if found is not None and _major(str(found)) >= OLDEST_NODE:
            return str(found)
    return ""


def _major(program: str) -> int:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):  # not there, or for another C library
        return 0
    return int(said.stdout.lstrip("v").split(".", 1)[0])


def missing(name: str) -> str:
    """Why a server, `conformance` or the client `mcp1` cannot be run here; '' when it can."""
    if not INSTALLED.is_dir():
        return "the servers are not installed: run `make servers`"
    if name in _ON_NODE or name == "conformance":
        if not MODULES.is_dir():
            return "what runs on Node is not installed: there was no npm for `make servers`"
        if not node():
            return f"there is no Node {OLDEST_NODE} that runs on this machine"
    if name == "git" and shutil.which("git") is None:
        return "there is no git on this machine"
    return ""


def needs(name: str) -> pytest.MarkDecorator:
    """Skip a test, with the reason, where `name` cannot be run."""
    reason = missing(name)
    return pytest.mark.skipif(bool(reason), reason=reason)


def upstreams(folder: Path) -> dict[str, UpstreamSpec]:
    """Every server that can be run here, each on files of its own below `folder`."""
    return {name: make(folder) for name, make in _MAKERS.items() if not missing(name)}


def _on_node(name: str, *args: str, **env: str) -> UpstreamSpec:
    script = MODULES / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    return UpstreamSpec(name=name, command=node(), args=(str(script), *args), env=env)


def _everything(_: Path) -> UpstreamSpec:
    return _on_node("everything")


def _filesystem(folder: Path) -> UpstreamSpec:
    """Serves two files."""
    files = folder / "files"
    files.mkdir()
    (files / "apples.txt").write_text("twelve apples\n", encoding="utf-8")
    (files / "pears.txt").write_text("three pears\n", encoding="utf-8")
    return _on_node("filesystem", str(files))


def _memory(folder: Path) -> UpstreamSpec:
    return _on_node("memory", MEMORY_FILE_PATH=str(folder / "memory.jsonl"))


def _gitlab(_: Path) -> UpstreamSpec:
    """Lists tools whose schemas MCP does not allow; nobody answers at its GitLab."""
    nobody = "http://127.0.0.1:9/api/v4"
    return _on_node("gitlab", GITLAB_API_URL=nobody, GITLAB_PERSONAL_ACCESS_TOKEN="none")


def _git(folder: Path) -> UpstreamSpec:
    """Serves a repository with one commit and one new file."""
    repository = folder / "repository"
    me = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    git = ("git", "-C", str(repository), *me)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True, env=env)
    commit = [*git, "commit", "--quiet", "--allow-empty", "-m", "begin"]
    subprocess.run(commit, check=True, env=env)
    (repository / "plums.txt").write_text("nine plums\n", encoding="utf-8")
    return UpstreamSpec(name="git", command=str(MCP2 / "mcp-server-git"))


def _time(_: Path) -> UpstreamSpec:
    zone = ("--local-timezone", "Europe/Oslo")
    return UpstreamSpec(name="time", command=str(MCP2 / "mcp-server-time"), args=zone)


def _sqlite(folder: Path) -> UpstreamSpec:
    database = ("--db-path", str(folder / "fruit.db"))
    return UpstreamSpec(name="sqlite", command=str(MCP1 / "mcp-server-sqlite"), args=database)


_MAKERS: Mapping[str, Callable[[Path], UpstreamSpec]] = MappingProxyType(
    {
        "everything": _everything,
        "filesystem": _filesystem,
        "memory": _memory,
        "gitlab": _gitlab,
        "git": _git,
        "time": _time,
        "sqlite": _sqlite,
    }
)


def example(port: int) -> tuple[list[str], dict[str, str]]:
    """The command and environment of the server that the SDK keeps for the conformance suite."""
    command = [str(MCP2 / "python"), "-m", EXAMPLE, "--port", str(port)]
    return command, {"PYTHONPATH": str(INSTALLED / "example")}
