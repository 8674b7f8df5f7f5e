"""Whatever happens to the streams, and whatever a server writes, the terminal stays whole."""

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import COMMAND, Shell
from tooldrawer.cli.output import table

NASTY = "safe \x1b[2Jcleared \x1b]0;title\x07 \x9b31m \u202eback \x7f half \ud800 tab\tend"
ESCAPED = (r"\u001b[2Jcleared", r"\u0007", r"\u009b31m", r"\u202eback", r"\u007f", r"\ud800")


def steers(text: str) -> bool:
    """Whether a text could redraw a terminal, apart from the colours of our own tables."""
    own = text.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\x1b[2m", "")
    return any(char in own for char in "\x1b\x07\x9b\u202e\x7f")


@pytest.fixture
def nasty(shell: Shell) -> Shell:
    """A shell in a folder with a list whose every text has control characters."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": NASTY}}}
    tool = {"name": f"go{NASTY}", "description": NASTY, "inputSchema": schema}
    shell.write("nasty.json", json.dumps({"server": f"s{NASTY}", "tools": [tool]}))
    return shell


@pytest.mark.parametrize(
    "command",
    [
        ("find", "cleared"),
        ("tools",),
        ("tools", "--toolset", f"mcp-s{NASTY}".replace("\ud800", "")),
        ("describe", "go safe"),
        ("describe", f"go{NASTY}".replace("\ud800", "")),
        ("describe", f"go{NASTY}".replace("\ud800", ""), "--json"),
        ("explain",),
    ],
    ids=lambda command: "-".join(command[:1]),
)
def test_control_characters_of_a_server_never_reach_the_terminal(
    nasty: Shell, command: tuple[str, ...]
) -> None:
    ran = nasty.run(*command, "--catalog", "nasty.json")
    assert not steers(ran.out + ran.err)
    assert "Traceback" not in ran.err


def test_control_characters_are_shown_as_escapes(nasty: Shell) -> None:
    shown = nasty.run("find", "cleared", "--catalog", "nasty.json").text
    assert all(part in shown for part in ESCAPED)
    found = nasty.run("find", "cleared", "--catalog", "nasty.json", "--json")
    assert not steers(found.out)
    assert found.json["matches"][0]["description"] == NASTY


def test_a_terminal_gets_no_control_character_of_a_server_either(nasty: Shell) -> None:
    shown = nasty.screen("find", "cleared", "--catalog", "nasty.json")
    assert "\\u001b" in shown
    assert not steers(shown)


def test_a_long_name_leaves_room_for_what_the_tool_does_in_a_narrow_terminal(shell: Shell) -> None:
    tool = {"name": "n" * 90, "description": "Do a thing in a few words."}
    shell.write("long.json", json.dumps([tool]))
    assert "Do a thing in a few words." in shell.screen("find", "thing", "--catalog", "long.json")


def test_a_result_keeps_its_lines_and_tabs_but_not_its_controls(workshop: Shell) -> None:
    shown = workshop.run("call", "print_label").text
    assert shown == "before\\u001b[2Jafter\ttab\nnext \\u202eline\n"


def test_an_encoding_without_the_characters_gets_escapes(shell: Shell) -> None:
    shell.write("a.json", json.dumps([{"name": "a", "description": "Grüße → Köln"}]))
    old = shell.with_variables(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "Gr\\xfc\\xdfe \\u2192 K\\xf6ln" in old.run("find", "a", "--catalog", "a.json").text
    found = old.run("find", "a", "--catalog", "a.json", "--json").json
    assert found["matches"][0]["description"] == "Grüße → Köln"


@pytest.mark.parametrize(
    "command",
    [
        ("tools", "--catalog", "lists"),
        ("tools", "--catalog", "lists", "--json"),
        ("describe", "get_tides", "--catalog", "lists"),
        ("--help",),
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_error(library: Shell, command: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with library.started(*command, stdout=writer) as process:
        os.close(writer)
        _, said = process.communicate()
    assert (process.returncode, said) == (0, "")


def test_a_closed_standard_output_is_no_error(library: Shell) -> None:
    line = shlex.join([*COMMAND, "tools", "--catalog", "lists"])
    ran = subprocess.run(
        f"{line} >&-",
        shell=True,
        check=False,
        cwd=library.folder,
        env=library.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is full")
def test_a_full_disk_is_told(library: Shell) -> None:
    command = ("tools", "--catalog", "lists")
    with (
        Path("/dev/full").open("w", encoding="utf-8") as full,
        library.started(*command, stdout=full.fileno()) as process,
    ):
        _, said = process.communicate()
    assert (process.returncode, said) == (2, "Cannot go on: No space left on device.\n")


@pytest.mark.parametrize("tool", ["wait_for_glue", "hold_clamp"])
def test_ctrl_c_ends_a_call_whose_tool_waits(workshop: Shell, tool: str) -> None:
    with workshop.started("call", tool) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        out, said = process.communicate()
    assert (process.returncode, out, said) == (130, "", "Stopped.\n")


def test_a_tool_that_was_given_up_on_does_not_keep_the_command_from_ending(workshop: Shell) -> None:
    config = 'toolsets: ["workshop:tools"]\nlimits: {call_timeout: 0.1}\n'
    workshop.write("tooldrawer.yaml", config)
    ran = workshop.run("call", "hold_clamp")
    assert (ran.code, ran.out) == (2, "")
    assert "did not finish within 0.1 s" in ran.err


@pytest.mark.parametrize("columns", ["30", "40", "60", "80"])
def test_a_number_is_never_cut_however_narrow_the_table_is(library: Shell, columns: str) -> None:
    narrow = library.with_variables(COLUMNS=columns)
    found = library.run("find", "tyres", "--catalog", "lists", "--json").json["matches"]
    shown = narrow.run("find", "tyres", "--catalog", "lists").text.splitlines()
    scores = [line.split()[-1] for line in shown if line.split()[-1].replace(".", "").isdigit()]
    assert scores == [f"{each['score']:.2f}" for each in found]
    assert max(map(len, shown)) <= int(columns)
    assert not any(line.endswith(" ") for line in shown)


def test_figures_are_left_out_whole_where_there_is_no_room_for_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    columns = ("server", "state", "attempts", "tools", "tokens")
    table(columns, [("calendar", "up for 2 hours", "1", "1,034", "22,000")], numbers=3)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["server", "state", "tools", "tokens"]
    assert lines[2][-2:] == ["1,034", "22,000"]
