"""`approve` and `deny`: a person sees the exact call, and their word reaches it."""

import os

import pytest

from tests.cli.gateways import gateway, user
from tests.cli.shell import Shell
from tests.cli.test_status import another
from tooldrawer import Answer
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


def test_secrets_are_masked_by_their_key_and_nothing_else_is(shell: Shell) -> None:
    text = "Bearer abcdefghijklmnop"
    with gateway(shell) as running:
        running.ask({"api_key": "hunter2", "body": text, "list": [{"password": "hunter3"}]})
        shown = user(shell).run("approve").text
    assert "hunter" not in shown
    assert '"api_key": "***"' in shown
    assert '"password": "***"' in shown
    assert f'"body": "{text}"' in shown


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
        (("approve", "--always"), Answer.ALWAYS, "Approved for good, "),
        (("deny",), Answer.NO, "Refused; the model is told "),
    ],
)
def test_a_persons_word_reaches_the_call(
    shell: Shell, command: tuple[str, ...], answer: Answer, said: str
) -> None:
    with gateway(shell) as running:
        entry = running.ask(MILK)
        running.ask({"title": "tea"})
        shown = user(shell).run(*command, entry.id).text
        assert '"title": "milk"' in shown
        assert said in shown
        assert running.taken({"title": "tea"}) is None
        assert running.taken(MILK) is answer


def test_a_person_may_take_back_what_they_said(shell: Shell) -> None:
    with gateway(shell) as running, another(shell):
        entry = running.ask(MILK)
        assert "Approved" in user(shell).run("approve", entry.id).text
        assert "Refused" in user(shell).run("deny", entry.id).text
        assert running.taken(MILK) is Answer.NO


@pytest.mark.parametrize("name", ["zzzz", "a/b", "..", "%2e", "é", "-- -x"])
@pytest.mark.parametrize("command", ["approve", "deny"])
def test_an_id_that_nobody_has_is_refused_in_a_sentence(
    shell: Shell, command: str, name: str
) -> None:
    with gateway(shell) as running:
        running.ask(MILK)
        refusal = user(shell).run(command, "--", name).refusal
        assert refusal.startswith(f"No call waits as {name}: ")
        assert "`tooldrawer approve`" in refusal
        assert running.taken(MILK) is None


def test_a_call_whose_time_ran_out_is_refused_in_a_sentence(shell: Shell) -> None:
    with gateway(shell, pending=Pending(lifetime=0.0)) as running:
        entry = running.ask(MILK)
        assert "No call waits as" in user(shell).run("approve", entry.id).refusal


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
        chosen = user(shell).run("approve", entry.id, "--pid", str(process.pid))
        assert "No call waits as" in chosen.refusal
        assert "Approved" in user(shell).run("approve", entry.id).text
        assert running.taken(MILK) is Answer.ONCE
