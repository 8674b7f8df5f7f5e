"""`watch`: what a gateway does, as it happens, by the name of the real tool."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.activity.parts import assembled, searched
from tests.cli.gateways import gateway, user
from tests.cli.shell import PATIENCE, Shell
from tests.cli.test_status import another
from tests.requirements import requirement
from tooldrawer import AssemblyPolicy, Config, Drawer, FunctionToolset
from tooldrawer.activity import CallFailed

HELLO = f"Watching the gateway {os.getpid()}; press Ctrl-C to stop.\n"
GOODBYE = f"The gateway {os.getpid()} stopped.\n"


@contextmanager
def watching(shell: Shell, *options: str) -> "Generator[subprocess.Popen[str]]":
    with user(shell).started("watch", *options) as process:
        yield process


def next_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@requirement("AF-2")
def test_the_feed_shows_the_underlying_tool_never_the_bridge(
    shell: Shell, desk: FunctionToolset
) -> None:
    drawer = Drawer([desk], config=Config(assembly=AssemblyPolicy(enabled="on")))
    session = drawer.session("support")
    arguments = {"name": "desk.read_note", "arguments": {"title": "milk"}}
    with gateway(shell, activity=drawer.activity) as running:
        running.run(lambda: session.call("tool_call", arguments))
        with watching(shell) as process:
            assert next_line(process).endswith(
                ' support: read_note(title: "milk") started [desk]\n'
            )
            assert re.search(r" support: read_note finished in \d+ ms\n", next_line(process))
            running.run(lambda: session.call("tool_call", {"name": "add_note", "arguments": {}}))
            assert next_line(process).endswith(" support: add_note() started [desk]\n")
            assert " support: add_note refused: " in next_line(process)
            running.run(lambda: session.call("tool_call", {"name": "paint_note"}))
            assert " support: a call refused: " in next_line(process)
            running.run(lambda: session.call("tool_describe", {"name": "read_note"}))
            assert " support: described read_note (" in next_line(process)
            running.stop()
            assert ended(process) == (0, "", HELLO + GOODBYE)


def test_each_line_begins_with_the_time_of_day(shell: Shell) -> None:
    with gateway(shell) as running:
        running.activity(searched("milk"))
        place = shell.with_variables(TZ="UTC")
        with watching(place) as process:
            assert next_line(process) == "00:00:01 searched 'milk': nothing (0 tokens)\n"


def test_it_begins_with_as_many_of_the_last_events_as_asked_for(shell: Shell) -> None:
    with gateway(shell) as running:
        for number in range(30):
            running.activity(searched(f"q{number}"))
        for options, first in (((), "q10"), (("--last", "1"), "q29")):
            with watching(shell, *options) as process:
                assert f"'{first}'" in next_line(process)


def test_one_session_can_be_watched(shell: Shell) -> None:
    with gateway(shell) as running:
        running.activity(searched("theirs", session="two"))
        running.activity(searched("mine", session="one"))
        with watching(shell, "--session", "one") as process:
            assert "one: searched 'mine'" in next_line(process)
            running.activity(searched("theirs", session="two"))
            running.activity(searched("mine again", session="one"))
            assert "one: searched 'mine again'" in next_line(process)


def test_json_is_one_event_a_line_as_the_gateway_told_it(shell: Shell) -> None:
    with gateway(shell) as running:
        running.activity(searched("a\nb\x7f"))
        with watching(shell, "--json") as process:
            found = json.loads(next_line(process))
    assert (found["event"], found["query"], found["at"]) == ("Searched", "a\nb\x7f", 1.0)


def test_text_of_a_server_stays_on_one_line_and_cannot_control_the_terminal(shell: Shell) -> None:
    with gateway(shell) as running:
        error = "no\r\n00:00:01 pay_bill finished in 3 ms\x1b[2J"
        running.activity(CallFailed(at=1.0, tool="read_note", error=error, duration=0.1))
        with watching(shell) as process:
            line = next_line(process)
    assert line.endswith(" read_note failed: no 00:00:01 pay_bill finished in 3 ms\\u001b[2J\n")


def test_an_unchanged_assembly_is_shown_once_per_session(shell: Shell) -> None:
    with gateway(shell) as running, watching(shell) as process:
        for session, direct in (("one", 3), ("one", 3), ("two", 3), ("one", 3), ("one", 4)):
            running.activity(assembled(session=session, direct=direct))
        running.activity(searched("end"))
        lines = [next_line(process) for _ in range(4)]
    assert [line.split(" ", 1)[1].split(",")[0] for line in lines[:3]] == [
        "one: tool search is active: 3 direct",
        "two: tool search is active: 3 direct",
        "one: tool search is active: 4 direct",
    ]
    assert "searched 'end'" in lines[3]


def test_ctrl_c_ends_it(shell: Shell) -> None:
    with gateway(shell) as running:
        running.activity(searched("milk"))
        with watching(shell) as process:
            next_line(process)
            process.send_signal(signal.SIGINT)
            assert ended(process) == (130, "", HELLO + "Stopped.\n")


def test_a_reader_that_goes_away_is_no_error(shell: Shell) -> None:
    with gateway(shell) as running:
        running.activity(searched("milk"))
        with watching(shell) as process:
            next_line(process)
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
            for _ in range(3):
                running.activity(searched("tea"))
            assert process.wait(timeout=PATIENCE) == 0


def test_a_gateway_that_is_killed_has_stopped(shell: Shell) -> None:
    with another(shell) as process, watching(shell) as watcher:
        assert next_line(watcher).endswith(" milk is down: it is sour\n")
        process.kill()
        code, out, err = ended(watcher)
    assert (code, out) == (0, "")
    assert err.endswith(f"The gateway {process.pid} stopped.\n")


def test_of_several_gateways_one_has_to_be_chosen(shell: Shell) -> None:
    with gateway(shell) as running, another(shell, address="stdio") as process:
        refusal = user(shell).run("watch").refusal
        assert refusal == (
            "Several gateways run; choose one with --pid: "
            f"{os.getpid()} (http://127.0.0.1:8000/mcp), {process.pid} (stdio).\n"
        )
        running.activity(searched("milk"))
        with watching(shell, "--pid", str(os.getpid())) as watcher:
            assert "milk" in next_line(watcher)


@pytest.mark.parametrize("last", ["-1", "many"])
def test_a_number_that_is_none_is_refused(shell: Shell, last: str) -> None:
    assert "--last" in user(shell).run("watch", "--last", last).refusal
