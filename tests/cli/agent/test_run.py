"""A worker without a person: one task, an exit code, and only what its scope admits."""

import json
import signal
import socket
import subprocess
import sys
from threading import Event
from typing import Any

import pytest

from tests.cli.agent.agents import Lasting, at, is_there
from tests.cli.agent.pipes import piped
from tests.cli.shell import Shell
from tests.models.script import Call, Fail, Hold, Repeat, Say, Script, Search, Turn
from tests.models.server import scripted
from tests.requirements import requirement

CLOSED = """\
toolsets: ["workshop:tools"]
tools: {tool_search: {enabled: on}}
scopes:
  measuring: {allow: ["measure_*"]}
"""


def test_the_answer_is_on_standard_output_and_the_rest_on_standard_error(shell: Shell) -> None:
    looked = Turn("I look first.", calls=(Call("search_files", {"pattern": "x"}),))
    with scripted(looked, Say("There is nothing.")) as server:
        ran = shell.run("run", *at(server), "look around")
    assert (ran.code, ran.out) == (0, "There is nothing.\n")
    remark, call, ledger = ran.err.splitlines()
    assert remark == "I look first."
    assert call.startswith("✓ search_files(")
    assert ledger.startswith("Saved nothing, because the drawer stayed open")


def test_the_task_can_be_piped_in(shell: Shell) -> None:
    with scripted(Say("Read.")) as server:
        ran = piped(shell, "run", *at(server), "-", lines=["first line", "second line"])
    assert ran.out == "Read.\n"
    assert server.seen[0].last_user.split("\n")[:2] == ["first line", "second line"]
    assert "There is no task" in shell.run("run", *at(server), "-").refusal


def test_a_task_without_an_end_is_exit_code_1(shell: Shell) -> None:
    with scripted(Repeat(Call("todo", {}))) as server:
        ran = shell.run("run", "--max-turns", "3", *at(server), "go on for ever")
    assert ran.code == 1
    assert len(server.requests) == 3
    assert "Not finished after 3 turns" in ran.err


def test_words_before_the_last_calls_are_told_once(shell: Shell) -> None:
    with scripted(Turn("I look.", calls=(Call("todo", {}),))) as server:
        ran = shell.run("run", "--max-turns", "1", *at(server), "look around")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[0] == "I look."


def test_a_reader_that_goes_away_ends_the_task_and_that_is_no_success(shell: Shell) -> None:
    with (
        scripted(Repeat(Call("todo", {}))) as server,
        shell.started("run", "--json", *at(server), "go on for ever") as process,
    ):
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "Assembled"
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 128 + signal.SIGPIPE


def test_a_reader_of_the_feed_that_goes_away_is_no_success_either(shell: Shell) -> None:
    with (
        scripted(Repeat(Call("todo", {}))) as server,
        shell.started("run", *at(server), "go on for ever") as process,
    ):
        assert process.stderr is not None
        assert process.stderr.readline().startswith("✓ todo()")
        process.stderr.close()
        assert process.wait(timeout=60) == 128 + signal.SIGPIPE


def test_a_wait_for_a_busy_endpoint_is_told_without_telling_anybody_to_try_again(
    shell: Shell,
) -> None:
    with scripted(Fail(429, "slow", headers={"retry-after": "0"}), Say("Here.")) as server:
        ran = shell.run("run", *at(server), "hello")
    assert ran.out == "Here.\n"
    wait = ran.err.splitlines()[0]
    assert "Asking again in" in wait
    assert "Try again" not in wait


@pytest.mark.parametrize("step", [Say(""), Turn("Too long", truncated=True)])
def test_an_answer_that_is_none_is_exit_code_1(shell: Shell, step: Say | Turn) -> None:
    with scripted(step) as server:
        assert shell.run("run", *at(server), "hello").code == 1


def test_json_is_one_object_a_line_with_every_event_and_the_outcome(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    called = Call("tool_call", {"name": "measure_length", "arguments": {"item": "nail"}})
    with scripted(Search("how long"), called, Say("40 mm.")) as server:
        ran = workshop.run("run", "--json", *at(server), "measure the nail")
    assert (ran.code, ran.err) == (0, "")
    lines: list[dict[str, Any]] = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["event"] for line in lines if line["event"] not in ("Assembled", "Said")] == [
        "Answered",
        "Searched",
        "Answered",
        "CallStarted",
        "CallFinished",
        "Answered",
        "Outcome",
    ]
    started = next(line for line in lines if line["event"] == "CallStarted")
    assert (started["tool"], started["arguments"]) == ("measure_length", {"item": "nail"})
    assert "".join(line["text"] for line in lines if line["event"] == "Said") == "40 mm."
    outcome = lines[-1]
    assert (outcome["event"], outcome["ending"], outcome["success"]) == ("Outcome", "done", True)
    assert (outcome["text"], outcome["turns"]) == ("40 mm.", 3)
    assert f"{abs(outcome['saved_tokens']):,} tokens" in outcome["savings"]


def test_nobody_is_asked_and_the_model_is_told_to_go_on_without_a_way_to_allow_it(
    shell: Shell,
) -> None:
    with scripted(Call("terminal", {"command": "touch never"}), Say("Not done.")) as server:
        ran = shell.run("run", *at(server), "do it")
    assert ran.code == 0
    told = server.seen[1].results[0].text
    assert "Only a person can approve it" in told
    assert not any(way in told for way in ("--", "`", "approvals", "always"))
    assert not (shell.folder / "never").exists()
    assert "clarify" not in server.seen[0].names


def test_a_person_who_reads_the_end_learns_how_to_allow_what_was_refused(shell: Shell) -> None:
    shell.write("tooldrawer.yaml", "approvals: {allow: [terminal]}\n")
    with scripted(Call("terminal", {"command": "ls"}), Say("Not done.")) as server:
        ran = shell.run("run", *at(server), "do it")
    row, hint, _ = ran.err.splitlines()
    assert row == '✗ terminal(command: "ls")  refused: nobody to ask'
    assert hint.startswith(
        'Nobody could be asked about 1 call. Allow such calls with --yes, or by the answer "always"'
    )
    assert "`approvals.allow` does not answer" in hint


def test_with_yes_it_runs(shell: Shell) -> None:
    with scripted(Call("terminal", {"command": "echo ran > log"}), Say("Done.")) as server:
        assert shell.run("run", "--yes", *at(server), "do it").code == 0
    assert (shell.folder / "log").exists()


@requirement("SCOPE-2")
@requirement("SCOPE-3")
@requirement("SCOPE-4")
def test_a_worker_gets_nothing_outside_its_toolsets_by_any_route(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    inner = {"name": "burn_scraps", "arguments": {"bin": 1}}
    attempts = (
        Search("burn what is in a bin"),
        Call("tool_describe", {"name": "burn_scraps"}),
        Call("tool_call", inner),
        Call("tool_call", {"name": "workshop.burn_scraps", "arguments": {"bin": 1}}),
        Call("tool_call", {"name": "tool_call", "arguments": inner}),
        Call("burn_scraps", {"bin": 1}, blind=True),
        Call("terminal", {"command": "touch never"}, blind=True),
        Call("tool_describe", {"name": "no_such_tool"}),
    )
    with scripted(*attempts, Say("Nothing works.")) as server:
        options = ("--scope", "measuring", "--toolsets", "workshop", "--json", "--yes")
        ran = workshop.run("run", *options, *at(server), "burn it")
    assert ran.code == 0
    told = [result.text for result in server.seen[-1].results]
    assert "burn" not in told[0]
    assert len(set(told[1:])) == 1  # word for word as for a tool that does not exist
    lines = [json.loads(line) for line in ran.out.splitlines()]
    ours = [json.dumps(line) for line in lines if line["event"] != "Answered"]  # the model's words
    assert not any("burn_scraps" in line for line in ours)
    assert {name for name in server.seen[0].names if "tool_" not in name} == set()


@requirement("SCOPE-4")
def test_a_workers_subagent_has_no_more_than_the_worker(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    child = Script(
        [
            Call("tool_call", {"name": "burn_scraps", "arguments": {"bin": 1}}, blind=True),
            Call("terminal", {"command": "touch never"}, blind=True),
            Say("Could not."),
        ],
        first="burn it for me",
    )
    task = {"task": "burn it for me", "toolsets": ["*"]}
    with scripted(child, Call("delegate_task", task), Say("It could not.")) as server:
        options = ("--scope", "measuring", "--yes")
        workshop.write(
            "tooldrawer.yaml",
            CLOSED.replace('["measure_*"]', '["measure_*", "delegate_task"]'),
        )
        ran = workshop.run("run", *options, *at(server), "have it burnt")
    assert ran.out == "It could not.\n"
    assert not (workshop.folder / "never").exists()
    child_saw = [seen for seen in server.seen if seen.first_user.startswith("burn it for me")]
    assert len({result.text for result in child_saw[-1].results}) == 1
    assert "  ✗ run.1 a call  refused: There is no tool of that name." in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--toolsets", "workshp"), "did you mean workshop?"),
        (("--toolsets", "zzz"), "there are core, workshop."),
        (("--toolsets", ","), "--toolsets names none"),
        (("--scope", "mesuring"), "configured are: measuring"),
        (("--config", "nowhere.yaml"), "nowhere.yaml: cannot be read"),
    ],
)
def test_a_wrong_name_is_told_before_anything_is_sent(
    workshop: Shell, options: tuple[str, ...], words: str
) -> None:
    with scripted() as server:
        assert words in workshop.run("run", *options, *at(server), "hello").refusal
    assert server.requests == []


def test_a_dead_endpoint_is_exit_code_2_and_a_sentence(shell: Shell) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        ran = shell.run("run", "--base-url", address, "--model", "any", "hello")
    assert (ran.code, ran.out) == (2, "")
    assert "Nothing answers at 127.0.0.1" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Fail(401, "bad key"), "refused the key"),
        (Fail(404, "no such model", code="model_not_found"), "has no model 'scripted'"),
        (Fail(429, "quota", code="insufficient_quota"), "no credit left"),
    ],
)
def test_what_the_endpoint_refuses_is_exit_code_2_and_a_sentence(
    shell: Shell, step: Fail, words: str
) -> None:
    with scripted(step) as server:
        ran = shell.run("run", *at(server), "hello")
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_failure_is_in_the_json_too(shell: Shell) -> None:
    with scripted(Fail(401, "bad key")) as server:
        ran = shell.run("run", "--json", *at(server), "hello")
    outcome = json.loads(ran.out.splitlines()[-1])
    assert (ran.code, outcome["ending"], outcome["success"]) == (2, "failed", False)
    assert "refused the key" in outcome["error"]


def test_without_a_key_the_lines_that_help_are_shown(shell: Shell) -> None:
    ran = shell.run("run", "--model", "claude-sonnet-4-5", "hello")
    assert ran.code == 2
    assert "ANTHROPIC_API_KEY" in ran.err


def test_an_interrupted_task_is_exit_code_130_and_leaves_nothing_running(shell: Shell) -> None:
    lasting = Lasting(shell.folder)
    with (
        scripted(Call("terminal", {"command": lasting.command})) as server,
        shell.started("run", "--yes", *at(server), "wait") as process,
    ):
        command = lasting.started()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        row, last = err.splitlines()
        assert row.startswith("✗ terminal(")
        assert "stopped after" in row
        assert last == "Stopped."
        assert not is_there(command)


def test_a_terminated_task_ends_its_request(shell: Shell) -> None:
    with (
        scripted(Hold(Event(), Say("late"))) as server,
        shell.started("run", *at(server), "wait") as process,
    ):
        server.wait_for(1)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 128 + signal.SIGTERM


def test_a_task_can_go_on_with_a_conversation(shell: Shell) -> None:
    with scripted(Say("Red."), Say("It was red.")) as server:
        shell.run("run", *at(server), "it is red")
        assert shell.run("run", "--continue", *at(server), "which?").out == "It was red.\n"
    assert server.seen[1].users == ("it is red", "which?")


@pytest.mark.parametrize(("command", "package"), [("chat", "prompt_toolkit"), ("run", "openai")])
def test_a_package_that_is_missing_is_named_with_how_to_install_it(
    shell: Shell, command: str, package: str
) -> None:
    shell.write(f"{package}.py", f"raise ModuleNotFoundError(name={package!r})")
    shell = shell.with_variables(PYTHONDONTWRITEBYTECODE="1")  # a new interpreter
    with scripted() as server:
        options = at(server) if command == "chat" else (*at(server), "hello")
        ran = shell.run(command, *options)
    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'tooldrawer[agent]'" in ran.err


def test_other_commands_do_not_load_what_only_an_agent_needs() -> None:
    code = (
        "import sys, tooldrawer.cli\n"
        "heavy = {'openai', 'anthropic', 'prompt_toolkit', 'mcp'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
