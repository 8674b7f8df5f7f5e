"""`tooldrawer connect`, as a person uses it."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.shell import Shell
from tests.requirements import requirement
from tooldrawer.cli.connect_launch import describe_refused_token
from tooldrawer.clients.launch import Launch
from tooldrawer.gateway.tokens import Tokens

pytestmark = requirement("CFG-3")
SECRET = "swordfish-5512"
SERVER = Path(__file__).parents[1] / "newuser" / "notes_server.py"
CLOCK = {"command": sys.executable, "args": [str(SERVER), "--needs", "CLOCK_TOKEN", SECRET[-4:]]}
CURSOR = f"""{{
  // mine
  "mcpServers": {{
    "clock": {json.dumps({**CLOCK, "env": {"CLOCK_TOKEN": SECRET}})},
    "moon": {{"command": "moond"}},
  }},
}}
"""


@pytest.fixture
def desk(shell: Shell) -> Shell:
    """A shell of somebody who uses Cursor, and whose gateway serves the clock."""
    shell.write("home/.cursor/mcp.json", CURSOR)
    clock = {**CLOCK, "env": {"CLOCK_TOKEN": "${CLOCK_TOKEN}"}}
    settings = {"mcp_servers": {"clock": clock}, "scopes": {"night": {"deny": ["*x*"]}}}
    shell.write("tooldrawer.yaml", json.dumps(settings))
    return shell.with_variables(CLOCK_TOKEN=SECRET)


def file_of(shell: Shell) -> Path:
    return shell.folder / "home" / ".cursor" / "mcp.json"


@requirement("CFG-3")
def test_the_change_is_shown_made_and_taken_back(desk: Shell) -> None:
    out = desk.run("connect", "cursor").text
    assert '+    "tooldrawer": {' in out
    assert SECRET not in out
    text = file_of(desk).read_text(encoding="utf-8")
    config = str(desk.folder / "tooldrawer.yaml")
    assert json.dumps(sys.executable) in text
    assert json.dumps(config) in text
    assert "// mine" in text
    (backup,) = file_of(desk).parent.glob("*.tooldrawer-backup")
    assert f"the file from before is {backup}. Take it back with" in out
    assert "`tooldrawer connect cursor --undo`" in out
    again = desk.run("connect", "cursor").text
    assert again == f"{file_of(desk)} is right already; nothing to change.\n"
    assert desk.run("connect", "cursor", "--undo").text.endswith(" is as it was.\n")
    assert file_of(desk).read_text(encoding="utf-8") == CURSOR
    assert "there is nothing to undo" in desk.run("connect", "cursor", "--undo").refusal


def test_what_the_client_changed_meanwhile_is_not_taken_back(desk: Shell) -> None:
    desk.run("connect", "--no-check", "cursor", "--replace")
    text = file_of(desk).read_text(encoding="utf-8").replace("{", '{"theme": "dark",', 1)
    file_of(desk).write_text(text, encoding="utf-8")
    out = desk.run("connect", "cursor", "--undo").text
    assert "was changed by something else too, so only its list of servers was put back" in out
    text = file_of(desk).read_text(encoding="utf-8")
    assert '"theme": "dark"' in text
    assert '"clock": {' in text
    assert "tooldrawer" not in text


def test_a_dry_run_writes_nothing(desk: Shell) -> None:
    out = desk.run("connect", "--no-check", "cursor", "--dry-run").text
    assert '+    "tooldrawer": {' in out
    assert out.endswith("Nothing was written.\n")
    assert [file.name for file in file_of(desk).parent.iterdir()] == ["mcp.json"]
    desk.run("connect", "--no-check", "cursor")
    before = file_of(desk).read_bytes()
    assert desk.run("connect", "cursor", "--undo", "--dry-run").text.endswith("was written.\n")
    assert file_of(desk).read_bytes() == before


def test_servers_that_the_gateway_serves_can_leave_the_clients_list(desk: Shell) -> None:
    out = desk.run("connect", "cursor", "--replace").out
    assert '-    "clock": {"command": ' in out
    assert SECRET not in out
    text = file_of(desk).read_text(encoding="utf-8")
    assert '"clock"' not in text
    assert '"moon"' in text
    desk.run("connect", "cursor", "--undo")
    assert file_of(desk).read_text(encoding="utf-8") == CURSOR


def test_when_nothing_can_be_replaced_the_way_is_told(desk: Shell) -> None:
    ran = desk.run("connect", "--no-check", "gemini", "--replace")
    assert ran.code == 0
    assert "`tooldrawer import --from gemini --write tooldrawer.yaml`" in ran.err


def test_a_list_that_the_gateway_reads_itself_keeps_its_servers(shell: Shell) -> None:
    shell.write(".mcp.json", '{"mcpServers": {"moon": {"command": "moond"}}}')
    said = shell.run("connect", "claude-code", "--place", "project", "--replace").refusal
    assert "where the gateway finds its servers" in said
    moon = {"command": sys.executable, "args": [str(SERVER)]}
    shell.write(".mcp.json", json.dumps({"mcpServers": {"moon": moon}}))
    shell.write("tooldrawer.yaml", json.dumps({"mcp_servers": {"moon": moon}}))
    assert shell.run("connect", "claude-code", "--place", "project", "--replace").err == ""
    text = (shell.folder / ".mcp.json").read_text(encoding="utf-8")
    assert list(json.loads(text)["mcpServers"]) == ["tooldrawer"]
    assert "1 MCP server" in shell.run("config", "check").out


def test_scope_address_place_and_name_are_written(desk: Shell) -> None:
    desk.run("connect", "--no-check", "codex", "--scope", "night", "--name", "drawer")
    text = (desk.folder / "home" / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert "[mcp_servers.drawer]" in text
    assert '"--scope", "night"]' in text
    address = "http://127.0.0.1:9/mcp"
    desk.run("connect", "vscode", "--place", "project", "--http", address, "--no-check")
    text = (desk.folder / ".vscode" / "mcp.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"servers": {"tooldrawer": {"type": "http", "url": address}}}
    desk.run("connect", "gemini", "--http", f"{address}/", "--scope", "night", "--no-check")
    text = (desk.folder / "home" / ".gemini" / "settings.json").read_text(encoding="utf-8")
    assert "http://127.0.0.1:9/mcp/night" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("emacs",), "No client is called 'emacs'; known are claude-desktop, claude-code, "),
        (("cursor", "--place", "moon"), "Cursor has no place 'moon'; it has: user, project."),
        (("cursor", "--scope", "day"), "There is no scope named 'day'; configured are: night."),
        (("cursor", "--http", "x"), "--http is 'x', expected an address"),
        (("cursor", "--http", "http://"), "--http is 'http://', which is not a valid address"),
        (("cursor", "--http", "http://["), "expected one such as http://127.0.0.1:8765/mcp."),
        (("cursor", "--http", "http://x:port/mcp"), "which is not a valid address"),
        (("cursor", "--http", "http://x:99999/mcp"), "which is not a valid address"),
        (
            ("cursor", "--http", "http://x", "--scope", "night"),
            "with --scope it has to end in /mcp",
        ),
        (("claude-desktop", "--http", "http://x"), "cannot be given an address in its file"),
        (("cursor", "--http", "http://x", "--token-env", "a b"), "--token-env is 'a b'"),
        (
            ("cursor", "--http", "http://x", "--token-env", "A", "--new-token"),
            "--token-env and --new-token exclude each other",
        ),
        (
            ("cursor", "--place", "project", "--http", "http://x", "--new-token"),
            "A project's file may be shared",
        ),
        (("cursor", "--new-token"), "--new-token is for a gateway at an address; add --http"),
        (("cursor", "--token-env", "A"), "--token-env is for a gateway at an address"),
        (("cursor", "--approve-tools"), "--approve-tools is for Codex"),
        (
            ("cursor", "--config", "lost.yaml"),
            "--config is 'lost.yaml', and there is no such file.",
        ),
        (("cursor", "--name", "moon"), "another server that is called 'moon'"),
    ],
)
def test_what_cannot_be_written_is_told_and_nothing_is(
    desk: Shell, arguments: tuple[str, ...], words: str
) -> None:
    assert words in desk.run("connect", *arguments).refusal
    assert file_of(desk).read_text(encoding="utf-8") == CURSOR


def test_a_broken_file_of_a_client_is_told_with_its_place(desk: Shell) -> None:
    file_of(desk).write_text('{\n  "mcpServers": {\n', encoding="utf-8")
    said = desk.run("connect", "cursor").refusal
    assert said == f"{file_of(desk)}:2: the file is not JSON: a {{ is not closed.\n"
    assert file_of(desk).read_text(encoding="utf-8") == '{\n  "mcpServers": {\n'


def test_without_a_configuration_it_says_what_to_do_first(shell: Shell) -> None:
    for command in (("connect", "cursor"), ("config", "check")):
        said = shell.run(*command).refusal
        assert "`tooldrawer import --write tooldrawer.yaml`" in said
        assert "--catalog" not in said
    assert "--catalog" in shell.run("tools").refusal


def secrets_of(shell: Shell) -> dict[str, str]:
    file = shell.folder / "data" / "tooldrawer" / "secrets.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


@requirement("SET-1")
def test_a_gateway_that_does_not_come_up_changes_nothing(desk: Shell) -> None:
    desk.write("tooldrawer.yaml", "mcp_servers: {}\ngateway: {mode: perhaps}\n")
    ran = desk.run("connect", "cursor")
    assert ran.code == 2
    assert "gateway.mode" in ran.err
    assert "does not come up as Cursor would start it, so nothing was changed." in ran.err
    assert file_of(desk).read_text(encoding="utf-8") == CURSOR
    assert [file.name for file in file_of(desk).parent.iterdir()] == ["mcp.json"]


@requirement("SET-1")
def test_a_secret_that_only_the_clients_list_has_is_stored_for_the_gateway(desk: Shell) -> None:
    person = Shell(desk.folder)
    out = person.run("connect", "cursor", "--replace").out
    assert "1 of 1 servers are up" in out
    assert SECRET not in out
    assert secrets_of(desk) == {"CLOCK_TOKEN": SECRET}
    text = file_of(desk).read_text(encoding="utf-8")
    assert '"clock"' not in text
    assert '"tooldrawer"' in text


def test_a_dry_run_stores_nothing(desk: Shell) -> None:
    Shell(desk.folder).run("connect", "cursor", "--replace", "--dry-run")
    assert secrets_of(desk) == {}


@requirement("SET-1")
def test_a_server_that_is_down_behind_the_gateway_stays_in_the_clients_list(desk: Shell) -> None:
    settings = json.loads((desk.folder / "tooldrawer.yaml").read_text(encoding="utf-8"))
    settings["mcp_servers"]["moon"] = {"command": "moond"}
    desk.write("tooldrawer.yaml", json.dumps(settings))
    ran = desk.run("connect", "cursor", "--replace")
    assert ran.code == 0
    assert "1 of 2 servers are up" in ran.out
    assert "moon is down behind the gateway: The server 'moon' cannot be started" in ran.err
    assert "moon stays in the list of Cursor: it is down behind the gateway." in ran.err
    assert '"moon"' in file_of(desk).read_text(encoding="utf-8")
    assert '"clock"' not in file_of(desk).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "options", [("--scope", "some"), ("--http", "http://127.0.0.1:9/mcp/some")]
)
def test_only_servers_that_the_scope_admits_leave_the_clients_list(
    shell: Shell, options: tuple[str, ...]
) -> None:
    names = ("whole", "some_of", "denied", "maybe", "hidden")
    servers = {name: {"command": f"{name}d"} for name in names}
    scope = {
        "allow": ["mcp_whole_*", "mcp_some_of_read", "mcp_denied_*", "*search*"],
        "deny": ["mcp_denied_drop*"],
    }
    file = shell.write("home/.cursor/mcp.json", json.dumps({"mcpServers": servers}))
    settings = {"mcp_servers": servers, "scopes": {"some": scope}}
    shell.write("tooldrawer.yaml", json.dumps(settings))
    ran = shell.run("connect", "cursor", "--replace", "--no-check", *options)
    assert ran.err.splitlines() == [
        "maybe stays in the list of Cursor: the scope 'some' does not admit it.",
        "hidden stays in the list of Cursor: the scope 'some' does not admit it.",
        "The scope 'some' may keep some tools from Cursor that it has now, of: some_of, denied.",
    ]
    text = (shell.folder / file).read_text(encoding="utf-8")
    assert list(json.loads(text)["mcpServers"]) == ["maybe", "hidden", "tooldrawer"]


def test_an_address_with_a_scope_that_is_not_known_here_leaves_all_servers(desk: Shell) -> None:
    address = "http://127.0.0.1:9/mcp/day"
    ran = desk.run("connect", "cursor", "--replace", "--no-check", "--http", address)
    assert "The scope 'day' is not in " in ran.err
    assert '"clock"' in file_of(desk).read_text(encoding="utf-8")


def test_a_server_that_the_client_uses_with_another_account_stays(desk: Shell) -> None:
    file_of(desk).write_text(CURSOR.replace(SECRET, "other-5512"), encoding="utf-8")
    ran = desk.run("connect", "cursor", "--replace")
    assert "clock stays in the list of Cursor: the gateway has another value for" in ran.err
    assert '"clock"' in file_of(desk).read_text(encoding="utf-8")


def test_a_variable_that_a_client_does_not_pass_on_can_be_stored(desk: Shell) -> None:
    ran = desk.run("connect", "claude-desktop")
    assert "clock is down behind the gateway" in ran.err
    assert "Claude Desktop does not pass CLOCK_TOKEN on" in ran.err
    ran = desk.run("connect", "claude-desktop", "--name", "second", "--save-variables")
    assert "1 of 1 servers are up" in ran.out
    assert secrets_of(desk) == {"CLOCK_TOKEN": SECRET}


def test_codex_is_given_the_approval_that_codex_exec_needs_on_request(desk: Shell) -> None:
    ran = desk.run("connect", "codex")
    assert "--approve-tools" in ran.err
    text = (desk.folder / "home" / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert "approval" not in text
    ran = desk.run("connect", "codex", "--approve-tools", "--no-check")
    assert "--approve-tools" not in ran.err
    text = (desk.folder / "home" / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert 'default_tools_approval_mode = "approve"' in text
    assert desk.run("connect", "--no-check", "codex").err == ""


def test_an_address_where_nothing_answers_is_not_written(desk: Shell) -> None:
    ran = desk.run("connect", "cursor", "--http", "http://127.0.0.1:9/mcp", "--new-token")
    assert ran.code == 2
    assert "nothing was changed" in ran.err
    assert file_of(desk).read_text(encoding="utf-8") == CURSOR
    assert "There are no tokens" in desk.run("token", "list").text
    assert not Tokens(desk.folder / "data" / "tooldrawer" / "tokens.json")


@contextmanager
def web_server(kind: str, body: bytes) -> Generator[str]:
    """Serve one reply to everything; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("kind", "body", "detail"),
    [
        ("application/json", b"{}", ""),
        ("application/json", b"hello", ""),
        ("text/event-stream", b'data: {"jsonrpc": "2.0"}\n\n', ""),
        ("text/html", b"<html></html>", " (it sent text/html)"),
    ],
)
def test_an_address_of_something_else_is_refused_in_one_line(
    desk: Shell, kind: str, body: bytes, detail: str
) -> None:
    with web_server(kind, body) as address:
        refusal = desk.run("connect", "cursor", "--http", address).refusal
    assert refusal == (
        "The gateway does not come up as Cursor would call it, so nothing was changed. The server "
        "'tooldrawer' cannot be reached: it does not answer as an MCP server; its url must be that "
        f"of the MCP endpoint{detail}.\n"
    )


def test_servers_that_stay_in_the_list_are_named_with_the_reason(desk: Shell) -> None:
    text = file_of(desk).read_text(encoding="utf-8")
    more = '"sun": {"command": "sund"}, "mars": {"comand": "marsd"},'
    changed = text.replace('"mcpServers": {', f'"mcpServers": {{{more}', 1)
    file_of(desk).write_text(changed, encoding="utf-8")
    ran = desk.run("connect", "--no-check", "cursor", "--replace", "--dry-run")
    assert "sun stays in the list of Cursor: the gateway does not serve it.\n" in ran.err
    assert "mars stays in the list of Cursor: it has 'comand' and neither a command" in ran.err


def test_a_gateway_that_wants_a_token_is_told_with_the_options_for_it() -> None:
    launch, refused = Launch(url="http://127.0.0.1:1/mcp"), "it answered HTTP 401 Unauthorized."
    assert "--new-token" in describe_refused_token(launch, refused)
    assert describe_refused_token(launch, "it did not answer in time.") == ""
    unset = replace(launch, token_variable="TD_TEST_UNSET")
    assert "TD_TEST_UNSET, which --token-env names, is not set here." in describe_refused_token(
        unset, refused
    )
