"""Fresh processes of each interface, with nothing on disk, and what they answer and leave there."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import httpx2

from tests.cli.agent.agents import at
from tests.cold.requests import REQUESTS, Asked
from tests.cold.tools import CONFIG
from tests.gateway.wire import stateless, to_line
from tests.models.script import Call, Say, Turn
from tests.models.server import scripted
from tests.packaging.python import CHECKOUT

_TIMEOUT_S = 300.0
_SERVE = ("tests.cold.command", "serve", "--config", "tooldrawer.yaml")
_RUN = ("tests.cold.command", "run", "--config", "tooldrawer.yaml")
Replies = Sequence[str]
Stored = Mapping[str, frozenset[tuple[str, bytes, bytes]]]


@contextmanager
def running(folder: Path, *arguments: str) -> Generator["subprocess.Popen[bytes]"]:
    """Start a module of tests/cold in a new folder; it is over at the end."""
    folder.mkdir(parents=True)
    (folder / "tooldrawer.yaml").write_text(CONFIG, encoding="utf-8")
    kinds = {f"XDG_{kind}_HOME": folder / kind.lower() for kind in ("CONFIG", "DATA", "STATE")}
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(CHECKOUT),
        "HOME": str(folder),
        "TOOLDRAWER_RUNTIME_DIR": str(folder / "run"),
        "XDG_CACHE_HOME": str(folder.parent / "cache"),
        "OPENAI_API_KEY": "key",
        **{name: str(place) for name, place in kinds.items()},
    }
    with (
        (folder / "stderr").open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def ask_library(folder: Path, *, together: bool) -> Replies:
    """Ask a host of the library, all requests in one turn."""
    with running(folder, "tests.cold.library", str(len(REQUESTS) if together else 1)) as process:
        output, _ = process.communicate(timeout=_TIMEOUT_S)
    assert process.returncode == 0, (folder / "stderr").read_text()
    return json.loads(output)


def ask_over_stdio(folder: Path, *, together: bool) -> Replies:
    """Ask a gateway over its pipes."""
    with running(folder, *_SERVE) as process:
        asking, answers = _streams(process)
        replies: dict[int, str] = {}
        for number, asked in enumerate(REQUESTS):
            asking.write(_message(number, asked))
            if not together:
                asking.flush()
                replies |= [_reply(json.loads(answers.readline()))]
        asking.flush()
        while len(replies) < len(REQUESTS):
            replies |= [_reply(json.loads(answers.readline()))]
    return [replies[number] for number in range(len(REQUESTS))]


def ask_over_http(folder: Path, *, together: bool) -> Replies:
    """Ask a gateway over HTTP, each request in a connection of its own."""
    with running(folder, *_SERVE, "--http", "--port", "0") as process:
        _, answers = _streams(process)
        address = answers.readline().decode().split()[-1]

        def ask(number: int) -> str:
            asked = REQUESTS[number]
            headers = {
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": asked[0],
            }
            body = _message(number, asked)
            sent = httpx2.post(address, content=body, headers=headers, timeout=_TIMEOUT_S)
            (data,) = (one for one in _events(sent.text) if "id" in one)
            return _reply(data)[1]

        with ThreadPoolExecutor(len(REQUESTS) if together else 1) as threads:
            return list(threads.map(ask, range(len(REQUESTS))))


def ask_agent(folder: Path, *, together: bool) -> Replies:
    """Have a scripted model ask an agent, in one turn or in as many as there are requests."""
    calls = [Call(name, dict(arguments)) for name, arguments in REQUESTS]
    turns = [Turn(calls=calls)] if together else [Turn(calls=[call]) for call in calls]
    with (
        scripted(*turns, Say("Done.")) as server,
        running(folder, *_RUN, *at(server), "go") as process,
    ):
        output, _ = process.communicate(timeout=_TIMEOUT_S)
        assert (process.returncode, output) == (0, b"Done.\n"), (folder / "stderr").read_text()
        return [result.text for result in server.seen[-1].results]


def stored(cache: Path) -> Stored:
    """Every vector and every list of words in a cache folder, to the last byte."""
    found: dict[str, frozenset[tuple[str, bytes, bytes]]] = {}
    for path in sorted(cache.rglob("*.sqlite3")):
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute("SELECT model, content, vector FROM vectors").fetchall()
        found[path.name] = frozenset(rows)
    return found


def _streams(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _message(number: int, asked: Asked) -> bytes:
    name, arguments = asked
    params = stateless(name=name, arguments=arguments)
    return to_line({"id": number, "method": "tools/call", "params": params})


def _reply(answer: dict[str, Any]) -> tuple[int, str]:
    return answer["id"], answer["result"]["content"][0]["text"]


def _events(text: str) -> Iterator[dict[str, Any]]:
    """The messages of an answer over HTTP: one JSON document, or server-sent events."""
    for line in text.splitlines():
        if line.startswith(("{", "data: {")):
            yield json.loads(line.removeprefix("data: "))
