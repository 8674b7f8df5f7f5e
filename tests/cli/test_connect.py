"""`tooldrawer connect`, as a person uses it."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.requirements import requirement

pytestmark = requirement("CFG-3")
SECRET = "swordfish-5512"
CURSOR = """{
  // mine
  "mcpServers": {
    "clock": {"command": "clockd", "env": {"CLOCK_TOKEN": "swordfish-5512"}},
    "moon": {"command": "moond"},
  },
}
"""


@pytest.fixture
def desk(shell: Shell) -> Shell:
    """A shell of somebody who uses Cursor, and whose gateway serves the clock."""
    shell.write("home/.cursor/mcp.json", CURSOR)
    shell.write(
        "tooldrawer.yaml",
        "mcp_servers: {clock: {command: clockd, env: {CLOCK_TOKEN: '${CLOCK_TOKEN}'}}}\n"
        "scopes: {night: {deny: ['*x*']}}\n",
    )
    return shell.with_variables(CLOCK_TOKEN="x")


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
    assert str(backup) in out
    again = desk.run("connect", "cursor").text
    assert again == f"{file_of(desk)} is right already; nothing to change.\n"
    assert desk.run("connect", "cursor", "--undo").text.endswith(" is as it was.\n")
    assert file_of(desk).read_text(encoding="utf-8") == CURSOR
    assert "there is nothing to undo" in desk.run("connect", "cursor", "--undo").refusal


def test_what_the_client_changed_meanwhile_is_not_taken_back(desk: Shell) -> None:
    desk.run("connect", "cursor", "--replace")
    text = file_of(desk).read_text(encoding="utf-8").replace("{", '{"theme": "dark",', 1)
    file_of(desk).write_text(text, encoding="utf-8")
    out = desk.run("connect", "cursor", "--undo").text
    assert "was changed by others too, so only its servers are as they were" in out
    text = file_of(desk).read_text(encoding="utf-8")
    assert '"theme": "dark"' in text
    assert '"clock": {' in text
    assert "tooldrawer" not in text


def test_a_dry_run_writes_nothing(desk: Shell) -> None:
    out = desk.run("connect", "cursor", "--dry-run").text
    assert '+    "tooldrawer": {' in out
    assert out.endswith("Nothing was written.\n")
    assert [file.name for file in file_of(desk).parent.iterdir()] == ["mcp.json"]
    desk.run("connect", "cursor")
    before = file_of(desk).read_bytes()
    assert desk.run("connect", "cursor", "--undo", "--dry-run").text.endswith("was written.\n")
    assert file_of(desk).read_bytes() == before


def test_servers_that_the_gateway_serves_can_leave_the_clients_list(desk: Shell) -> None:
    out = desk.run("connect", "cursor", "--replace").text
    assert '-    "clock": {"command": "clockd", "env": {"CLOCK_TOKEN": "***"}},' in out
    text = file_of(desk).read_text(encoding="utf-8")
    assert '"clock"' not in text
    assert '"moon"' in text
    desk.run("connect", "cursor", "--undo")
    assert file_of(desk).read_text(encoding="utf-8") == CURSOR


def test_when_nothing_can_be_replaced_the_way_is_told(desk: Shell) -> None:
    ran = desk.run("connect", "gemini", "--replace")
    assert ran.code == 0
    assert "`tooldrawer import --from gemini --write tooldrawer.yaml`" in ran.err


def test_a_list_that_the_gateway_reads_itself_keeps_its_servers(shell: Shell) -> None:
    shell.write(".mcp.json", '{"mcpServers": {"moon": {"command": "moond"}}}')
    said = shell.run("connect", "claude-code", "--place", "project", "--replace").refusal
    assert "where the gateway finds its servers" in said
    shell.write("tooldrawer.yaml", "mcp_servers: {moon: {command: moond}}")
    shell.run("connect", "claude-code", "--place", "project", "--replace")
    text = (shell.folder / ".mcp.json").read_text(encoding="utf-8")
    assert list(json.loads(text)["mcpServers"]) == ["tooldrawer"]
    assert "mcp servers 1" in shell.run("config", "check").out


def test_scope_address_place_and_name_are_written(desk: Shell) -> None:
    desk.run("connect", "codex", "--scope", "night", "--name", "drawer")
    text = (desk.folder / "home" / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert "[mcp_servers.drawer]" in text
    assert '"--scope", "night"]' in text
    desk.run("connect", "vscode", "--place", "project", "--http", "http://127.0.0.1:9/mcp")
    text = (desk.folder / ".vscode" / "mcp.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "servers": {"tooldrawer": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}
    }
    desk.run("connect", "gemini", "--http", "http://127.0.0.1:9/mcp/", "--scope", "night")
    text = (desk.folder / "home" / ".gemini" / "settings.json").read_text(encoding="utf-8")
    assert "http://127.0.0.1:9/mcp/night" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("emacs",), "No client is called 'emacs'; known are claude-desktop, claude-code, "),
        (("cursor", "--place", "moon"), "Cursor has no place 'moon'; it has: user, project."),
        (("cursor", "--scope", "day"), "There is no scope named 'day'; configured are: night."),
        (("cursor", "--http", "x"), "--http is 'x', expected an address"),
        (
            ("cursor", "--http", "http://x", "--scope", "night"),
            "with --scope it has to end in /mcp",
        ),
        (("claude-desktop", "--http", "http://x"), "cannot be given an address in its file"),
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
    assert "`tooldrawer import --write tooldrawer.yaml`" in shell.run("connect", "cursor").refusal


def test_a_configuration_with_mistakes_is_mentioned(desk: Shell) -> None:
    ran = desk.with_variables(CLOCK_TOKEN="").run("connect", "cursor")
    assert ran.code == 0
    said = "clock would not start: missing environment variable: CLOCK_TOKEN; see `tooldrawer "
    assert f"{said}config check " in ran.err
