"""A chat whose lines come from a pipe: answers and nothing else on standard output."""

import re

from tests.cli.agent.agents import at
from tests.cli.agent.pipes import piped
from tests.cli.shell import Shell
from tests.models.script import Call, Fail, Say, Turn
from tests.models.server import scripted
from tests.requirements import requirement


def test_each_line_is_a_message_and_each_answer_a_line(shell: Shell) -> None:
    with scripted(Say("One."), Say("Two.")) as server:
        ran = piped(shell, "chat", *at(server), lines=["first", "", "second"])
    assert (ran.code, ran.out) == (0, "One.\nTwo.\n")
    assert server.seen[1].users == ("first", "second")


@requirement("AF-2")
def test_a_call_is_one_plain_line_on_standard_error(workshop: Shell) -> None:
    bridged = Call("measure_length", {"item": "plank", "unit": "cm"})
    with scripted(Turn("I measure.", calls=(bridged,)), Say("40 cm.")) as server:
        ran = piped(workshop, "chat", *at(server), lines=["how long?"])
    assert ran.out == "I measure.\n40 cm.\n"
    line = ran.err.splitlines()[0]
    assert re.fullmatch(r'✓ measure_length\(item: "plank", unit: "cm"\)  \d+ ms, \d+ tokens', line)
    assert "\x1b" not in ran.err


def test_nobody_can_be_asked_so_the_answer_is_no(shell: Shell) -> None:
    with scripted(Call("terminal", {"command": "touch never"}), Say("Sorry.")) as server:
        ran = piped(shell, "chat", *at(server), lines=["do it"])
    assert "✗ terminal" in ran.err
    assert "Only a person can approve it" in server.seen[1].results[0].text
    assert not (shell.folder / "never").exists()
    assert "clarify" not in server.seen[0].names


def test_with_yes_everything_runs_and_that_is_said_first(shell: Shell) -> None:
    with scripted(Call("terminal", {"command": "echo ran > log"}), Say("Done.")) as server:
        ran = piped(shell, "chat", "--yes", *at(server), lines=["do it"])
    assert "--yes" in ran.err.splitlines()[0]
    assert (shell.folder / "log").read_text() == "ran\n"
    assert not (shell.folder / "data/tooldrawer/grants.json").exists()


def test_a_failure_is_told_and_the_next_line_is_answered(shell: Shell) -> None:
    with scripted(Fail(400, "no luck"), Say("Better.")) as server:
        ran = piped(shell, "chat", *at(server), lines=["one", "two"])
    assert ran.out == "Better.\n"
    assert "no luck" in ran.err
    assert ran.code == 0


def test_a_last_line_that_failed_shows_in_the_exit_code(shell: Shell) -> None:
    with scripted(Fail(400, "no luck")) as server:
        ran = piped(shell, "chat", *at(server), lines=["one"])
    assert (ran.code, ran.out) == (1, "")


def test_without_a_model_the_lines_that_help_are_shown(shell: Shell) -> None:
    ran = piped(shell, "chat", lines=["hello"])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("No model was chosen")
    assert sum("tooldrawer chat" in line for line in ran.err.splitlines()) == 3


def test_a_word_after_chat_is_explained(shell: Shell) -> None:
    assert "--resume" in shell.run("chat", "hello").refusal
