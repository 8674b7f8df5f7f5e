"""`tooldrawer import`, as a person uses it."""

import json
import os
import stat

import pytest

from tests.cli.shell import Shell
from tests.requirements import requirement

pytestmark = requirement("CFG-3")
SECRET = "swordfish-5512"
CURSOR = {
    "mcpServers": {
        "clock": {"command": "clockd", "args": ["-v"], "env": {"CLOCK_TOKEN": SECRET}},
        "old": {"type": "sse", "url": "https://old.example/sse"},
    }
}
CODEX = f"""
[mcp_servers.tide]
url = "https://tide.example/mcp?user=5"
http_headers = {{ "X-Key" = "{SECRET}" }}
"""


@pytest.fixture
def desk(shell: Shell) -> Shell:
    """A shell of somebody who uses Cursor and Codex."""
    shell.write("home/.cursor/mcp.json", json.dumps(CURSOR))
    shell.write("home/.codex/config.toml", CODEX)
    return shell


@requirement("CFG-3")
def test_what_is_found_is_shown_without_any_secret(desk: Shell) -> None:
    ran = desk.run("import")
    assert ran.code == 0
    for words in ("clock", "clockd", "Cursor", "tide.example", "Codex", "config.toml", "--write"):
        assert words in ran.out
    assert "mcp.json: old is left out: type is 'sse'" in ran.err
    assert SECRET not in ran.out + ran.err
    assert "user=5" not in ran.out
    assert not (desk.folder / "tooldrawer.yaml").exists()


def test_servers_are_added_to_the_file_and_the_variables_are_named(desk: Shell) -> None:
    desk.write("tooldrawer.yaml", "# mine\nmcp_servers:\n  moon: {command: moond} # full\n")
    ran = desk.run("import", "--write", "tooldrawer.yaml")
    assert "2 servers were added to tooldrawer.yaml." in ran.out
    assert "  CLOCK_TOKEN  (clock: env.CLOCK_TOKEN)" in ran.out
    assert "  TIDE_X_KEY  (tide: headers.X-Key)" in ran.out
    text = (desk.folder / "tooldrawer.yaml").read_text(encoding="utf-8")
    assert text.startswith("# mine\nmcp_servers:\n  moon: {command: moond} # full\n  clock:\n")
    assert SECRET not in text + ran.out + ran.err
    assert "3 MCP servers" in desk.run("config", "check").text
    again = desk.run("import", "--write", "tooldrawer.yaml")
    assert "0 servers were added to tooldrawer.yaml; 2 were there already." in again.out
    assert (desk.folder / "tooldrawer.yaml").read_text(encoding="utf-8") == text


def test_a_server_that_was_renamed_is_recognized_the_next_time(shell: Shell) -> None:
    for file, account in ((".cursor/mcp.json", "a"), (".claude.json", "b")):
        entry = {"command": "clockd", "args": [account], "env": {"KEY": f"{SECRET}-{account}$$x"}}
        servers = {"clock": entry, "moon": {"command": "moond"}}
        shell.write(f"home/{file}", json.dumps({"mcpServers": servers}))
    first = shell.run("import", "--write", "tooldrawer.yaml")
    assert "3 servers were added to tooldrawer.yaml.\n" in first.out
    text = (shell.folder / "tooldrawer.yaml").read_text(encoding="utf-8")
    again = shell.run("import", "--write", "tooldrawer.yaml").text
    assert "0 servers were added to tooldrawer.yaml; 3 were there already.\n" in again
    assert "clock-2 " in again
    assert (shell.folder / "tooldrawer.yaml").read_text(encoding="utf-8") == text


def test_what_is_not_as_in_the_clients_list_is_told_in_a_line_each(shell: Shell) -> None:
    servers = {
        "clock": {"command": "clockd", "autoApprove": ["read"], "note": 3, "empty": []},
        "my moon!": {"command": "moond", "headers": {"X": "y"}},
        "watch": {"command": "clockd"},
    }
    shell.write("home/.claude.json", json.dumps({"mcpServers": servers}))
    other = {"clock": {"command": "otherd", "disabled": False, "type": "stdio"}}
    shell.write("home/.cursor/mcp.json", json.dumps({"mcpServers": other}))
    tide = {
        "command": ["tided"],
        "type": "local",
        "environment": {"A": "b"},
        "timeout": 5000,
        "extra": 1,
    }
    shell.write("home/opencode/opencode.json", json.dumps({"mcp": {"tide": tide}}))
    ran = shell.run("import", "--write", "tooldrawer.yaml")
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "home/.claude.json: settings of 'clock' that are not taken over: autoApprove, note.",
        "home/.claude.json: watch is the same server as clock, and is taken over once.",
        "home/.claude.json: 'my moon!' is called my-moon here; a name has at most 48 letters, "
        "digits, dots, dashes and underscores, a letter or digit first.",
        "home/.claude.json: settings of 'my moon!' that are not taken over: headers.",
        "home/.cursor/mcp.json: clock is called clock-2 here; another server has that name.",
        "home/opencode/opencode.json: settings of 'tide' that are not taken over: extra.",
    ]
    assert shell.run("import", "--write", "tooldrawer.yaml").err == ""


def test_what_codex_calls_otherwise_is_taken_over(shell: Shell) -> None:
    words = 'env_vars = ["A"]\ntool_timeout_sec = 5\nenabled_tools = ["x"]\nrequired = true\n'
    shell.write("home/.codex/config.toml", f'[mcp_servers.tide]\ncommand = "tided"\n{words}')
    ran = shell.run("import")
    assert ran.err == (
        "home/.codex/config.toml: settings of 'tide' that are not taken over: required.\n"
    )


def test_one_server_is_counted_as_one(shell: Shell) -> None:
    shell.write("a.json", '{"mcpServers": {"moon": {"command": "moond"}}}')
    first = shell.run("import", "--from", "a.json", "--write", "x.yaml").text
    assert "1 server was added to x.yaml.\n" in first
    again = shell.run("import", "--from", "a.json", "--write", "x.yaml").text
    assert "0 servers were added to x.yaml; 1 was there already.\n" in again


def stored(shell: Shell) -> dict[str, str]:
    text = (shell.folder / "data" / "tooldrawer" / "secrets.json").read_text(encoding="utf-8")
    return json.loads(text)


def test_secrets_are_kept_where_only_their_owner_can_read_them(desk: Shell) -> None:
    out = desk.run("import", "--write", "tooldrawer.yaml").out
    assert f"Their secrets are in data{os.sep}tooldrawer{os.sep}secrets.json" in out
    assert stored(desk) == {"CLOCK_TOKEN": SECRET, "TIDE_X_KEY": SECRET}
    file = desk.folder / "data" / "tooldrawer" / "secrets.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_secret_does_not_take_the_name_of_a_variable_with_another_value(desk: Shell) -> None:
    desk.with_variables(CLOCK_TOKEN="another").run("import", "--write", "tooldrawer.yaml")
    assert stored(desk)["CLOCK_CLOCK_TOKEN"] == SECRET
    assert "CLOCK_TOKEN" not in stored(desk)


def test_a_secret_with_dollar_signs_is_stored_as_it_is(shell: Shell) -> None:
    entry = {"command": "c", "env": {"KEY": "pa$$w${x"}}
    shell.write("home/.cursor/mcp.json", json.dumps({"mcpServers": {"c": entry}}))
    shell.run("import", "--write", "tooldrawer.yaml")
    assert stored(shell) == {"KEY": "pa$$w${x"}


def test_a_value_that_one_client_has_is_used_for_anothers_variable(shell: Shell) -> None:
    for file, text in ((".cursor/mcp.json", "${env:CLOCK_TOKEN}"), (".claude.json", SECRET)):
        entry = {"command": "clockd", "env": {"CLOCK_TOKEN": text}}
        shell.write(f"home/{file}", json.dumps({"mcpServers": {"clock": entry}}))
    shell.run("import", "--from", "cursor", "--write", "tooldrawer.yaml")
    shell.run("import", "--write", "tooldrawer.yaml")
    assert stored(shell) == {"CLOCK_TOKEN": SECRET}


def test_secrets_are_copied_on_request_only(desk: Shell) -> None:
    desk.run("import", "--write", "x.yaml", "--with-secrets")
    assert SECRET in (desk.folder / "x.yaml").read_text(encoding="utf-8")
    assert not (desk.folder / "data" / "tooldrawer" / "secrets.json").exists()


def test_one_client_or_one_file_can_be_asked_for(desk: Shell) -> None:
    assert "clock" not in desk.run("import", "--from", "codex").text
    desk.write("other.json", '{"mcpServers": {"moon": {"command": "moond"}}}')
    ran = desk.run("import", "--from", "other.json")
    assert "moond" in ran.text
    assert "tide" not in ran.text


def test_programs_get_json(desk: Shell) -> None:
    ran = desk.run("import", "--json", "--write", "x.yaml")
    facts = json.loads(ran.out)
    assert [server["name"] for server in facts["servers"]] == ["clock", "tide"]
    assert [server["reach"] for server in facts["servers"]] == ["clockd", "tide.example"]
    assert facts["left_out"][0]["name"] == "old"
    assert facts["written"] == "x.yaml"
    assert facts["variables"][0] == {
        "name": "CLOCK_TOKEN",
        "for": "clock: env.CLOCK_TOKEN",
        "is_set": True,
    }
    assert SECRET not in ran.out


def test_when_there_is_nothing_it_says_so(shell: Shell) -> None:
    assert shell.run("import").text == "No MCP servers were found in the lists of other programs.\n"
    shell.write("none.json", '{"mcpServers": {}}')
    ran = shell.run("import", "--from", "none.json")
    assert ran.text == "No MCP servers were found in none.json.\n"


def test_a_broken_list_hides_only_its_own_servers(desk: Shell) -> None:
    desk.write("home/.gemini/settings.json", "{")
    ran = desk.run("import")
    assert ran.code == 0
    assert "clock" in ran.out
    assert "settings.json:1: the file is not JSON" in ran.err


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_import_that_read_only_broken_lists_fails(
    shell: Shell, options: tuple[str, ...]
) -> None:
    shell.write("home/.gemini/settings.json", "{")
    ran = shell.run("import", *options)
    assert ran.code == 2
    assert "settings.json:1: the file is not JSON: a { is not closed." in ran.err
    assert "No MCP servers were found" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "emacs"), "No client is called 'emacs'; known are claude-desktop, "),
        (("--from", "gone.json"), "gone.json: cannot be read: No such file or directory."),
        (("--from", "lost"), "No client is called 'lost'; known are claude-desktop, "),
        (("--from", "lost"), " There is no file of that name here, either."),
        (("--from", "./lost"), "lost: cannot be read: No such file or directory."),
        (("--from", "home"), "home: cannot be read: Is a directory."),
        (("--from", "broken.json"), "broken.json:1: the file is not JSON: a { is not closed."),
        (("--from", "broken.toml"), "broken.toml:1: the file is not TOML: "),
        (("--from", "gemini"), "settings.json:1: the file is not JSON: a { is not closed."),
        (("--from", "gemini", "--write", "new.yaml"), "the file is not JSON: a { is not closed."),
        (
            ("--write", "lost/new.yaml"),
            "lost/new.yaml: cannot be written: there is no folder lost.",
        ),
        (("--write", "broken.yaml"), "broken.yaml:1: the file is not YAML: "),
        (("--write", "flow.yaml"), "flow.yaml: cannot be added to as it is written"),
    ],
)
def test_what_does_not_work_is_told(shell: Shell, arguments: tuple[str, ...], words: str) -> None:
    shell.write("home/.codex/config.toml", CODEX)
    shell.write("home/.gemini/settings.json", "{")
    shell.write("broken.json", "{")
    shell.write("broken.toml", "[")
    shell.write("broken.yaml", "[")
    shell.write("flow.yaml", "{model: {}}")
    assert words in shell.run("import", *arguments).refusal
    assert not (shell.folder / "new.yaml").exists()
    assert not (shell.folder / "lost").exists()
    assert (shell.folder / "flow.yaml").read_text(encoding="utf-8") == "{model: {}}"


def test_one_server_in_two_lists_is_one_row_with_both_names_and_places(shell: Shell) -> None:
    entry = {"command": "clockd"}
    shell.write("home/.cursor/mcp.json", json.dumps({"mcpServers": {"my clock": entry}}))
    shell.write("home/.claude.json", json.dumps({"mcpServers": {"my clock": entry}}))
    rows = [line for line in shell.run("import").out.splitlines() if "clockd" in line]
    (row,) = rows
    assert row.split("  ")[0] == "my-clock (my clock)"
    assert "Claude Code, Cursor" in row
    assert "home/.claude.json, home/.cursor/mcp.json" in row


def test_after_writing_the_next_step_is_named(desk: Shell) -> None:
    assert "--replace" not in desk.run("import").out
    out = desk.run("import", "--write", "tooldrawer.yaml").out
    assert "\n  tooldrawer connect cursor --replace\n" in out
    assert "\n  tooldrawer connect codex --replace\n" in out
    other = desk.run("import", "--from", "cursor", "--write", "other.yaml").out
    assert other.count(" connect ") == 1
    assert "\n  tooldrawer connect cursor --replace --config other.yaml\n" in other


def test_a_misspelled_key_of_a_clients_list_is_told(shell: Shell) -> None:
    shell.write("home/.cursor/mcp.json", '{"mcpServers": {"moon": {"comand": "moond"}}}')
    assert shell.run("import").err == (
        "home/.cursor/mcp.json: moon is left out: it has 'comand' and neither a command nor a url; "
        "did you mean 'command'?\n"
    )
