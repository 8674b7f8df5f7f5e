"""Neither the package nor a dependency contacts anyone, or leaves an identity, on its own.

Observed from outside with strace, because libraries written in C++ are invisible to Python's audit
hooks. On Debian: `apt-get install strace`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from tests.packaging.python import CHECKOUT
from tests.requirements import requirement

_OBSERVED_S = 13.0
"""onnxruntime 1.31 contacts its collector nine seconds after it was loaded."""
_SYSCALLS = "trace=%network,open,openat"
_ATTEMPT = re.compile(r"AF_INET|AF_NETLINK|/nscd/|resolv\.conf|/etc/hosts")
_NAMESPACES = (["unshare", "--net"], ["unshare", "--net", "--map-root-user"])

LIBRARY = """
import sys
from tests.search.town import TOWN
from tooldrawer import SearchEngine

engine = SearchEngine()
assert engine.prepare(TOWN).has_meaning
print(engine.search(TOWN, "renew a loan")[0].tool.name, flush=True)
sys.stdin.read()
"""
GATEWAY = ["-m", "tooldrawer", "serve", "--demo"]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
SEARCH = {"name": "tool_search", "arguments": {"query": "convert miles into kilometres"}}
ASKED = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": SEARCH},
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A Python program with a home of its own, whose system calls are written into a file."""

    process: "subprocess.Popen[str]"
    home: Path
    trace: Path

    @property
    def streams(self) -> tuple[IO[str], IO[str]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout

    @property
    def attempts(self) -> list[str]:
        lines = self.trace.read_text("utf-8", "replace").splitlines()
        return [line for line in lines if _ATTEMPT.search(line)]

    @property
    def files(self) -> set[str]:
        """What the home has beside our own files."""
        every = (path for path in self.home.rglob("*") if path.is_file())
        return {str(path.relative_to(self.home)) for path in every if "tooldrawer" not in str(path)}


@contextmanager
def observed(folder: Path, arguments: list[str]) -> "Generator[Observed]":
    """Runs until it is left, or ends by itself."""
    home, trace = folder / "home", folder / "trace"
    home.mkdir(parents=True)
    # No CI variable either: onnxruntime switches its telemetry off by itself where there is one.
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT)}
    observer = ["strace", "-f", "-qq", "-e", _SYSCALLS, "-o", str(trace), *namespace()]
    process = subprocess.Popen(
        [*observer, sys.executable, *arguments],
        cwd=home,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield Observed(process=process, home=home, trace=trace)
    finally:
        process.kill()
        process.communicate()


def namespace() -> list[str]:
    """What starts a program without any network; nothing where that is not permitted."""
    for command in _NAMESPACES:
        if shutil.which(command[0]) and not subprocess.call(
            [*command, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ):
            return command
    return []


def observation_is_possible() -> bool:
    if not shutil.which("strace"):
        return False
    return not subprocess.call(["strace", "-qq", "-o", os.devnull, "true"])


@requirement("TRUST-4")
@pytest.mark.skipif(not observation_is_possible(), reason="strace is missing or not permitted")
def test_a_search_resolves_nothing_contacts_nobody_and_leaves_no_identity(tmp_path: Path) -> None:
    with (
        observed(tmp_path / "library", ["-c", LIBRARY]) as library,
        observed(tmp_path / "gateway", GATEWAY) as gateway,
    ):
        search_with(library, gateway)
        time.sleep(_OBSERVED_S)  # nothing happens that could be waited for
        for one in (library, gateway):
            _, complaints = one.process.communicate()
            assert one.process.returncode == 0, complaints
            assert one.attempts == []
            assert one.files == set()
            assert list(one.home.rglob("vectors.sqlite3"))


def search_with(library: Observed, gateway: Observed) -> None:
    asking, answers = gateway.streams
    asking.writelines(json.dumps(message) + "\n" for message in ASKED)
    asking.flush()
    assert library.streams[1].readline().strip() == "mcp_library_renew_loan"
    assert "matches" in [answers.readline(), answers.readline()][1]
