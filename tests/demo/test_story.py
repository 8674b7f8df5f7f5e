"""The demo tells its whole story, the same one each time."""

import re
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tooldrawer.demo.desk import toolsets

CHAPTERS = (
    "Tool search is active: ",
    "The model sees: tool_search, tool_describe, tool_call: ",
    "calls: tool_search ",
    "searched 'create calendar event with guests': create_event",
    "calls: tool_describe ",
    "described create_event",
    ") started [calendar]",
    'repaired /duration_minutes: "45" → 45; /guests: "ada@example.com" → ["ada@example.com"]',
    "delete_issue waits for approval: ",
    "delete_issue approval answered: once",
    "reads: Deleted issue 1",
    ") started [units]",
    "reads: 42.1648128",
    "reads: 3.75",
    "subagent: a call refused: There is no tool of that name.",
    "Ledger: saved ",
)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def told(text: str) -> list[str]:
    """The lines, without how long anything took; who of two finished first is luck as well."""
    lines = [re.sub(r"in \d+ ms", "in some ms", line) for line in text.splitlines()]
    finished = [" finished in " in line for line in lines]
    for at in range(1, len(lines)):
        if finished[at - 1] and finished[at]:
            lines[at - 1 : at + 1] = sorted(lines[at - 1 : at + 1])
    return lines


def test_there_are_five_toolsets_with_at_least_sixty_tools() -> None:
    with toolsets() as found:
        tools = [tool.name for toolset in found for tool in toolset.tools()]
        assert len(found) == 5
    assert len(set(tools)) == len(tools) >= 60


def test_the_chapters_come_in_order_and_two_tellings_are_the_same(shell: Shell) -> None:
    text = shell.run("demo").text
    place = -1
    for chapter in CHAPTERS:
        place = text.find(chapter, place + 1)
        assert place >= 0, f"{chapter!r} is missing, or comes too early"
    assert told(shell.run("demo").text) == told(text)


def test_the_help_counts_the_tools_right(shell: Shell) -> None:
    with toolsets() as found:
        count = sum(len(toolset.tools()) for toolset in found)
    assert f"{count} local tools" in " ".join(shell.run("demo", "--help").text.split())


def test_a_person_who_says_no_is_obeyed(shell: Shell) -> None:
    ran = shell.asked("demo", "--ask", answers=["n"])
    assert ran.code == 0
    assert "tool:      delete_issue" in ran.err
    assert "delete_issue approval answered: no" in ran.out
    assert "said no to 'delete_issue'" in ran.out
    assert "Deleted issue 1" not in ran.out
    assert "Ledger: saved " in ran.out


def test_a_person_who_says_yes_is_obeyed_too(shell: Shell) -> None:
    ran = shell.asked("demo", "--ask", answers=["y"])
    assert ran.code == 0
    assert "Deleted issue 1" in ran.out
