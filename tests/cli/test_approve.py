"""`approve` and `deny`: a person sees the exact call, and their word reaches it."""

import os

import pytest

from tests.cli.gateways import gateway, request, user
from tests.cli.shell import PATIENCE, Shell
from tests.cli.test_status import another
from tests.requirements import requirement
from tooldrawer import Answer, Grants
from tooldrawer.dispatch import Grantee
from tooldrawer.gateway.pending import Pending
from tooldrawer.tool import JsonObject

MILK: JsonObject = {"title": "milk"}


def test_when_nothing_waits_it_says_so(shell: Shell) -> None:
    with gateway(shell):
        assert user(shell).run("approve").text == "No call waits for a person.\n"


def test_what_waits_is_shown_with_the_exact_arguments(shell: Shell) -> None:
    with gateway(shell) as running:
        entry = running.ask({"title": "milk", "deep": {"pages": [1, None, "é"]}})
        other = running.ask({"title": "tea"})
        shown = user(shell).run("approve").text
    assert shown.startswith(
        f"{entry.id}: 9 minutes left\n"
        "  Burn it?\n"
        "  tool:      desk_burn\n"
        "  toolset:   desk\n"
        "  asked by:  alice, support, scope triage\n"
        "  arguments: {\n"
        '               "title": "milk",\n'
        '               "deep": {\n'
        '                 "pages": [\n'
        "                   1,\n"
        "                   null,\n"
        '                   "\\u00e9"\n'
        "                 ]\n"
        "               }\n"
        "             }\n"
        "\n"
        f"{other.id}: 9 minutes left\n"
    )
    assert shown.endswith(
        "\nApprove one with `tooldrawer approve ID`, or refuse it with `tooldrawer deny ID`.\n"
    )


@requirement("TRUST-3")
def test_a_person_at_a_terminal_sees_the_arguments_unmasked(shell: Shell) -> None:
    secret = "td_" + "a1B2" * 10
    with gateway(shell) as running:
        running.ask({"api_key": "hunter2", "body": secret, "odd": "\x1b[2J\u202e\u200b\x07"})
        shown = user(shell).at_terminal("approve").text
        assert '"api_key": "hunter2"' in shown
        assert f'"body": "{secret}"' in shown
        assert '"odd": "\\u001b[2J\\u202e\\u200b\\u0007"' in shown


def test_without_a_terminal_secrets_are_masked(shell: Shell) -> None:
    with gateway(shell) as running:
        running.ask({"api_key": "hunter2", "body": "plain", "list": [{"password": "hunter3"}]})
        shown = user(shell).run("approve").text
        assert "hunter" not in shown
        assert '"api_key": "***"' in shown
        assert '"body": "plain"' in shown
        running.is_unattended_allowed = True
        assert '"api_key": "hunter2"' in user(shell).run("approve").text


@requirement("TRUST-3")
@pytest.mark.parametrize("option", [(), ("--session",), ("--always",)])
def test_a_process_without_a_terminal_cannot_approve(shell: Shell, option: tuple[str, ...]) -> None:
    with gateway(shell) as running:
        entry = running.ask(MILK)
        refusal = user(shell).run("approve", entry.id, *option).refusal
        assert "a call can be approved only by a person at a terminal." in refusal
        assert "unattended" not in refusal
        assert running.taken(MILK) is None
        assert list(running.grants.names()) == []
        running.is_unattended_allowed = True
        assert "Approved" in user(shell).run("approve", entry.id, *option).text


@requirement("TRUST-3")
def test_a_terminal_that_is_not_its_own_is_no_person(shell: Shell) -> None:
    keyboard, terminal = os.openpty()
    try:
        with gateway(shell) as running:
            entry = running.ask(MILK)
            with user(shell).started("approve", entry.id, stdin=terminal) as process:
                _, said = process.communicate(timeout=PATIENCE)
            assert "only by a person at a terminal" in said
            assert running.taken(MILK) is None
    finally:
        os.close(terminal)
        os.close(keyboard)


@requirement("DSP-12")
def test_always_is_stored_for_who_asked_before_the_command_returns(shell: Shell) -> None:
    with gateway(shell) as running:
        entry = running.ask(MILK)
        user(shell).at_terminal("approve", entry.id, "--always")
        stored = Grants(shell.folder / "grants.json")
        tool = request(MILK).tool
        assert stored.holds(tool, grantee=Grantee(principal="alice", scopes=("triage",)))
        assert not stored.holds(tool, grantee=Grantee(principal="alice"))
        assert not stored.holds(tool, grantee=Grantee(principal="bob", scopes=("triage",)))
        assert "No call waits as" in user(shell).run("deny", entry.id).refusal


def test_what_a_server_wrote_cannot_redraw_the_question(shell: Shell) -> None:
    with gateway(shell) as running:
        running.ask({"a": "\x1b[2J\u202e"}, question="Fine?\n  tool: \x1b[2Jharmless\u202e")
        shown = user(shell).run("approve").text
    assert "  Fine?\\u000a  tool: \\u001b[2Jharmless\\u202e\n" in shown
    assert '"a": "\\u001b[2J\\u202e"' in shown


@pytest.mark.parametrize(
    ("command", "answer", "said"),
    [
        (("approve",), Answer.ONCE, "Approved; it runs once, "),
        (("approve", "--session"), Answer.SESSION, "Approved for the session, "),
        (("approve", "--always"), None, "Approved for good, "),
        (("deny",), Answer.NO, "Refused; the model is told "),
    ],
)
def test_a_persons_word_reaches_the_call(
    shell: Shell, command: tuple[str, ...], answer: Answer | None, said: str
) -> None:
    with gateway(shell) as running:
        entry = running.ask(MILK)
        running.ask({"title": "tea"})
        shown = user(shell).at_terminal(*command, entry.id).text
        assert '"title": "milk"' in shown
        assert said in shown
        assert running.taken({"title": "tea"}) is None
        assert running.taken(MILK) is answer


def test_a_person_may_take_back_what_they_said(shell: Shell) -> None:
    with gateway(shell) as running, another(shell):
        entry = running.ask(MILK)
        assert "Approved" in user(shell).at_terminal("approve", entry.id).text
        assert "Refused" in user(shell).run("deny", entry.id).text
        assert running.taken(MILK) is Answer.NO


@pytest.mark.parametrize("name", ["zzzz", "a/b", "..", "%2e", "é", "-- -x"])
@pytest.mark.parametrize("command", ["approve", "deny"])
def test_an_id_that_nobody_has_is_refused_in_a_sentence(
    shell: Shell, command: str, name: str
) -> None:
    with gateway(shell) as running:
        running.ask(MILK)
        refusal = user(shell).at_terminal(command, "--", name).refusal
        assert refusal.startswith(f"No call waits as {name}: ")
        assert "`tooldrawer approve`" in refusal
        assert running.taken(MILK) is None


def test_a_call_whose_time_ran_out_is_refused_in_a_sentence(shell: Shell) -> None:
    with gateway(shell, pending=Pending(lifetime=0.0)) as running:
        entry = running.ask(MILK)
        assert "No call waits as" in user(shell).at_terminal("approve", entry.id).refusal


def test_two_answers_at_once_are_refused(shell: Shell) -> None:
    with gateway(shell) as running:
        entry = running.ask(MILK)
        both = user(shell).run("approve", entry.id, "--session", "--always")
        assert "--session or --always, not both" in both.refusal
        assert "Say which call" in user(shell).run("approve", "--always").refusal
        assert running.taken(MILK) is None


def test_with_several_gateways_the_call_is_found_where_it_waits(shell: Shell) -> None:
    with gateway(shell) as running, another(shell) as process:
        entry = running.ask(MILK)
        assert f"left, gateway {os.getpid()}\n" in user(shell).run("approve").text
        chosen = user(shell).at_terminal("approve", entry.id, "--pid", str(process.pid))
        assert "No call waits as" in chosen.refusal
        assert "Approved" in user(shell).at_terminal("approve", entry.id).text
        assert running.taken(MILK) is Answer.ONCE


def grants_of(shell: Shell) -> Grants:
    return Grants(shell.folder / "data" / "tooldrawer" / "grants.json")


@requirement("DSP-12")
def test_what_was_approved_for_good_is_listed_and_can_be_taken_back(shell: Shell) -> None:
    assert shell.run("approve", "--list").text == "Nothing is approved for good.\n"
    grants, tool = grants_of(shell), request(MILK).tool
    alice = Grantee(principal="token:alice", scopes=("triage",))
    grants.add(tool, ("rm \x1b[2J",), alice)
    grants.add(tool)
    (own, _), (other, _) = grants.entries()
    assert shell.run("approve", "--list").text == (
        f"{own.id}: desk_burn\n"
        "  for:   agents of this user that are not behind a gateway\n"
        f"{other.id}: desk_burn\n"
        "  for:   token:alice, scope triage\n"
        "  about: rm \\u001b[2J\n"
        "\n"
        "Take one back with `tooldrawer approve --revoke ID`.\n"
    )
    assert shell.run("approve", "--revoke", other.id).text == (
        "Taken back: desk_burn. A person is asked again before the next call.\n"
    )
    assert not grants.holds(tool, "rm \x1b[2J", alice)
    assert grants.holds(tool)
    assert "Nothing is approved for good as " in shell.run("approve", "--revoke", other.id).refusal


def test_secrets_in_what_was_asked_about_are_shown_to_a_person_only(shell: Shell) -> None:
    grants_of(shell).add(request(MILK).tool, ("login --password hunter2",))
    assert "  about: login --password ***\n" in shell.run("approve", "--list").text
    assert "  about: login --password hunter2\n" in shell.at_terminal("approve", "--list").text


def test_a_damaged_file_of_grants_is_reported_when_one_is_taken_back(shell: Shell) -> None:
    shell.write("data/tooldrawer/grants.json", "torn")
    for arguments in (("--list",), ("--revoke", "abcd")):
        assert "cannot be read" in shell.run("approve", *arguments).refusal


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--revoke",), "Say which: `tooldrawer approve --list` shows them."),
        (("--list", "abcd"), "--list shows all; leave the ID out."),
        (("--list", "--revoke"), "Leave out the other options"),
        (("--revoke", "abcd", "--always"), "Leave out the other options"),
    ],
)
def test_taking_back_needs_one_id(shell: Shell, arguments: tuple[str, ...], words: str) -> None:
    assert words in shell.run("approve", *arguments).refusal
