"""A conversation is kept, and goes on where it was."""

import signal

from tests.cli.agent.agents import Lasting, at, ends
from tests.cli.agent.pipes import piped
from tests.cli.agent.terminal import terminal
from tests.cli.agent.test_run import CLOSED
from tests.cli.shell import Shell
from tests.models.script import Call, Say
from tests.models.server import scripted
from tests.requirements import requirement


def test_the_last_conversation_of_the_folder_goes_on(shell: Shell) -> None:
    with scripted(Say("Red, noted."), Say("It was red.")) as server:
        piped(shell, "chat", *at(server), lines=["my colour is red"])
        ran = piped(shell, "chat", "--continue", *at(server), lines=["which colour?"])
    assert "you:   my colour is red" in ran.out
    assert "model: Red, noted." in ran.out
    assert ran.out.endswith("It was red.\n")
    assert server.seen[1].users == ("my colour is red", "which colour?")


def test_one_is_chosen_from_a_list(shell: Shell) -> None:
    with scripted(Say("One."), Say("Two."), Say("Going on.")) as server:
        piped(shell, "chat", *at(server), lines=["about apples"])
        piped(shell, "chat", *at(server), lines=["about pears"])
        with terminal(shell, "chat", "--resume", *at(server)) as person:
            person.until("Which one?")
            rows = [row for row in person.shown.splitlines() if "about" in row]
            apples = next(row for row in rows if "apples" in row).split()[0]
            person.enter(apples)
            person.until("Going on with")
            person.prompted()
            person.enter("and now?")
            person.until("Going on.")
            person.prompted()
    assert server.seen[2].users == ("about apples", "and now?")


def test_a_chat_can_go_over_to_another_conversation(shell: Shell) -> None:
    with scripted(Say("One."), Say("Two.")) as server:
        piped(shell, "chat", *at(server), lines=["about apples"])
        listed = piped(shell, "chat", *at(server), lines=["/resume"])
        identity = next(row for row in listed.out.splitlines() if "apples" in row).split()[0]
        letters = identity.partition("-")[2]
        piped(shell, "chat", *at(server), lines=[f"/resume {letters}", "and now?"])
    assert server.seen[1].users == ("about apples", "and now?")


def test_after_a_kill_the_conversation_goes_on_with_every_call_answered(shell: Shell) -> None:
    lasting = Lasting(shell.folder)
    with scripted(Call("terminal", {"command": lasting.command}), Say("I see.")) as server:
        with terminal(shell, "chat", "--yes", *at(server)) as person:
            person.prompted()
            person.enter("run it")
            process = lasting.started()
            person.kill(signal.SIGKILL)
            assert person.ended() == -signal.SIGKILL
        ran = piped(shell, "chat", "--continue", *at(server), lines=["what happened?"])
    assert ran.out.endswith("I see.\n")
    assert server.seen[1].users == ("run it", "what happened?")
    assert "Interrupted" in server.seen[1].results[0].text
    assert ends(process)


def test_what_is_not_kept_cannot_be_resumed(shell: Shell) -> None:
    with scripted(Say("Forgotten.")) as server:
        with terminal(shell, "chat", "--no-store", *at(server)) as person:
            person.prompted()
            person.enter("a secret")
            person.until("Forgotten.")
            person.prompted()
            person.enter("/resume")
            person.until("not kept here")
            person.prompted()
        kept = [file for file in (shell.folder / "data").rglob("*") if file.is_file()]
        assert not any(b"a secret" in file.read_bytes() for file in kept)
        ran = piped(shell, "chat", "--continue", *at(server), lines=["hello"])
    assert (ran.code, ran.out) == (2, "")
    assert "No conversation was kept in this folder" in ran.err
    assert "--no-store" in shell.run("chat", "--no-store", "--continue").refusal


def test_a_conversation_of_another_scope_is_not_shown(workshop: Shell) -> None:
    with scripted(Say("Burnt.")) as server:
        piped(workshop, "chat", *at(server), lines=["burn it"])
        narrow = ("chat", "--scope", "measuring", *at(server))
        last = piped(workshop, *narrow, "--continue", lines=["hello"])
        listed = piped(workshop, *narrow, lines=["/resume"])
    assert last.code == 2
    assert "No other conversation" in listed.out


@requirement("SCOPE-2")
def test_a_scope_and_a_toolset_of_one_name_keep_their_conversations_apart(
    workshop: Shell,
) -> None:
    workshop.write("tooldrawer.yaml", f'{CLOSED}  workshop: {{allow: ["measure_*"]}}\n')
    with scripted(Say("Burnt.")) as server:
        piped(workshop, "chat", "--toolsets", "workshop", *at(server), lines=["burn it"])
        listed = piped(workshop, "chat", "--scope", "workshop", *at(server), lines=["/resume"])
    assert "No other conversation" in listed.out


def test_an_id_that_nobody_has_is_told_with_the_nearest(shell: Shell) -> None:
    with scripted(Say("One.")) as server:
        piped(shell, "chat", *at(server), lines=["about apples"])
        ran = piped(shell, "chat", *at(server), "--resume", "nosuch", lines=["hello"])
    assert ran.code == 2
    assert "There is no conversation 'nosuch'" in ran.err
    assert "about apples" in ran.err
