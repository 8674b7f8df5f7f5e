"""Lines that begin with a slash are for the chat itself, and no model sees them."""

import re

from tests.cli.agent.agents import at
from tests.cli.agent.pipes import piped
from tests.cli.agent.terminal import terminal
from tests.cli.shell import Shell
from tests.models.script import Call, Say
from tests.models.server import scripted

CLOSED = 'toolsets: ["workshop:tools"]\ntools: {tool_search: {enabled: on}}\n'


def test_tools_are_listed_by_toolset(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    with scripted() as server:
        ran = piped(workshop, "chat", *at(server), lines=["/tools"])
    assert ran.code == 0
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["core", "9", "0"] in rows
    assert ["workshop", "0", "8"] in rows
    assert "Tool search is active" in ran.out
    assert server.requests == []


def test_one_toolset_or_one_tool_is_shown_by_its_name(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    with scripted() as server:
        lines = ["/tools workshop", "/tools measure_weight", "/tools measure_wieght"]
        ran = piped(workshop, "chat", *at(server), lines=lines)
    rows = [line.split()[:2] for line in ran.out.splitlines()]
    assert ["measure_weight", "deferred"] in rows
    assert ["terminal", "direct"] not in rows
    assert "measure_weight(" in ran.out
    assert "From workshop, deferred." in ran.out
    assert "no toolset or tool of that name. The nearest are: measure_weight" in ran.out


def test_tools_are_found_by_what_they_do(workshop: Shell) -> None:
    with scripted() as server:
        ran = piped(workshop, "chat", *at(server), lines=["/find how heavy", "/find"])
    assert "measure_weight" in ran.out.splitlines()[2]
    assert "Say what the tool should do" in ran.out


def test_a_scope_shows_only_what_is_in_it(workshop: Shell) -> None:
    with scripted() as server:
        options = ("--scope", "measuring", *at(server))
        lines = ["/scope", "/tools", "/find burn", "/scope other", "/scope measuring"]
        ran = piped(workshop, "chat", *options, lines=lines)
    assert "Scope: measuring, 2 tools." in ran.out
    assert "burn_scraps" not in ran.out
    assert "There is no scope named 'other'; configured are: measuring." in ran.out
    assert "tooldrawer chat --scope measuring" in ran.out


def test_savings_are_told_with_their_reason(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    search = Call("tool_search", {"query": "measure"})
    with scripted(search, Say("Done.")) as server:
        lines = ["/savings", "measure it", "/savings"]
        ran = piped(workshop, "chat", *at(server), lines=lines)
    first, answer, second = ran.out.splitlines()
    assert first == "Nothing was sent to the model."
    assert answer == "Done."
    assert re.match(r"(Saved|Lost) \d+ tokens", second)
    assert ran.err.splitlines()[-1] == second


def test_the_model_is_told_with_its_context(shell: Shell) -> None:
    with scripted() as server:
        options = ("--context-length", "32000", *at(server))
        ran = piped(shell, "chat", *options, lines=["/model", "/model gpt-5.4"])
    assert "scripted at 127.0.0.1" in ran.out
    assert "reads 32,000" in ran.out
    assert "tooldrawer chat --model gpt-5.4" in ran.out


def test_a_new_conversation_knows_nothing_of_the_one_before(shell: Shell) -> None:
    with scripted(Say("Noted."), Say("What colour?")) as server:
        piped(shell, "chat", *at(server), lines=["it is red", "/new", "which colour?"])
    assert server.seen[1].users == ("which colour?",)


def test_a_new_conversation_tells_the_way_back_only_where_there_is_one(shell: Shell) -> None:
    with scripted(Say("Noted."), Say("Noted.")) as server:
        kept = piped(shell, "chat", *at(server), lines=["it is red", "/new", "/new"])
        unkept = piped(shell, "chat", "--no-store", *at(server), lines=["it is red", "/new"])
    answer, first, second = kept.out.splitlines()
    assert re.fullmatch(r"A new conversation\. /resume \d{6}-\w{4} goes back\.", first)
    assert second == "A new conversation."
    assert unkept.out.splitlines() == [answer, "A new conversation."]


def test_an_unknown_command_names_the_nearest(shell: Shell) -> None:
    with scripted() as server:
        ran = piped(shell, "chat", *at(server), lines=["/tols", "/xyz", "/HELP", "/quit", "no"])
    assert "There is no /tols; did you mean /tools?" in ran.out
    assert "There is no /xyz. /help lists them all." in ran.out
    assert "/savings" in ran.out
    assert server.requests == []


def test_a_path_is_no_command(shell: Shell) -> None:
    with scripted(Say("A file.")) as server:
        ran = piped(shell, "chat", *at(server), lines=["/etc/hosts, what is it?"])
    assert ran.out == "A file.\n"


def test_commands_are_completed(shell: Shell) -> None:
    with scripted() as server, terminal(shell, "chat", *at(server)) as person:
        person.prompted()
        person.type("/sav")
        person.until("what the drawer saved")
        person.type("\t")
        person.enter("")
        person.until("Nothing was sent")
        person.prompted()
