"""A tool that changes, vanishes or goes out of scope while a person is asked is not run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dispatch.parts import ask, events
from tests.fakes import MeddlingApprover, ScriptedToolset
from tests.requirements import requirement
from tooldrawer import (
    Drawer,
    Function,
    FunctionToolset,
    Grants,
    Next,
    Tool,
    ToolCall,
    ToolResult,
)
from tooldrawer.activity import ApprovalAnswered, CallRefused

pytestmark = pytest.mark.anyio


def other_words(title: str) -> str:
    """Read a note, and send a copy to somebody."""
    raise AssertionError("nobody approved this one")


def other_parameters(title: str, recipient: str = "") -> str:
    """Read a note from the desk."""
    raise AssertionError("nobody approved this one")


def same_words(title: str) -> str:
    """Read a note from the desk."""
    return f"another copy of {title}"


async def read_while(
    meddle: Callable[[Drawer], object], desk: FunctionToolset, grants: Grants
) -> tuple[ToolResult, Drawer]:
    """Read a note, and let `meddle` loose while the question is open."""
    approver = MeddlingApprover(lambda: meddle(drawer))
    drawer = Drawer([desk], guardrails=[ask], approver=approver, grants=grants)
    result = await drawer.session().call("read_note", {"title": "milk"})
    assert [event.answer for event in events(drawer, ApprovalAnswered)] == ["once"]
    return result, drawer


@requirement("DSP-1")
@pytest.mark.parametrize(
    "other",
    [
        Function(other_words, name="read_note", read_only=True),
        Function(other_parameters, name="read_note", read_only=True),
        Function(same_words, name="read_note", read_only=False),
    ],
)
async def test_a_tool_that_was_replaced_by_another_is_not_run(
    other: Function, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    result, drawer = await read_while(lambda _: desk.add(other), desk, grants)
    assert result.is_error
    assert "'read_note' changed while the call was being checked" in result.text
    assert "Look at it again" in result.text
    assert ran == []
    (refused,) = events(drawer, CallRefused)
    assert (refused.tool, refused.reason) == ("read_note", result.text)


@requirement("DSP-1")
@pytest.mark.parametrize("level", ["function", "toolset"])
async def test_a_tool_that_vanished_is_not_run(
    level: str, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    def remove(drawer: Drawer) -> None:
        if level == "function":
            desk.remove("read_note")
        else:
            drawer.registry.remove("desk")

    result, drawer = await read_while(remove, desk, grants)
    assert result.is_error
    assert result.text.startswith("There is no tool of that name.")
    assert ran == []
    (refused,) = events(drawer, CallRefused)
    assert refused.tool == "read_note"


@requirement("DSP-1")
async def test_the_same_name_in_another_toolset_is_another_tool(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    impostor = ScriptedToolset("shelf", [Tool(name="read_note")])

    def move(drawer: Drawer) -> None:
        drawer.registry.remove("desk")
        drawer.registry.add(impostor)

    result, _ = await read_while(move, desk, grants)
    assert result.is_error
    assert (ran, impostor.received) == ([], [])


@requirement("DSP-1")
async def test_a_tool_that_went_out_of_scope_is_not_run(
    desk: FunctionToolset, ran: list[str], grants: Grants, tmp_path: Path
) -> None:
    file = tmp_path / "tooldrawer.yaml"
    file.write_text("scopes: {reader: {}}", encoding="utf-8")

    async def narrow() -> None:
        file.write_text('scopes: {reader: {deny: ["read_*"]}}', encoding="utf-8")
        await drawer.refresh()

    drawer = Drawer.from_config(
        file, toolsets=[desk], guardrails=[ask], approver=MeddlingApprover(narrow), grants=grants
    )
    result = await drawer.session(scope="reader").call("read_note", {"title": "milk"})
    assert result.is_error
    assert result.text.startswith("There is no tool of that name.")
    assert ran == []


@requirement("DSP-1")
async def test_changes_elsewhere_do_not_stop_an_approved_call(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    def elsewhere(drawer: Drawer) -> None:
        desk.remove("delete_note")
        desk.add(Function(same_words, name="copy_note"))
        drawer.registry.add(ScriptedToolset("shelf", [Tool(name="dust")]))

    result, _ = await read_while(elsewhere, desk, grants)
    assert result.text == "note milk"
    assert ran == ["read milk"]


@requirement("DSP-1")
async def test_a_tool_that_changed_between_two_tries_is_run_once(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    async def again(call: ToolCall, proceed: Next) -> ToolResult:
        await proceed(call)
        desk.add(Function(other_words, name="read_note", read_only=True))
        return await proceed(call)

    drawer = Drawer([desk], hooks=[again], grants=grants)
    result = await drawer.session().call("read_note", {"title": "milk"})
    assert result.is_error
    assert ran == ["read milk"]
