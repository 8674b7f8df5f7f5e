"""Nothing changes the arguments of a call behind anyone's back."""

import copy
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any, cast

import pytest

from tests.dispatch.parts import TOOL, ask, events, lab
from tests.fakes import MeddlingApprover, ScriptedApprover
from tests.requirements import requirement
from tooldrawer import (
    Answer,
    ApprovalRequest,
    Drawer,
    Grants,
    Next,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
)
from tooldrawer.activity import CallFailed, CallRefused
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

ANYTHING: JsonObject = {"type": "object"}
ARGUMENTS: JsonObject = {
    "title": "milk",
    "lines": ["one", "two"],
    "options": {"colour": "red", "tags": [{"name": "home"}]},
}
Mutation = Callable[[Any], object]


def key_set(value: Any) -> None:
    value["title"] = "poison"


def key_deleted(value: Any) -> None:
    del value["title"]


def merged_in_place(value: Any) -> None:
    value |= {"title": "poison"}


def item_set(value: Any) -> None:
    value[0] = "poison"


def slice_set(value: Any) -> None:
    value[:] = ["poison"]


def item_deleted(value: Any) -> None:
    del value[0]


def added_in_place(value: Any) -> None:
    value += ["poison"]


def multiplied_in_place(value: Any) -> None:
    value *= 3


OF_OBJECTS: dict[str, Mutation] = {
    "set": key_set,
    "del": key_deleted,
    "|=": merged_in_place,
    "clear": lambda value: value.clear(),
    "pop": lambda value: value.pop("title", None),
    "popitem": lambda value: value.popitem(),
    "setdefault": lambda value: value.setdefault("more", "poison"),
    "update": lambda value: value.update(title="poison"),
}
OF_ARRAYS: dict[str, Mutation] = {
    "set": item_set,
    "slice": slice_set,
    "del": item_deleted,
    "+=": added_in_place,
    "*=": multiplied_in_place,
    "append": lambda value: value.append("poison"),
    "extend": lambda value: value.extend(["poison"]),
    "insert": lambda value: value.insert(0, "poison"),
    "remove": lambda value: value.remove(value[0]),
    "pop": lambda value: value.pop(),
    "clear": lambda value: value.clear(),
    "sort": lambda value: value.sort(),
    "reverse": lambda value: value.reverse(),
}
OBJECTS: dict[str, Mutation] = {
    "arguments": lambda arguments: arguments,
    "options": lambda arguments: arguments["options"],
    "tag": lambda arguments: arguments["options"]["tags"][0],
}
ARRAYS: dict[str, Mutation] = {
    "lines": lambda arguments: arguments["lines"],
    "tags": lambda arguments: arguments["options"]["tags"],
}
CASES = [
    pytest.param(at, mutate, id=f"{place} {how}")
    for places, mutations in ((OBJECTS, OF_OBJECTS), (ARRAYS, OF_ARRAYS))
    for place, at in places.items()
    for how, mutate in mutations.items()
]


@requirement("DSP-1")
@pytest.mark.parametrize(("at", "mutate"), CASES)
async def test_a_hook_that_changes_arguments_in_place_fails_and_nothing_runs(
    at: Mutation, mutate: Mutation
) -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        mutate(at(call.arguments))
        return await proceed(call)

    toolset = lab(ANYTHING)
    drawer = Drawer([toolset], hooks=[hook])
    result = await drawer.session().call(TOOL, ARGUMENTS)
    assert result.is_error
    assert "call.with_arguments" in result.text
    assert toolset.received == []
    assert len(events(drawer, CallFailed)) == 1


@requirement("DSP-1")
@pytest.mark.parametrize(("at", "mutate"), CASES)
async def test_a_guardrail_or_approver_that_changes_arguments_in_place_is_a_no(
    at: Mutation, mutate: Mutation, grants: Grants
) -> None:
    def guardrail(tool: Tool, call: ToolCall) -> Verdict:
        mutate(at(call.arguments))
        return ask(tool, call)

    async def approver(request: ApprovalRequest) -> Answer:
        mutate(at(request.arguments))
        return Answer.ALWAYS

    toolset = lab(ANYTHING)
    by_rule = Drawer(
        [toolset], guardrails=[guardrail], approver=ScriptedApprover(Answer.ONCE), grants=grants
    )
    by_person = Drawer([toolset], guardrails=[ask], approver=approver, grants=grants)
    for drawer in (by_rule, by_person):
        assert (await drawer.session().call(TOOL, ARGUMENTS)).is_error
        assert len(events(drawer, CallRefused)) == 1
    assert toolset.received == []


@requirement("DSP-1")
@pytest.mark.parametrize(("at", "mutate"), CASES)
async def test_whoever_ignores_the_error_has_changed_nothing(
    at: Mutation, mutate: Mutation, grants: Grants
) -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        with pytest.raises(TypeError, match="frozen"):
            mutate(at(call.arguments))
        return await proceed(call)

    def guardrail(tool: Tool, call: ToolCall) -> Verdict:
        with pytest.raises(TypeError, match="frozen"):
            mutate(at(call.arguments))
        return ask(tool, call)

    async def approver(request: ApprovalRequest) -> Answer:
        with pytest.raises(TypeError, match="frozen"):
            mutate(at(request.arguments))
        return Answer.ONCE

    toolset = lab(ANYTHING)
    drawer = Drawer(
        [toolset], hooks=[hook], guardrails=[guardrail], approver=approver, grants=grants
    )
    assert not (await drawer.session().call(TOOL, ARGUMENTS)).is_error
    assert [call.arguments for call in toolset.received] == [ARGUMENTS]


@requirement("DSP-1")
async def test_arguments_cannot_be_filled_a_second_time() -> None:
    call = ToolCall(name="x").with_arguments({"lines": ["a"]})
    lines = call.arguments["lines"]
    assert isinstance(call.arguments, dict)
    assert isinstance(lines, list)
    call.arguments.__init__({"lines": ["b"]})
    lines.__init__(["b"])
    assert call.arguments == {"lines": ["a"]}


@requirement("DSP-1")
async def test_the_fields_of_a_call_cannot_be_set() -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        with pytest.raises(FrozenInstanceError):
            call.arguments = {"title": "poison"}  # pyright: ignore[reportAttributeAccessIssue]
        return await proceed(call)

    toolset = lab(ANYTHING)
    await Drawer([toolset], hooks=[hook]).session().call(TOOL, ARGUMENTS)
    assert toolset.received[0].arguments == ARGUMENTS


@requirement("DSP-1")
async def test_what_a_hook_does_to_its_own_copy_after_the_approval_changes_nothing(
    grants: Grants,
) -> None:
    kept = cast("dict[str, Any]", copy.deepcopy(ARGUMENTS))

    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        return await proceed(replace(call, arguments=kept))

    def poison() -> None:
        kept["title"] = "poison"
        kept["options"]["tags"].append("poison")

    toolset = lab(ANYTHING)
    drawer = Drawer(
        [toolset], hooks=[hook], guardrails=[ask], approver=MeddlingApprover(poison), grants=grants
    )
    assert not (await drawer.session().call(TOOL, {})).is_error
    assert kept["title"] == "poison"
    assert toolset.received[0].arguments == ARGUMENTS


@requirement("DSP-1")
async def test_what_the_caller_does_to_the_arguments_meanwhile_changes_nothing(
    grants: Grants,
) -> None:
    given = cast("dict[str, Any]", copy.deepcopy(ARGUMENTS))

    def poison() -> None:
        given["lines"].clear()
        given["title"] = "poison"

    toolset = lab(ANYTHING)
    drawer = Drawer([toolset], guardrails=[ask], approver=MeddlingApprover(poison), grants=grants)
    await drawer.session().call(TOOL, given)
    assert given["lines"] == []
    assert toolset.received[0].arguments == ARGUMENTS


@requirement("DSP-1")
async def test_a_tool_may_do_with_its_arguments_what_it_likes() -> None:
    async def greedy(tool: Tool, call: ToolCall) -> ToolResult:
        arguments = cast("dict[str, Any]", call.arguments)
        arguments["options"]["tags"].clear()
        arguments.clear()
        return ToolResult.of_text("eaten")

    seen: list[JsonObject] = []

    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        result = await proceed(call)
        seen.append(call.arguments)
        return result

    result = await Drawer([lab(ANYTHING, greedy)], hooks=[hook]).session().call(TOOL, ARGUMENTS)
    assert result.text == "eaten"
    assert seen == [ARGUMENTS]


@requirement("DSP-1")
async def test_a_copy_of_the_arguments_may_be_changed_and_passed_on() -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        mine = cast("dict[str, Any]", copy.deepcopy(call.arguments))
        mine["options"]["tags"].append({"name": "new"})
        return await proceed(call.with_arguments(mine))

    toolset = lab(ANYTHING)
    await Drawer([toolset], hooks=[hook]).session().call(TOOL, ARGUMENTS)
    expected = {"colour": "red", "tags": [{"name": "home"}, {"name": "new"}]}
    assert toolset.received[0].arguments == {**ARGUMENTS, "options": expected}
