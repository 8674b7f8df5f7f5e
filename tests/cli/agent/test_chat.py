"""A person talks to an agent in a terminal."""

import re
import signal
from pathlib import Path
from threading import Event

import pytest

from tests.cli.agent.agents import Lasting, at, is_there
from tests.cli.agent.terminal import CTRL_C, CTRL_D, ENTER, UP, terminal
from tests.cli.shell import Shell
from tests.models.script import Call, Cut, Fail, Hold, Say, Script, Turn
from tests.models.server import scripted
from tests.requirements import requirement

COLOUR = re.compile(r"\x1b\[(\d+;)*(3[0-7]|4[0-7]|9[0-7]|38|48)[;\dm]")


def test_a_message_is_answered_and_the_conversation_goes_on(shell: Shell) -> None:
    with (
        scripted(Say("Hello to you."), Say("Still here.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        assert "scripted at 127.0.0.1" in person.shown
        assert "/help" in person.shown
        person.enter("good morning")
        person.until("Hello to you.")
        person.prompted()
        person.enter("and now?")
        person.until("Still here.")
        person.prompted()
        person.type(CTRL_D)
        assert person.ended() == 0
        assert "Saved nothing" in person.shown
    assert server.seen[1].users == ("good morning", "and now?")


def test_the_answer_is_shown_while_it_comes(shell: Shell) -> None:
    with (
        scripted(Cut(Say("The first half is here already"), after=4), Say("Whole.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("go")
        person.until("The first")
        person.until("Asking again")
        person.until("Whole.")
        person.prompted()


def test_what_the_model_writes_cannot_redraw_the_terminal(shell: Shell) -> None:
    with (
        scripted(Say("before\x1b[2J\x1b]0;title\x07after\u202e")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("go")
        person.until("after")
        person.prompted()
        assert "\\u001b[2J" in person.shown
        assert "\x1b[2J" not in person.raw
        assert "\x1b]0;" not in person.raw


@requirement("AF-2")
def test_a_call_is_one_line_with_the_real_tool_its_arguments_and_its_time(
    workshop: Shell,
) -> None:
    workshop.write(
        "tooldrawer.yaml", 'toolsets: ["workshop:tools"]\ntools: {tool_search: {enabled: on}}\n'
    )
    calls = (
        Call("tool_search", {"query": "how long is it"}),
        Call("tool_describe", {"name": "measure_length"}),
        Call("tool_call", {"name": "measure_length", "arguments": {"item": "plank"}}),
    )
    with (
        scripted(*calls, Say("40 mm.")) as server,
        terminal(workshop, "chat", *at(server)) as person,
    ):
        person.prompted()
        assert "8 in the drawer" in person.shown
        person.enter("how long is the plank?")
        person.until("40 mm.")
        person.prompted()
        lines = person.shown.splitlines()
        assert any(re.fullmatch(r"· searched 'how long is it': \d found", line) for line in lines)
        assert "· described measure_length" in lines
        call = r'✓ measure_length\(item: "plank"\)  \d+ ms, \d+ tokens'
        assert any(re.fullmatch(call, line) for line in lines)
        assert not any("tool_call" in row for row in person.rows)
        person.enter("/savings")
        person.until("because")
        person.prompted()


def test_calls_at_the_same_time_have_a_line_each(shell: Shell) -> None:
    first, second = shell.folder / "first", shell.folder / "second"
    meet = f"touch {first}; until test -e {second}; do :; done"
    met = f"touch {second}; until test -e {first}; do :; done"
    both = Turn(calls=(Call("terminal", {"command": meet}), Call("terminal", {"command": met})))
    with (
        scripted(both, Say("Both ran.")) as server,
        terminal(shell, "chat", "--yes", *at(server)) as person,
    ):
        person.prompted()
        assert "--yes" in person.shown
        person.enter("go")
        person.until("Both ran.")
        person.prompted()
        assert len(re.findall(r"^✓ terminal\(.*tokens$", person.shown, re.MULTILINE)) == 2


@pytest.mark.parametrize(
    ("answer", "asked_again", "kept"),
    [("y", True, False), ("s", False, False), ("a", False, True)],
)
def test_an_approval_holds_as_long_as_the_person_says(
    shell: Shell, answer: str, *, asked_again: bool, kept: bool
) -> None:
    call = Call("terminal", {"command": "echo done >> log"})
    with (
        scripted(call, Say("First."), call, Say("Second.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("go")
        person.until("[N]o: ")
        assert "terminal" in person.shown
        assert '"command": "echo done >> log"' in person.shown
        person.enter(answer)
        person.until("First.")
        person.prompted()
        person.enter("again")
        if asked_again:
            person.until("[N]o: ")
            person.enter("y")
        person.until("Second.")
        person.prompted()
        assert person.raw.count("[N]o: ") == (2 if asked_again else 1)
    assert (shell.folder / "log").read_text() == "done\n" * 2
    assert (shell.folder / "data/tooldrawer/grants.json").exists() is kept


@pytest.mark.parametrize("keys", [f"n{ENTER}", CTRL_D])
def test_a_no_stops_the_call_and_is_told_to_the_model(shell: Shell, keys: str) -> None:
    with (
        scripted(Call("terminal", {"command": "touch never"}), Say("Understood.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("go")
        person.until("[N]o: ")
        person.type(keys)
        person.until("refused: a person said no")
        person.until("Understood.")
        person.prompted()
    assert "said no" in server.seen[1].results[0].text
    assert not (shell.folder / "never").exists()


def test_a_question_of_the_model_is_put_to_the_person(shell: Shell) -> None:
    asked = Call("clarify", {"question": "Tea or coffee?", "choices": ["tea", "coffee"]})
    with (
        scripted(asked, Say("Good.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("make me a drink")
        person.until("2. coffee")
        person.until("words): ")
        person.enter("2")
        person.until("Good.")
        person.prompted()
    assert server.seen[1].results[0].text == "coffee"


def test_ctrl_c_ends_what_runs_and_the_chat_goes_on(shell: Shell) -> None:
    lasting = Lasting(shell.folder)
    with (
        scripted(Call("terminal", {"command": lasting.command}), Say("Never mind.")) as server,
        terminal(shell, "chat", "--yes", *at(server)) as person,
    ):
        person.prompted()
        person.enter("wait for it")
        process = lasting.started()
        assert is_there(process)
        person.type(CTRL_C)
        person.until("stopped after")
        person.until("Stopped.")
        assert not is_there(process)
        person.prompted()
        person.enter("forget it")
        person.until("Never mind.")
        person.prompted()
    assert "Interrupted by the user" in server.seen[1].results[0].text


def test_ctrl_c_while_the_model_works_ends_the_request(shell: Shell) -> None:
    with (
        scripted(Hold(Event(), Say("late")), Say("Here.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("think")
        server.wait_for(1)
        person.type(CTRL_C)
        person.until("Stopped.")
        person.prompted()
        person.enter("hello?")
        person.until("Here.")
        person.prompted()
    assert server.seen[1].last_user.endswith("hello?")


def test_ctrl_c_at_the_prompt_clears_it_and_twice_ends_the_chat(shell: Shell) -> None:
    with scripted() as server, terminal(shell, "chat", *at(server)) as person:
        person.prompted()
        person.type("half a thought")
        person.until("thought")
        person.type(CTRL_C)
        person.type(CTRL_C)
        person.until("Ctrl-C again ends")
        person.prompted()
        person.type(CTRL_C)
        assert person.ended() == 0
    assert server.requests == []


def test_rows_stay_within_a_window_that_becomes_narrower(shell: Shell) -> None:
    lasting = Lasting(shell.folder)
    command = f"{lasting.command} # {'漢字' * 30}"
    with (
        scripted(Call("terminal", {"command": command}), Say("Done.")) as server,
        terminal(shell, "chat", "--yes", *at(server)) as person,
    ):
        person.prompted()
        person.enter("go")
        lasting.started()
        person.until("terminal(")
        person.drawn()
        person.resize(40)
        while person.widest(person.drawn()) >= 40:
            pass  # it was on its way
        assert all(20 < person.widest(person.drawn()) < 40 for _ in range(3))
        person.type(CTRL_C)
        person.until("Stopped.")
        person.prompted()
        assert sum("terminal(" in line for line in person.shown.splitlines()) == 1


def test_without_colour_nothing_is_coloured(shell: Shell) -> None:
    with (
        scripted(Call("todo", {}), Say("Plain.")) as server,
        terminal(shell.with_variables(NO_COLOR="1"), "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("go")
        person.until("todo(")
        person.until("Plain.")
        person.prompted()
        assert not COLOUR.search(person.raw)


def test_a_terminal_that_can_only_write_lines_gets_lines(shell: Shell) -> None:
    with (
        scripted(Call("todo", {}), Say("Plain.")) as server,
        terminal(shell.with_variables(TERM="dumb"), "chat", *at(server)) as person,
    ):
        person.until("> ")
        person.enter("go")
        person.until("✓ todo(")
        person.until("Plain.")
        person.until("> ")
        person.enter("/quit")
        assert person.ended() == 0
        assert not re.search(r"\x1b\[[\d;]*[mJKA]", person.raw)


def test_a_failure_of_the_model_is_a_sentence_and_the_chat_goes_on(shell: Shell) -> None:
    with (
        scripted(Fail(400, "too hot today"), Say("Cooler now.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("hello")
        person.until("refused the request (HTTP 400): too hot today.")
        person.prompted()
        person.type(UP)
        person.until("hello")
        person.enter("")
        person.until("Cooler now.")
        person.prompted()


def test_text_of_several_lines_can_be_pasted(shell: Shell) -> None:
    with scripted(Say("Read.")) as server, terminal(shell, "chat", *at(server)) as person:
        person.prompted()
        person.type("\x1b[200~first\nsecond\x1b[201~")
        person.until("second")
        person.enter("")
        person.until("Read.")
        person.prompted()
    assert server.seen[0].last_user == "first\nsecond"


def test_a_subagents_calls_are_below_its_own_name(shell: Shell) -> None:
    child = Script([Call("search_files", {"pattern": "x"}), Say("Nothing.")], first="look around")
    task = {"task": "look around", "toolsets": ["core"]}
    with (
        scripted(child, Call("delegate_task", task), Say("It found nothing.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("have somebody look")
        person.until("It found nothing.")
        person.prompted()
        assert "\n  ✓ chat.1 search_files(" in person.shown
        assert "\n✓ delegate_task(" in person.shown


def test_a_terminal_that_is_closed_ends_the_chat_and_what_it_runs(shell: Shell) -> None:
    lasting = Lasting(shell.folder)
    with (
        scripted(Call("terminal", {"command": lasting.command})) as server,
        terminal(shell, "chat", "--yes", *at(server)) as person,
    ):
        person.prompted()
        person.enter("go")
        process = lasting.started()
        person.kill(signal.SIGTERM)
        assert person.ended() == 128 + signal.SIGTERM
        assert not is_there(process)


def test_read_only_runs_nothing_that_may_change_something(shell: Shell, tmp_path: Path) -> None:
    with (
        scripted(Call("write_file", {"path": "new", "content": "x"}), Say("As you say.")) as server,
        terminal(shell, "chat", "--read-only", *at(server)) as person,
    ):
        person.prompted()
        assert "--read-only" in person.shown
        person.enter("write it")
        person.until("refused: ")
        person.until("As you say.")
        person.prompted()
    assert not (tmp_path / "new").exists()
