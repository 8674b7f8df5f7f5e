"""The first things that a newcomer types."""

import json
import re
from importlib.metadata import version
from socket import gethostname

from tests.cli.shell import Shell
from tests.requirements import requirement


def test_the_version_is_that_of_the_package(shell: Shell) -> None:
    assert shell.run("--version").text == f"tooldrawer {version('tooldrawer')}\n"


def test_no_arguments_show_the_commands(shell: Shell) -> None:
    shown = shell.run().text
    assert "Usage: tooldrawer" in shown
    for command in ("find", "tools", "describe", "call", "explain", "config", "demo", "bench"):
        assert f" {command} " in shown


def test_a_group_without_a_command_shows_its_commands(shell: Shell) -> None:
    assert "check" in shell.run("config").text
    assert "core" in shell.run("bench").text


def test_help_is_there_for_a_command_in_both_spellings(shell: Shell) -> None:
    assert shell.run("find", "-h").text == shell.run("find", "--help").text


def test_config_check_counts_what_it_found(workshop: Shell) -> None:
    said = workshop.run("config", "check").text
    assert said.startswith("tooldrawer.yaml is valid")
    assert "1 toolset, 1 scope" in said
    assert workshop.run("config", "check", "tooldrawer.yaml", "--json").json == {
        "file": "tooldrawer.yaml",
        "mcp_servers": 0,
        "toolsets": 1,
        "scopes": 1,
        "hooks": 0,
        "guardrails": 1,
        "disabled": [],
    }


def test_the_configuration_of_the_user_is_found_when_the_folder_has_none(workshop: Shell) -> None:
    (workshop.folder / "home" / "tooldrawer").mkdir(parents=True)
    own = workshop.folder / "home" / "tooldrawer" / "tooldrawer.yaml"
    (workshop.folder / "tooldrawer.yaml").rename(own)
    assert workshop.run("config", "check").text.startswith(f"{own} is valid")
    assert list(workshop.run("tools", "--json").json) == ["workshop"]


def test_help_shows_flags_without_a_type_and_the_default_address(shell: Shell) -> None:
    text = " ".join(shell.run("serve", "--help").text.split())
    assert "<bool>" not in text
    assert "[default: 127.0.0.1]" in text
    assert "[default: 8765]" in text


@requirement("CFG-4")
def test_config_check_names_the_servers_that_cannot_start(shell: Shell) -> None:
    shell.write(
        "tooldrawer.yaml",
        "mcp_servers:\n  clock: {command: clockd}\n  tide: {command: '${NOT_SET_HERE}'}\n",
    )
    ran = shell.run("config", "check", "tooldrawer.yaml")
    assert ran.refusal == (
        "tooldrawer.yaml:3: mcp_servers.tide.command needs the environment variable NOT_SET_HERE, "
        "which is not set.\n"
        "Not started because of this: tide. Servers that start: 1.\n"
    )
    ran = shell.run("config", "check", "tooldrawer.yaml", "--json")
    assert (ran.code, ran.err) == (2, "")
    (tide,) = json.loads(ran.out)["disabled"]
    assert (tide["name"], tide["variables"]) == ("tide", ["NOT_SET_HERE"])
    with_key = shell.with_variables(NOT_SET_HERE="tided")
    assert "2 MCP servers" in with_key.run("config", "check", "tooldrawer.yaml").text


@requirement("CFG-2")
def test_config_check_rejects_a_file_without_settings(shell: Shell) -> None:
    shell.write("tooldrawer.yaml", "")
    assert shell.run("config", "check", "tooldrawer.yaml").refusal == (
        "tooldrawer.yaml:1: the file has no settings in it; add servers with `tooldrawer import "
        "--write tooldrawer.yaml`, write some, or delete the file.\n"
    )


def test_a_gateway_for_other_machines_prints_addresses_and_the_header_that_can_be_used(
    workshop: Shell,
) -> None:
    secret = workshop.run("token", "create", "--json").json["token"]
    arguments = ("serve", "--http", "--host", "0.0.0.0", "--port", "0")
    with workshop.started(*arguments) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        port = re.fullmatch(r"tooldrawer is at http://127\.0\.0\.1:(\d+)/mcp\n", lines[0])
        assert port is not None
        assert lines[1] == f"  from other machines at http://{gethostname()}:{port[1]}/mcp\n"
        assert lines[2] == "  every request needs the header Authorization: Bearer TOKEN\n"
        rest = iter(process.stdout.readline, "")
        pasted = next(line for line in rest if "claude mcp add" in line)
        assert pasted.endswith('/mcp --header "Authorization: Bearer TOKEN"\n')
        # From here on it logs what changes.
        file = workshop.folder / "tooldrawer.yaml"
        with file.open("a", encoding="utf-8") as settings:
            settings.write("# Changed.\n")
        assert process.stderr is not None
        assert process.stderr.readline().endswith("tooldrawer.yaml: the servers are the same.\n")
    assert secret not in "".join(lines) + pasted
