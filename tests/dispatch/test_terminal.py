"""The approver in a terminal shows what it is asked, and takes an answer for that and no other."""

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import anyio
import anyio.lowlevel
import pytest

from tests.dispatch.parts import ask
from tests.fakes import Typist
from tests.requirements import requirement
from tooldrawer import (
    Answer,
    ApprovalRequest,
    Config,
    Drawer,
    FunctionToolset,
    Grants,
    Limits,
    Rules,
    Session,
    TerminalApprover,
    Tool,
)
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

PROMPT = "[y]es once, this [s]ession, [a]lways, [N]o: "
ANSWERS = [
    ("y\n", Answer.ONCE),
    ("yes\n", Answer.ONCE),
    (" Y \n", Answer.ONCE),
    ("s\n", Answer.SESSION),
    ("Session\n", Answer.SESSION),
    ("a\n", Answer.ALWAYS),
    ("always\n", Answer.ALWAYS),
    ("n\n", Answer.NO),
    ("NO\n", Answer.NO),
    ("\n", Answer.NO),
    ("what?\ny\n", Answer.ONCE),
    ("yy\nsure\n1\ns\n", Answer.SESSION),
]


def request(
    name: str = "delete_note",
    source: str = "desk",
    question: str = "Delete it?",
    arguments: JsonObject | None = None,
) -> ApprovalRequest:
    tool = Tool(name=name, source=source)
    return ApprovalRequest(
        question=question, tool=tool, arguments=arguments or {}, session="support"
    )


@dataclass
class Line:
    """Something to type into, and the stream that it comes out of."""

    keyboard: int
    read: TextIO

    def hang_up(self) -> None:
        os.close(self.keyboard)
        self.keyboard = -1


def opened(read: int, write: int) -> Iterator[Line]:
    with open(read, encoding="utf-8") as stream:
        line = Line(write, stream)
        yield line
        if line.keyboard != -1:
            line.hang_up()


@pytest.fixture
def terminal() -> Iterator[Line]:
    keyboard, shell = os.openpty()
    yield from opened(shell, keyboard)


@pytest.fixture
def pipe() -> Iterator[Line]:
    yield from opened(*os.pipe())


@requirement("DSP-6")
@pytest.mark.parametrize(("typed", "answer"), ANSWERS)
async def test_an_answer_is_read_from_a_text(typed: str, answer: Answer) -> None:
    screen = io.StringIO()
    assert await TerminalApprover(read=io.StringIO(typed), write=screen)(request()) is answer
    assert screen.getvalue().count(PROMPT) == typed.count("\n")


@requirement("DSP-6")
@pytest.mark.parametrize(("typed", "answer"), ANSWERS)
async def test_an_answer_is_read_from_a_pipe(typed: str, answer: Answer, pipe: Line) -> None:
    os.write(pipe.keyboard, typed.encode())
    with anyio.fail_after(60):
        assert await TerminalApprover(read=pipe.read, write=io.StringIO())(request()) is answer


@requirement("DSP-6")
@pytest.mark.parametrize(("typed", "answer"), ANSWERS)
async def test_an_answer_is_read_from_a_terminal(
    typed: str, answer: Answer, terminal: Line
) -> None:
    screen = Typist(terminal.keyboard, *typed.splitlines(keepends=True))
    with anyio.fail_after(60):
        assert await TerminalApprover(read=terminal.read, write=screen)(request()) is answer


@requirement("DSP-6")
@pytest.mark.parametrize("typed", ["", "what?\n"])
async def test_at_the_end_of_the_input_there_is_nobody_to_ask(
    typed: str, pipe: Line, terminal: Line, desk: FunctionToolset, grants: Grants
) -> None:
    os.write(pipe.keyboard, typed.encode())
    pipe.hang_up()
    end_of_input = "\x04"
    approvers = (
        TerminalApprover(read=io.StringIO(typed), write=io.StringIO()),
        TerminalApprover(read=pipe.read, write=io.StringIO()),
        TerminalApprover(read=terminal.read, write=Typist(terminal.keyboard, end_of_input)),
    )
    for approver in approvers:
        rules = Rules(ask=("delete_note",))
        drawer = Drawer([desk], guardrails=[rules], approver=approver, grants=grants)
        with anyio.fail_after(60):
            refused = await drawer.session().call("delete_note", {"title": "milk"})
        assert "needs a person's approval (nobody to ask)" in refused.text


@requirement("DSP-6")
async def test_a_question_shows_the_tool_its_toolset_and_every_argument() -> None:
    screen = io.StringIO()
    arguments: JsonObject = {"title": "milk", "lines": ["a", "b"]}
    await TerminalApprover(read=io.StringIO("n\n"), write=screen)(request(arguments=arguments))
    assert screen.getvalue().splitlines() == [
        "",
        "  Delete it?",
        "  tool:      delete_note",
        "  toolset:   desk",
        "  arguments: {",
        '               "title": "milk",',
        '               "lines": [',
        '                 "a",',
        '                 "b"',
        "               ]",
        "             }",
        PROMPT,
    ]


EVIL = "\x1b[2J\x1b]0;hello\x07\r\n  tool:      harmless\b\x00\x7f\x9b1m\u202egnp\u2028"


@requirement("DSP-6")
@pytest.mark.parametrize(
    "asked",
    [
        request(name=f"read{EVIL}"),
        request(source=f"mcp-{EVIL}"),
        request(question=f"Run it?{EVIL}"),
        request(arguments={"text": EVIL, EVIL: {"deep": [EVIL]}}),
    ],
)
async def test_nobody_elses_control_character_reaches_the_screen(asked: ApprovalRequest) -> None:
    screen = io.StringIO()
    await TerminalApprover(read=io.StringIO("n\n"), write=screen)(asked)
    shown = screen.getvalue()
    assert [char for char in shown if char != "\n" and not char.isprintable()] == []
    assert sum(line.startswith("  tool:") for line in shown.splitlines()) == 1
    assert "x1b[2J" in shown or "u001b[2J" in shown


@requirement("DSP-6")
async def test_arguments_are_shown_in_the_script_they_are_written_in() -> None:
    screen = io.StringIO()
    asked = request(arguments={"Größe": "漢字 \U0001f600", "hidden": "a\u202eb\xa0c\U000e0041"})
    await TerminalApprover(read=io.StringIO("n\n"), write=screen)(asked)
    assert '"Größe": "漢字 \U0001f600"' in screen.getvalue()
    assert r'"hidden": "a\u202eb\u00a0c\udb40\udc41"' in screen.getvalue()


@requirement("DSP-6")
async def test_an_answer_that_was_not_offered_is_said_to_be_none() -> None:
    screen = io.StringIO()
    answer = await TerminalApprover(read=io.StringIO("maybe\ny\n"), write=screen)(request())
    assert answer is Answer.ONCE
    assert screen.getvalue().count("Answer with y, s, a or n.") == 1


@requirement("DSP-6")
async def test_one_question_is_on_the_screen_at_a_time(terminal: Line) -> None:
    screen = Typist(terminal.keyboard, "y\n", "n\n", "s\n")
    approver = TerminalApprover(read=terminal.read, write=screen)
    answers: dict[str, Answer] = {}

    async def put(name: str) -> None:
        answers[name] = await approver(request(name))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for name in ("one", "two", "three"):
                tasks.start_soon(put, name)
    order = [line.split()[-1] for line in screen.getvalue().splitlines() if "tool: " in line]
    assert [answers[name] for name in order] == [Answer.ONCE, Answer.NO, Answer.SESSION]
    assert sorted(order) == ["one", "three", "two"]


def session(
    desk: FunctionToolset, grants: Grants, approver: TerminalApprover, *, timeout: float = 60
) -> Session:
    config = Config(limits=Limits(approval_timeout=timeout))
    drawer = Drawer([desk], config=config, guardrails=[ask], approver=approver, grants=grants)
    return drawer.session()


@requirement("DSP-6")
@pytest.mark.parametrize("kind", ["terminal", "pipe"])
async def test_a_question_that_timed_out_does_not_swallow_the_next_answer(
    kind: str, desk: FunctionToolset, ran: list[str], grants: Grants, terminal: Line, pipe: Line
) -> None:
    line = terminal if kind == "terminal" else pipe
    approver = TerminalApprover(read=line.read, write=Typist(line.keyboard, "", "y\n"))
    with anyio.fail_after(60):
        impatient = session(desk, grants, approver, timeout=0.5)
        missed = await impatient.call("read_note", {"title": "a"})
        answered = await session(desk, grants, approver).call("read_note", {"title": "b"})
    assert "no answer in time" in missed.text
    assert not answered.is_error
    assert ran == ["read b"]


@requirement("DSP-6")
async def test_a_late_answer_does_not_answer_the_next_question(
    desk: FunctionToolset, ran: list[str], grants: Grants, terminal: Line
) -> None:
    approver = TerminalApprover(read=terminal.read, write=Typist(terminal.keyboard, "", "n\n"))
    with anyio.fail_after(60):
        impatient = session(desk, grants, approver, timeout=0.5)
        await impatient.call("read_note", {"title": "a"})
        os.write(terminal.keyboard, b"y\n")
        await anyio.wait_readable(terminal.read.fileno())
        result = await session(desk, grants, approver).call("delete_note", {"title": "b"})
    assert "A person was asked and said no" in result.text
    assert ran == []


@requirement("DSP-6")
async def test_half_a_line_stops_nobody_else(pipe: Line) -> None:
    answers: list[Answer] = []

    async def put() -> None:
        answers.append(await TerminalApprover(read=pipe.read, write=io.StringIO())(request()))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            os.write(pipe.keyboard, b"ye")
            tasks.start_soon(put)
            for _ in range(10):
                await anyio.lowlevel.checkpoint()
            assert answers == []
            os.write(pipe.keyboard, b"s\nand more")
    assert answers == [Answer.ONCE]


@requirement("DSP-6")
async def test_a_terminal_that_hangs_up_is_a_no(
    desk: FunctionToolset, ran: list[str], grants: Grants, terminal: Line
) -> None:
    approver = TerminalApprover(read=terminal.read, write=io.StringIO())
    terminal.hang_up()
    with anyio.fail_after(60):
        result = await session(desk, grants, approver).call("read_note", {"title": "a"})
    assert result.is_error
    assert ran == []
