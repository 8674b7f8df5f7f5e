"""The shell commands of the documents, and how each of them is run in a prepared home."""

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.agent.pipes import piped
from tests.cli.gateways import gateway, request, user
from tests.cli.shell import Ran, Shell
from tests.models.script import Say
from tests.models.server import scripted
from tooldrawer import Grants

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SERVER = {"command": sys.executable, "args": [str(ROOT / "tests/newuser/notes_server.py")]}
"""A server on the standard library alone: the SDK takes longer to import than most commands."""
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "reader", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The commands of one code block, in order."""

    document: str
    commands: tuple[str, ...]


def list_blocks() -> list[Block]:
    """Find every code block that contains a command."""
    found: list[Block] = []
    for document in DOCUMENTS:
        for language, text in _BLOCK.findall(document.read_text(encoding="utf-8")):
            if language not in ("", "sh"):
                continue
            commands = tuple(
                line for line in text.splitlines() if re.match(r"(export|make|tooldrawer)\b", line)
            )
            if commands:
                found.append(Block(document=document.name, commands=commands))
    return found


def prepare_home(folder: Path) -> Shell:
    """Give a new user two clients with one server, and a configuration with one scope."""
    # A runtime folder of its own: `status` and `watch` must not find gateways of other tests.
    shell = user(Shell(folder))
    servers = json.dumps({"mcpServers": {"github": _SERVER}})
    shell.write("home/.claude.json", servers)
    shell.write("home/.cursor/mcp.json", servers)
    shell.write(
        "home/tooldrawer/tooldrawer.yaml",
        f"mcp_servers: {{github: {json.dumps(_SERVER)}}}\n"
        "scopes: {triage: {toolsets: [mcp-github]}}\n",
    )
    return shell


def run_line(shell: Shell, line: str) -> None:
    """Run one documented line and check that it does what a reader expects."""
    for part in re.sub(r"\s#.*$", "", line).split(";"):
        words = shlex.split(part)
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            shell = shell.with_variables(**{name: value})
        elif words[0] == "make":
            subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, check=True)
        else:
            assert words[0] == "tooldrawer"
            _run_command(shell, words[1], words[1:])


def _run_command(shell: Shell, name: str, words: Sequence[str]) -> None:
    match name:
        case "chat" | "run":
            _run_agent(shell, words)
        case "serve":
            _serve(shell, words)
        case "watch":
            _watch_gateway(shell)
        case "status":
            _show_status(shell, words)
        case "approve" | "deny":
            _approve(shell, words)
        case "connect" if "--http" in words:
            with serve_http(shell) as address:
                _run_to_end(shell, [re.sub(r"^http://.*", address, word) for word in words])
        case "trust":
            _trust_folder(shell, words)
        case _:
            _run_to_end(shell, words)


def _serve(shell: Shell, words: Sequence[str]) -> None:
    if "--http" not in words:
        _serve_stdio(shell, words)
        return
    with serve_http(shell, *words):
        pass


def _watch_gateway(shell: Shell) -> None:
    with serve_http(shell), shell.started("watch") as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Watching the gateway ")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def _show_status(shell: Shell, words: Sequence[str]) -> None:
    with serve_http(shell):
        assert "github" in _run_to_end(shell, words).out


def _trust_folder(shell: Shell, words: Sequence[str]) -> None:
    shell.write("tooldrawer.yaml", "hooks: ['acme:audit']\n", trusted=False)
    ran = shell.asked(*words, answers=["y"] if list(words) == ["trust"] else [])
    assert ran.code == 0, ran.err


def _approve(shell: Shell, words: Sequence[str]) -> None:
    if {"--list", "--revoke"} & set(words):
        _list_or_revoke_grant(shell, words)
    else:
        _answer_approval(shell, words)


def _answer_approval(shell: Shell, words: Sequence[str]) -> None:
    """Answer a waiting call at a terminal, with its id in place of the documented one."""
    with gateway(shell) as running:
        waiting = running.ask({"title": "milk"})
        given = [waiting.id if re.fullmatch(r"[a-z]\d[a-z]\d", word) else word for word in words]
        ran = shell.at_terminal(*given)
    assert ran.code == 0, ran.err
    assert "desk_burn" in ran.out


def _list_or_revoke_grant(shell: Shell, words: Sequence[str]) -> None:
    """Show a grant or take it back, with its id in place of the documented one."""
    grants = Grants(shell.folder / "data" / "tooldrawer" / "grants.json")
    grants.add(request({}).tool)
    ((grant, tool),) = grants.entries()
    given = [grant.id if re.fullmatch(r"[0-9a-f]{8}", word) else word for word in words]
    assert tool in _run_to_end(shell, given).out
    assert bool(grants.entries()) == ("--list" in words)


def _run_to_end(shell: Shell, words: Sequence[str]) -> Ran:
    ran = shell.run(*words)
    assert ran.code == 0, f"tooldrawer {shlex.join(words)}: {ran.out}{ran.err}"
    return ran


def _run_agent(shell: Shell, words: Sequence[str]) -> None:
    """Run the agent with a scripted model in place of the provider."""
    with scripted(Say("Hello, reader.")) as server:
        providers = {
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_API_KEY": "key",
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "TOOLDRAWER_MODEL": "claude-sonnet-4-5",
        }
        shell = shell.with_variables(**providers)
        local = [re.sub(r"^http://localhost:\d+", server.url, word) for word in words]
        lines = ["hello"] if words[0] == "chat" else []
        ran = piped(shell, *local, lines=lines)
    assert ran.code == 0, ran.err
    assert "Hello, reader." in ran.out


@contextmanager
def serve_http(shell: Shell, *words: str) -> "Generator[str]":
    """Start a gateway on a free port; yield its address."""
    given = [word for word in words[1:] if not word.isdecimal() and word != "--port"]
    given = given or ["--http"]
    with shell.started("serve", *given, "--port", "0") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://" in line, f"{line}{process.stderr and process.stderr.read()}"
        yield line.split()[-1]
        process.send_signal(signal.SIGTERM)
        process.wait()


def _serve_stdio(shell: Shell, words: Sequence[str]) -> None:
    ran = piped(shell, *words, lines=[json.dumps(_INITIALIZE)])
    assert ran.code == 0, ran.err
    assert json.loads(ran.out.splitlines()[0])["result"]["serverInfo"]["name"] == "tooldrawer"
