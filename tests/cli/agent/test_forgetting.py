"""A conversation that was kept can be deleted, and then nothing of it is left."""

import re

from tests.cli.agent.agents import at
from tests.cli.agent.pipes import piped
from tests.cli.shell import Shell
from tests.models.script import Call, Say, Script
from tests.models.server import scripted


def kept(shell: Shell, word: str) -> bool:
    files = [file for file in (shell.folder / "data").rglob("*") if file.is_file()]
    return any(word.encode() in file.read_bytes() for file in files)


def test_one_is_deleted_with_its_subagents_and_the_others_stay(shell: Shell) -> None:
    child = Script([Say("The quince is ripe.")], first="look at the tree")
    task = Call("delegate_task", {"task": "look at the tree", "toolsets": ["core"]})
    with scripted(child, task, Say("Ripe."), Say("Two."), Say("Found.")) as server:
        piped(shell, "chat", *at(server), lines=["about quinces"])
        piped(shell, "chat", *at(server), lines=["about walnuts"])
        assert kept(shell, "quince")
        listed = shell.run("forget").text
        identity = next(row for row in listed.splitlines() if "quinces" in row).split()[0]
        ran = piped(shell, "chat", *at(server), lines=[f"/forget {identity}", "/resume"])
    assert ran.out.startswith(f"Deleted {identity}: about quinces\n")
    assert "about walnuts" in ran.out
    assert not kept(shell, "quince")
    assert not kept(shell, "look at the tree")
    assert kept(shell, "walnuts")


def test_what_stays_can_still_be_found_by_its_words(shell: Shell) -> None:
    search = Call("session_search", {"query": "walnuts quinces"})
    with scripted(Say("One."), Say("Two."), search, Say("Found.")) as server:
        piped(shell, "chat", *at(server), lines=["about walnuts"])
        piped(shell, "chat", *at(server), lines=["about quinces"])
        listed = shell.run("forget").text
        identity = next(row for row in listed.splitlines() if "quinces" in row).split()[0]
        assert shell.run("forget", identity).text == f"Deleted {identity}: about quinces\n"
        piped(shell, "chat", *at(server), lines=["what did I say?"])
    found = server.seen[-1].results[0].text
    assert "about walnuts" in found
    assert "about quinces" not in found


def test_the_one_that_is_going_on_gives_way_to_a_new_one(shell: Shell) -> None:
    with scripted(Say("Noted."), Say("What colour?")) as server:
        first = piped(shell, "chat", *at(server), lines=["it is red", "/forget"])
        identity = re.findall(r"this one is (\S+)\.", first.out)[0]
        lines = [f"/forget {identity}", "which colour?"]
        ran = piped(shell, "chat", "--resume", identity, *at(server), lines=lines)
    assert "That was this conversation; a new one begins." in ran.out
    assert server.seen[1].users == ("which colour?",)
    assert not kept(shell, "it is red")


def test_all_are_deleted_at_once(shell: Shell) -> None:
    with scripted(Say("One."), Say("Two.")) as server:
        piped(shell, "chat", *at(server), lines=["about quinces"])
        piped(shell, "chat", *at(server), lines=["about walnuts"])
    assert shell.run("forget", "--all").text.startswith("Deleted 2 conversations")
    assert not kept(shell, "about")
    assert shell.run("forget").text == "No conversation is kept.\n"


def test_a_mistake_deletes_nothing(shell: Shell) -> None:
    with scripted(Say("One.")) as server:
        piped(shell, "chat", *at(server), lines=["about quinces"])
    row = next(row for row in shell.run("forget").text.splitlines() if "quinces" in row)
    ran = shell.run("forget", row.split()[0], "nosuch")
    assert (ran.code, ran.out) == (2, "")
    assert "There is no conversation 'nosuch'" in ran.err
    assert "--all" in shell.run("forget", row.split()[0], "--all").refusal
    assert kept(shell, "about quinces")


def test_where_nothing_is_kept_nothing_is_deleted(shell: Shell) -> None:
    with scripted() as server:
        ran = piped(shell, "chat", "--no-store", *at(server), lines=["/forget abcd"])
    assert "not kept here" in ran.out
