"""What happens around the line that a person is writing."""

import json
import os
import signal
import sys
from pathlib import Path

from tests.cli.agent.agents import at
from tests.cli.agent.terminal import CTRL_C, CTRL_D, terminal
from tests.cli.shell import Shell
from tests.models.script import Call, Say
from tests.models.server import scripted

CTRL_Z = "\x1a"
STUCK = """
import sys
from threading import Event
from tooldrawer import FunctionToolset
from tooldrawer.search.engine import SearchEngine

def search(*arguments):
    print("searching", file=sys.stderr, flush=True)
    Event().wait()

SearchEngine.search = search
tools = FunctionToolset("stuck", [])
"""


def announced(shell: Shell) -> Path:
    """Configure a server that starts once somebody reads its process id from this pipe."""
    pipe = shell.folder / "pid.pipe"
    os.mkfifo(pipe)
    # In a configuration two of them stand for one.
    start = f"echo $$$$ > {pipe}; exec {sys.executable} -m tooldrawer.bench.peers.echo"
    entry = json.dumps({"command": "sh", "args": ["-c", start]})
    shell.write("tooldrawer.yaml", f"mcp_servers:\n  echo: {entry}\n")
    return pipe


def test_a_server_that_dies_is_told_at_once_above_what_is_being_written(shell: Shell) -> None:
    pipe = announced(shell)
    with (
        scripted(Call("mcp_echo_echo", {"message": "hi"}), Say("Hi."), Say("Read.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        process = int(pipe.read_text())
        person.prompted()
        person.enter("say hi")
        person.until("Hi.")
        person.prompted()
        person.type("half a mess")
        person.until("mess")
        os.kill(process, signal.SIGKILL)
        person.until("echo is down: ")
        person.until("> half a mess")
        pipe.read_text()
        person.until("echo is up with 2 tools")
        person.until("> half a mess")
        lines = person.shown.splitlines()
        assert lines[-1] == "> half a mess"
        assert sum("half a mess" in line for line in lines) == 1
        person.enter("age")
        person.until("Read.")
        person.prompted()
    assert server.seen[-1].last_user == "half a message"


def test_ctrl_c_ends_a_command_and_the_chat_goes_on(shell: Shell) -> None:
    shell.write("stuck.py", STUCK)
    shell.write("tooldrawer.yaml", 'toolsets: ["stuck:tools"]\n')
    with (
        scripted(Say("Still here.")) as server,
        terminal(shell, "chat", *at(server)) as person,
    ):
        person.prompted()
        person.enter("/find anything")
        person.until("searching")
        person.type(CTRL_C)
        person.until("Stopped.")
        person.prompted()
        person.enter("hello?")
        person.until("Still here.")
        person.prompted()
        person.type(CTRL_D)
        assert person.ended() == 0


def test_ctrl_c_in_a_terminal_that_can_only_write_lines_ends_the_chat_when_pressed_twice(
    shell: Shell,
) -> None:
    with (
        scripted() as server,
        terminal(shell.with_variables(TERM="dumb"), "chat", *at(server)) as person,
    ):
        person.until("> ")
        person.type(CTRL_C)
        person.until("Ctrl-C again ends")
        person.until("> ")
        person.type(CTRL_C)
        assert person.ended() == 0
        assert "Traceback" not in person.raw


def test_ctrl_z_goes_back_to_the_shell_and_fg_to_the_line(shell: Shell) -> None:
    script = 'set -m; "$@"; echo back in the shell; fg'
    with (
        scripted(Say("Read.")) as server,
        terminal(shell, "chat", *at(server), script=script) as person,
    ):
        person.prompted()
        person.type("half a mess")
        person.until("mess")
        person.type(CTRL_Z)
        person.until("back in the shell")
        person.until("> half a mess")
        person.enter("age")
        person.until("Read.")
        person.prompted()
    assert server.seen[0].last_user == "half a message"


def test_a_person_whose_answers_go_through_a_pipe_is_shown_when_it_is_their_turn(
    shell: Shell,
) -> None:
    with (
        scripted(Say("One."), Say("Two.")) as server,
        terminal(shell, "chat", *at(server), script='"$@" | tee answers') as person,
    ):
        for answer in ("One.", "Two."):
            person.until("> ")
            person.enter("hello")
            person.until(answer)
        person.until("> ")
        person.type(CTRL_D)
        person.ended()
    assert (shell.folder / "answers").read_text() == "One.\nTwo.\n"


def test_in_60_columns_nothing_is_cut_off_and_no_word_is_broken(shell: Shell) -> None:
    with scripted(Say("One.")) as server:
        with terminal(shell, "chat", *at(server), columns=60) as person:
            person.prompted()
            person.enter("about the apples in the garden behind the house of my aunt")
            person.until("One.")
            person.prompted()
            person.enter("/savings")
            person.until("show.")
            person.prompted()
            assert "\nSaved nothing, because the drawer stayed open: the tools\n" in person.shown
        with terminal(shell, "chat", *at(server), columns=60) as person:
            person.prompted()
            person.enter("/resume")
            person.until("Go on with one")
            person.prompted()
            head = next(row for row in person.shown.splitlines() if row.startswith("id "))
            assert head.split()[-2:] == ["last", "messages"]
            assert " ago          1\n" in person.shown
