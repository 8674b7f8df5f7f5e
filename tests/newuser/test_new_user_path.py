"""A new user's two commands leave a working client: `import --write`, `connect --replace`."""

import json
import stat
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.newuser.homes import AGENTS, EXPORTED, LITERAL, Agent, Start, terminal
from tests.requirements import requirement

HANG_S = 300
"""Seconds until a command that should long be over counts as hanging."""


class Person:
    """Somebody with a home, a folder and a terminal."""

    def __init__(self, folder: Path) -> None:
        self.home, self.here = folder / "home", folder / "project"
        self.home.mkdir()
        self.here.mkdir()
        self.environment = terminal(self.home)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tooldrawer", *arguments],
            cwd=self.here,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=HANG_S,
            check=False,
        )

    @property
    def secrets(self) -> Path:
        found = list(self.home.rglob("secrets.json"))
        assert len(found) == 1
        return found[0]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@pytest.fixture(scope="module")
def sign_in() -> Generator[str]:
    """The address of a server that wants people to sign in."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Bearer resource_metadata="http://x/"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()


def call(start: Start, calls: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """Start a server as a client does, and make calls; the text of each answer."""
    return anyio.run(_call, start, calls)


async def _call(start: Start, calls: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    # The SDK's client adds variables of its own process; `env -i` leaves exactly these.
    variables = [f"{name}={text}" for name, text in start.env.items()]
    parameters = StdioServerParameters(
        command="/usr/bin/env", args=["-i", *variables, start.command, *start.args]
    )
    found: dict[str, str] = {}
    with anyio.fail_after(HANG_S):
        async with Client(parameters, mode="legacy") as client:
            await client.list_tools()
            for name, arguments in calls.items():
                wanted = {"name": f"mcp_{name}_read_note", "arguments": arguments}
                result = await client.call_tool("tool_call", wanted)
                found[name] = "".join(getattr(block, "text", "") for block in result.content)
    return found


@requirement("SET-1")
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_two_commands_leave_a_working_client_and_one_takes_them_back(
    agent: Agent, person: Person, sign_in: str
) -> None:
    before = agent.move_in(person.home, sign_in)
    imported = person.run("import", "--write", "tooldrawer.yaml")
    assert imported.returncode == 0
    connected = person.run("connect", agent.name, "--replace")
    assert connected.returncode == 0, connected.stderr
    assert connected.stdout.count("Waiting for ") <= 1
    said = "".join((imported.stdout, imported.stderr, connected.stdout, connected.stderr))
    yaml = (person.here / "tooldrawer.yaml").read_text(encoding="utf-8")
    for secret in (LITERAL, EXPORTED):
        assert secret not in said + yaml
    assert stat.S_IMODE(person.secrets.stat().st_mode) == 0o600
    assert json.loads(person.secrets.read_text(encoding="utf-8")) == {"NOTES_TOKEN": LITERAL}

    working = ["literal", "exported"] if agent.reference else ["literal"]
    entries = agent.entries(person.home)
    kept = {"dead", "signin", *(["unset"] if agent.reference else [])}
    assert set(entries) == {*kept, "tooldrawer"}
    for name in kept:
        assert f"{name} is down behind the gateway: " in connected.stderr
        assert f"{name} stays in the list of " in connected.stderr

    start = agent.start(entries["tooldrawer"], person.environment)
    answers = call(start, {name: {"person": name} for name in working})
    assert answers == {name: f"a note for {name}" for name in working}

    undone = person.run("connect", agent.name, "--undo")
    assert undone.returncode == 0
    assert (person.home / agent.file).read_bytes() == before
    assert not list((person.home / agent.file).parent.glob("*.tooldrawer-backup"))


@requirement("SET-1")
def test_a_secret_of_one_client_serves_another(person: Person, sign_in: str) -> None:
    by_name = {agent.name: agent for agent in AGENTS}
    by_name["cursor"].move_in(person.home, sign_in)
    person.run("import", "--write", "tooldrawer.yaml")
    assert person.run("connect", "claude-desktop").returncode == 0
    agent = by_name["claude-desktop"]
    start = agent.start(agent.entries(person.home)["tooldrawer"], person.environment)
    assert call(start, {"literal": {"person": "me"}}) == {"literal": "a note for me"}
