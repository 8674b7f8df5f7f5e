"""A person is shown the exact call; their answer holds for as long as they said."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.dispatch.parts import TOOL, ask, events, lab, properties
from tests.fakes import ScriptedApprover, SilentApprover
from tests.requirements import requirement
from tooldrawer import (
    Allow,
    Answer,
    ApprovalRequest,
    Approver,
    Ask,
    Config,
    Drawer,
    FunctionToolset,
    Grants,
    Limits,
    Rules,
    Session,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
)
from tooldrawer.activity import ApprovalAnswered, ApprovalAsked, CallRefused
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

ONCE, SESSION, ALWAYS, NO = Answer.ONCE, Answer.SESSION, Answer.ALWAYS, Answer.NO


def asking(
    desk: FunctionToolset, grants: Grants, *answers: Answer
) -> tuple[Drawer, ScriptedApprover]:
    approver = ScriptedApprover(*answers)
    return Drawer([desk], guardrails=[ask], approver=approver, grants=grants), approver


async def read(session: Session, title: str = "milk") -> ToolResult:
    return await session.call("read_note", {"title": title})


@requirement("DSP-6")
async def test_the_question_shows_the_real_tool_its_toolset_and_the_exact_arguments(
    grants: Grants,
) -> None:
    approver = ScriptedApprover(ONCE)
    toolset = lab(properties(count={"type": "integer"}, deep={"type": "object"}))
    drawer = Drawer([toolset], guardrails=[ask], approver=approver, grants=grants)
    arguments: JsonObject = {"count": "3", "deep": {"list": [1, {"a": None}]}}
    await drawer.session("support").call("tool_call", {"name": "lab.probe", "arguments": arguments})
    (request,) = approver.requests
    assert (request.tool.name, request.toolset, request.session) == (TOOL, "lab", "support")
    assert request.arguments == {"count": 3, "deep": {"list": [1, {"a": None}]}}
    assert request.arguments == toolset.received[0].arguments
    assert request.question == "Run lab_probe with 2 arguments?"


@requirement("DSP-6")
async def test_once_holds_once(desk: FunctionToolset, ran: list[str], grants: Grants) -> None:
    drawer, approver = asking(desk, grants, ONCE, ONCE, NO)
    session = drawer.session()
    results = [await read(session) for _ in range(3)]
    assert [result.is_error for result in results] == [False, False, True]
    assert len(approver.requests) == 3
    assert len(ran) == 2


@requirement("DSP-6")
async def test_no_is_a_no_for_this_call_and_says_what_to_do(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    drawer, approver = asking(desk, grants, NO, ONCE)
    session = drawer.session()
    refused = await read(session)
    assert refused.is_error
    assert refused.text == (
        "A person was asked and said no to 'read_note'. "
        "Do not try it again; find another way, or ask the user."
    )
    assert ran == []
    assert not (await read(session)).is_error
    assert len(approver.requests) == 2


@requirement("DSP-6")
async def test_session_holds_for_the_tool_in_this_session_and_no_other(
    desk: FunctionToolset, grants: Grants
) -> None:
    drawer, approver = asking(desk, grants, SESSION, NO, NO, NO, NO)
    session = drawer.session("one")
    assert [(await read(session, title)).is_error for title in "abc"] == [False, False, False]
    assert len(approver.requests) == 1
    assert (await session.call("add_note", {"title": "a"})).is_error
    for other in (session.child(), drawer.session("two"), drawer.session("one")):
        assert (await read(other)).is_error
    assert len(approver.requests) == 5
    assert list(grants.names()) == []


@requirement("DSP-6")
async def test_session_does_not_hold_for_a_tool_that_changed(
    desk: FunctionToolset, grants: Grants
) -> None:
    drawer, approver = asking(desk, grants, SESSION, NO)
    session = drawer.session()
    await read(session)
    desk.add(read_note)
    assert (await read(session)).is_error
    assert len(approver.requests) == 2


def read_note(title: str) -> str:
    """Read a note, and tell everybody."""
    return title


@requirement("DSP-6")
async def test_always_is_remembered_on_disk_by_every_drawer(
    desk: FunctionToolset, ran: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "deep" / "grants.json"
    first, approver = asking(desk, Grants(file), ALWAYS, NO)
    await read(first.session())
    await read(first.session())
    assert len(approver.requests) == 1
    second, nobody = asking(desk, Grants(file))
    assert not (await read(second.session())).is_error
    assert nobody.requests == []
    assert len(ran) == 3
    assert list(Grants(file).names()) == ["read_note"]
    names = sorted(path.name for path in file.parent.iterdir())
    assert names == ["grants.json", "grants.json.lock"]


@requirement("DSP-6")
async def test_a_drawer_sees_what_another_one_was_granted_meanwhile(
    desk: FunctionToolset, tmp_path: Path
) -> None:
    file = tmp_path / "grants.json"
    first, _ = asking(desk, Grants(file), NO)
    second, _ = asking(desk, Grants(file), ALWAYS)
    session = first.session()
    assert (await read(session)).is_error
    assert not (await read(second.session())).is_error
    assert not (await read(session)).is_error


PLAIN = Tool(name=TOOL, description="Look.", parameters=properties(a={"type": "string"}))


@requirement("DSP-6")
@pytest.mark.parametrize(
    "changed",
    [
        replace(PLAIN, description="Look, and delete."),
        replace(PLAIN, parameters=properties(a={"type": "string"}, b={"type": "string"})),
        replace(PLAIN, annotations={"destructiveHint": True}),
        replace(PLAIN, raw={"name": TOOL, "_meta": {"version": 2}}),
    ],
)
async def test_always_does_not_hold_for_a_tool_that_changed(changed: Tool, grants: Grants) -> None:
    grants.add(replace(PLAIN, source="lab"))
    assert replace(PLAIN, source="lab") in grants
    assert replace(changed, source="lab") not in grants
    assert PLAIN not in grants
    assert replace(PLAIN, source="mcp-lab") not in grants


@requirement("DSP-6")
async def test_a_changed_tool_is_asked_about_again(desk: FunctionToolset, grants: Grants) -> None:
    drawer, approver = asking(desk, grants, ALWAYS, NO)
    await read(drawer.session())
    desk.add(read_note)
    assert (await read(drawer.session())).is_error
    assert len(approver.requests) == 2


@requirement("DSP-6")
@pytest.mark.parametrize("text", ["", "[]", "{", '"yes"', "\x00\xff", '["read_note"]'])
async def test_a_file_of_grants_that_cannot_be_read_grants_nothing(
    text: str, desk: FunctionToolset, tmp_path: Path
) -> None:
    file = tmp_path / "grants.json"
    file.write_text(text, encoding="latin-1")
    drawer, approver = asking(desk, Grants(file), NO, ALWAYS)
    session = drawer.session()
    assert (await read(session)).is_error
    assert not (await read(session)).is_error
    assert not (await read(session)).is_error
    assert len(approver.requests) == 2
    assert file.read_text(encoding="latin-1") == text


@requirement("DSP-6")
async def test_an_answer_that_cannot_be_written_down_holds_for_the_session(
    desk: FunctionToolset, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    drawer, approver = asking(desk, Grants(tmp_path / "file" / "grants.json"), ALWAYS)
    session = drawer.session()
    assert [(await read(session)).is_error for _ in range(2)] == [False, False]
    assert len(approver.requests) == 1


@requirement("DSP-6")
async def test_with_nobody_to_ask_the_answer_is_no_and_how_to_grant(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    drawer = Drawer([desk], guardrails=[Rules(ask=("read_*",))], grants=grants)
    result = await read(drawer.session())
    assert result.is_error
    assert result.text.startswith("'read_note' needs a person's approval (nobody to ask)")
    assert result.text.endswith(
        "Only a person can approve it. Tell the user, and go on without it."
    )
    assert ran == []


@requirement("DSP-6")
async def test_no_answer_in_time_is_a_no(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    approver = SilentApprover()
    config = Config(limits=Limits(approval_timeout=0.05))
    drawer = Drawer([desk], config=config, guardrails=[ask], approver=approver, grants=grants)
    with anyio.fail_after(60):
        result = await read(drawer.session())
    assert result.is_error
    assert "needs a person's approval (no answer in time)" in result.text
    assert approver.was_cancelled
    assert ran == []
    (answered,) = events(drawer, ApprovalAnswered)
    assert answered.answer == "no answer in time"
    assert answered.duration > 0.04
    assert len(events(drawer, CallRefused)) == 1


async def broken(request: ApprovalRequest) -> Answer:
    raise ConnectionError("the chat is down")


async def vague(request: ApprovalRequest) -> Answer:
    return True  # pyright: ignore[reportReturnType]


async def mute(request: ApprovalRequest) -> Answer:
    return None  # pyright: ignore[reportReturnType]


@requirement("DSP-6")
@pytest.mark.parametrize("approver", [broken, vague, mute])
async def test_an_approver_that_breaks_is_a_no(
    approver: Approver, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    drawer = Drawer([desk], guardrails=[ask], approver=approver, grants=grants)
    result = await read(drawer.session())
    assert "needs a person's approval (the question could not be put)" in result.text
    assert ran == []
    assert list(grants.names()) == []


@requirement("DSP-6")
@pytest.mark.parametrize(("answer", "asked"), [(SESSION, 1), (ALWAYS, 1), (ONCE, 5), (NO, 5)])
async def test_an_answer_to_the_first_of_several_calls_holds_for_the_rest(
    answer: Answer, asked: int, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    drawer, approver = asking(desk, grants, *[answer] * 5)
    calls = [("read_note", {"title": str(number)}) for number in range(5)]
    results = await drawer.session().call_all(calls, concurrency=5)
    assert len(approver.requests) == asked
    assert {result.is_error for result in results} == {answer is NO}
    assert len(ran) == (0 if answer is NO else 5)


@requirement("DSP-6")
async def test_questions_about_different_tools_and_sessions_do_not_wait_for_each_other(
    desk: FunctionToolset, grants: Grants
) -> None:
    asked, everybody = [0], anyio.Event()

    async def together(request: ApprovalRequest) -> Answer:
        asked[0] += 1
        if asked[0] == 3:
            everybody.set()
        await everybody.wait()
        return ONCE

    drawer = Drawer([desk], guardrails=[ask], approver=together, grants=grants)
    one, other = drawer.session(), drawer.session()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.call, "read_note", {"title": "a"})
            tasks.start_soon(one.call, "add_note", {"title": "a"})
            tasks.start_soon(other.call, "read_note", {"title": "a"})
    assert asked == [3]


@requirement("DSP-6")
async def test_the_activity_has_the_question_and_the_answer(
    desk: FunctionToolset, grants: Grants
) -> None:
    drawer, _ = asking(desk, grants, SESSION)
    await read(drawer.session("support"))
    (question,), (answer,) = events(drawer, ApprovalAsked), events(drawer, ApprovalAnswered)
    assert (question.tool, question.session) == ("read_note", "support")
    assert question.question == "Run read_note with 1 arguments?"
    assert (answer.tool, answer.answer, answer.session) == ("read_note", "session", "support")
    assert answer.duration >= 0


@requirement("DSP-6")
@pytest.mark.parametrize("answer", [SESSION, ALWAYS])
async def test_who_lets_a_tool_do_the_usual_is_asked_again_about_the_unusual(
    desk: FunctionToolset, ran: list[str], grants: Grants, answer: Answer
) -> None:
    def unusual(tool: Tool, call: ToolCall) -> Verdict:
        is_unusual = call.arguments["title"] == "secret"
        return Ask("Really that one?", about="secrets") if is_unusual else Allow()

    approver = ScriptedApprover(answer, NO, answer)
    drawer = Drawer([desk], guardrails=[ask, unusual], approver=approver, grants=grants)
    session = drawer.session()
    titles = ("milk", "secret", "secret", "secret", "milk")
    results = [await read(session, title) for title in titles]
    assert [result.is_error for result in results] == [False, True, False, False, False]
    assert [request.question for request in approver.requests] == [
        "Run read_note with 1 arguments?",
        "Really that one?",
        "Really that one?",
    ]
    assert ran == ["read milk", "read secret", "read secret", "read milk"]


@requirement("DSP-6")
async def test_what_is_usual_and_what_is_not_are_put_in_one_question(
    desk: FunctionToolset, grants: Grants
) -> None:
    def unusual(tool: Tool, call: ToolCall) -> Verdict:
        return Ask("Really that one?", about="secrets")

    approver = ScriptedApprover(SESSION)
    drawer = Drawer([desk], guardrails=[unusual, ask], approver=approver, grants=grants)
    session = drawer.session()
    assert not (await read(session)).is_error
    assert not (await read(session)).is_error
    (request,) = approver.requests
    assert request.question == "Really that one? Run read_note with 1 arguments?"
