"""A tool of the configuration can be run by hand, with everything on its way."""

import json

import pytest

from tests.cli.shell import Shell

LENGTH = ("call", "measure_length", "--args", '{"item": "plank"}')


def test_call_prints_what_the_tool_said(workshop: Shell) -> None:
    assert workshop.run(*LENGTH).text == "plank: 40 mm\n"


def test_call_gives_programs_the_whole_result(workshop: Shell) -> None:
    weighed = workshop.run("call", "measure_weight", "--args", '{"item": "nail"}', "--json").json
    assert json.loads(weighed["content"][0]["text"]) == {"nail": 1.5}
    assert "isError" not in weighed


def test_call_takes_any_notation(workshop: Shell) -> None:
    ran = workshop.run("call", "workshop.measure_length", *LENGTH[2:])
    assert ran.text == "plank: 40 mm\n"


def test_arguments_that_are_slightly_wrong_are_repaired_and_that_is_said(workshop: Shell) -> None:
    said = workshop.run("call", "count_nails", "--args", '{"boxes": "12"}').text
    assert said.splitlines()[0] == "1200"
    assert 'repaired before the call: /boxes: "12" → 12' in said


def test_a_tool_that_breaks_is_an_error_in_its_own_words(workshop: Shell) -> None:
    ran = workshop.run("call", "sharpen_saw", "--args", '{"teeth": 12}')
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "'sharpen_saw' failed: the file broke at tooth 12\n"


def test_a_tool_without_parameters_needs_no_arguments(workshop: Shell) -> None:
    assert workshop.run("call", "print_label").text.startswith("before")
    assert workshop.run("call", "print_label", "--args", "").text.startswith("before")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{}", '"item" is a required property'),
        ('{"item": ["a", "b"]}', "/item: "),
        ('{"item": "x", "unti": "m"}', "unti"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_signature(
    workshop: Shell, arguments: str, words: str
) -> None:
    complaint = workshop.run("call", "measure_length", "--args", arguments).refusal
    assert words in complaint
    assert "measure_length(item: string" in complaint


def test_an_error_of_the_tool_is_json_too_when_json_is_wanted(workshop: Shell) -> None:
    ran = workshop.run("call", "sharpen_saw", "--args", '{"teeth": 1}', "--json")
    assert (ran.code, ran.err) == (2, "")
    answer = json.loads(ran.out)
    assert answer["isError"] is True
    assert "the file broke at tooth 1" in answer["content"][0]["text"]


def test_a_tool_out_of_scope_does_not_exist(workshop: Shell) -> None:
    refused = workshop.run("call", "burn_scraps", "--scope", "measuring", "--args", '{"bin": 1}')
    assert refused.refusal.startswith("There is no tool named 'burn_scraps'")
    assert workshop.run(*LENGTH, "--scope", "measuring").text == "plank: 40 mm\n"


def test_a_recorded_tool_cannot_run_and_says_what_can(library: Shell) -> None:
    said = library.run("call", "list_alerts", "--catalog", "lists").refusal
    assert "recorded list of 'weather' and cannot run" in said
    assert "Connect the server itself" in said


def test_a_yes_in_the_terminal_runs_the_tool(workshop: Shell) -> None:
    ran = workshop.asked("call", "burn_scraps", "--args", '{"bin": 7}', answers=["y"])
    assert (ran.code, ran.out) == (0, "bin 7 is ash\n")
    for words in ("tool:      burn_scraps", "toolset:   workshop", '"bin": 7', "[N]o"):
        assert words in ran.err


def test_a_no_in_the_terminal_keeps_the_tool_from_running(workshop: Shell) -> None:
    ran = workshop.asked("call", "burn_scraps", "--args", '{"bin": 7}', answers=["n"])
    assert (ran.code, ran.out) == (2, "")
    assert "[N]o" in ran.err
    assert "said no to 'burn_scraps'" in ran.err


def test_an_unclear_answer_is_asked_for_again(workshop: Shell) -> None:
    ran = workshop.asked("call", "burn_scraps", "--args", '{"bin": 7}', answers=["perhaps", "yes"])
    assert (ran.code, ran.out) == (0, "bin 7 is ash\n")
    assert ran.err.count("[N]o") == 2


def test_without_a_terminal_it_is_refused(workshop: Shell) -> None:
    said = workshop.run("call", "burn_scraps", "--args", '{"bin": 7}').refusal
    assert "'burn_scraps' needs a person's approval" in said
    assert "Only a person can approve it." in said


def test_what_happened_is_kept_when_the_configuration_asks_for_it(workshop: Shell) -> None:
    config = 'toolsets: ["workshop:tools"]\nactivity: {jsonl: activity.jsonl}\n'
    workshop.write("tooldrawer.yaml", config)
    workshop.run(*LENGTH)
    workshop.run("explain")
    lines = (workshop.folder / "activity.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["event"] for line in lines]
    assert kinds == ["CallStarted", "CallFinished", "Assembled"]
