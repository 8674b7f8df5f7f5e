"""The order of everything around a call, and what each part of it is shown."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.dispatch.parts import ask, events
from tests.fakes import ScriptedApprover, ScriptedToolset
from tests.requirements import requirement
from tooldrawer import (
    Allow,
    Answer,
    ApprovalRequest,
    Ask,
    Deny,
    Drawer,
    FunctionToolset,
    Grants,
    Guardrail,
    Hook,
    Next,
    Scope,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
)
from tooldrawer.activity import (
    ApprovalAnswered,
    ApprovalAsked,
    CallFailed,
    CallFinished,
    CallRefused,
    CallStarted,
)
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

REAL = "mcp_desk_read_note"
ARGUMENTS: JsonObject = {"title": "milk", "tags": ["home", {"colour": "red"}]}
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "tags": {"type": "array"},
        "copies": {"type": "integer"},
    },
    "required": ["title"],
}

Route = Callable[[str, JsonObject], tuple[str, JsonObject]]


def direct(name: str, arguments: JsonObject) -> tuple[str, JsonObject]:
    return name, arguments


def bridged(name: str, arguments: JsonObject) -> tuple[str, JsonObject]:
    return "tool_call", {"name": name, "arguments": arguments}


def nested(name: str, arguments: JsonObject) -> tuple[str, JsonObject]:
    return "tool_call", {"name": "tool_call", "arguments": bridged(name, arguments)[1]}


ROUTES = [direct, bridged, nested]
NAMES = [REAL, "desk__read_note", "desk.read_note", "desk/read_note", "read_note", "READ_NOTE"]


def notes() -> ScriptedToolset:
    return ScriptedToolset(
        "mcp-desk", [Tool(name=REAL, origin_name="read_note", parameters=SCHEMA)]
    )


@requirement("DSP-1")
@pytest.mark.parametrize("route", ROUTES)
async def test_everything_around_a_call_comes_in_the_promised_order(
    route: Route, grants: Grants
) -> None:
    steps: list[tuple[str, object]] = []

    def hook(name: str) -> Hook:
        async def around(call: ToolCall, proceed: Next) -> ToolResult:
            steps.append((f"{name} hook before", call.arguments["copies"]))
            result = await proceed(call)
            steps.append((f"{name} hook after", call.arguments["copies"]))
            return result

        return around

    def guardrail(name: str) -> Guardrail:
        def judge(tool: Tool, call: ToolCall) -> Verdict:
            steps.append((f"{name} guardrail", call.arguments["copies"]))
            return Ask("Really?")

        return judge

    async def approver(request: ApprovalRequest) -> Answer:
        steps.append(("approver", request.arguments["copies"]))
        return Answer.ONCE

    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        steps.append(("tool", call.arguments["copies"]))
        return ToolResult.of_text("done")

    tool = Tool(name=REAL, parameters=SCHEMA)
    drawer = Drawer(
        [ScriptedToolset("mcp-desk", [tool], run)],
        hooks=[hook("first"), hook("second")],
        guardrails=[guardrail("first"), guardrail("second")],
        approver=approver,
        grants=grants,
    )
    await drawer.session().call(*route(REAL, {"title": "milk", "copies": "2"}))
    assert steps == [
        ("first hook before", "2"),
        ("second hook before", "2"),
        ("first guardrail", 2),
        ("second guardrail", 2),
        ("approver", 2),
        ("tool", 2),
        ("second hook after", "2"),
        ("first hook after", "2"),
    ]
    assert [type(event) for event in drawer.activity] == [
        CallStarted,
        ApprovalAsked,
        ApprovalAnswered,
        CallFinished,
    ]


@requirement("DSP-2")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("route", ROUTES)
async def test_everyone_is_shown_the_real_tool_and_the_real_arguments(
    route: Route, name: str, grants: Grants
) -> None:
    seen: list[tuple[str, str, JsonObject]] = []

    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        seen.append(("hook", call.name, call.arguments))
        return await proceed(call)

    def guardrail(tool: Tool, call: ToolCall) -> Verdict:
        seen.append(("guardrail", tool.name, call.arguments))
        seen.append(("guardrail", call.name, call.arguments))
        return Ask("Really?")

    approver, toolset = ScriptedApprover(Answer.ONCE), notes()
    drawer = Drawer(
        [toolset], hooks=[hook], guardrails=[guardrail], approver=approver, grants=grants
    )
    result = await drawer.session().call(*route(name, ARGUMENTS))
    assert not result.is_error
    (request,), (received,), (started,) = (
        approver.requests,
        toolset.received,
        events(drawer, CallStarted),
    )
    seen += [
        ("approver", request.tool.name, request.arguments),
        ("tool", received.name, received.arguments),
        ("event", started.tool, started.arguments),
    ]
    assert [what for what in seen if what[1:] != (REAL, ARGUMENTS)] == []
    assert request.toolset == started.toolset == "mcp-desk"
    assert {getattr(event, "tool", REAL) for event in drawer.activity} == {REAL}
    assert "tool_call" not in repr(list(drawer.activity))


@requirement("DSP-2")
@pytest.mark.parametrize("route", ROUTES)
async def test_refusals_and_failures_name_the_real_tool(route: Route) -> None:
    def deny(tool: Tool, call: ToolCall) -> Verdict:
        return Deny("Not today.") if call.arguments["title"] == "milk" else Allow()

    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        raise RuntimeError("the drawer is stuck")

    toolset = ScriptedToolset("mcp-desk", [Tool(name=REAL, parameters=SCHEMA)], run)
    drawer = Drawer([toolset], guardrails=[deny])
    session = drawer.session()
    denied = await session.call(*route("read_note", {"title": "milk"}))
    broken = await session.call(*route("read_note", {"title": "tea"}))
    wrong = await session.call(*route("read_note", {"title": 1}))
    assert denied.is_error
    assert denied.text == "Not today."
    assert broken.text == f"{REAL!r} failed: the drawer is stuck"
    assert wrong.text.startswith(f"{REAL!r} was not run: /title: ")
    assert [event.tool for event in events(drawer, CallRefused)] == [REAL, REAL]
    assert [event.tool for event in events(drawer, CallFailed)] == [REAL]
    assert "tool_call" not in repr(list(drawer.activity))


@requirement("DSP-1")
@pytest.mark.parametrize("route", ROUTES)
async def test_the_scope_comes_before_any_hook(
    route: Route, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        raise AssertionError("a hook was shown a tool that does not exist for the session")

    drawer = Drawer([desk], hooks=[hook], grants=grants)
    session = drawer.session(scope=Scope(deny=["delete_*"]))
    result = await session.call(*route("delete_note", {"title": "milk"}))
    assert result.is_error
    assert result.text.startswith("There is no tool of that name.")
    assert ran == []
    (refused,) = drawer.activity
    assert isinstance(refused, CallRefused)
    assert refused.tool is None


@requirement("DSP-1")
async def test_a_hook_changes_arguments_before_anyone_checks_them(grants: Grants) -> None:
    async def in_english(call: ToolCall, proceed: Next) -> ToolResult:
        changed = call.with_arguments({**call.arguments, "title": "milk"})
        assert call.arguments["title"] == "Milch"
        return await proceed(changed)

    judged: list[JsonObject] = []

    def guardrail(tool: Tool, call: ToolCall) -> Verdict:
        judged.append(call.arguments)
        return Ask("Really?")

    approver, toolset = ScriptedApprover(Answer.ONCE), notes()
    drawer = Drawer(
        [toolset], hooks=[in_english], guardrails=[guardrail], approver=approver, grants=grants
    )
    await drawer.session().call(REAL, {"title": "Milch", "copies": 3})
    expected = {"title": "milk", "copies": 3}
    assert judged == [expected]
    assert approver.requests[0].arguments == expected
    assert toolset.received[0].arguments == expected


@requirement("DSP-1")
async def test_arguments_of_a_hook_pass_the_schema_like_any_other(grants: Grants) -> None:
    async def forgetful(call: ToolCall, proceed: Next) -> ToolResult:
        return await proceed(call.with_arguments({"copies": 1}))

    toolset = notes()
    drawer = Drawer([toolset], hooks=[forgetful], grants=grants)
    result = await drawer.session().call(REAL, {"title": "milk"})
    assert result.is_error
    assert '"title" is a required property' in result.text
    assert toolset.received == []


@requirement("DSP-1")
async def test_a_hook_cannot_turn_a_call_into_one_of_another_tool(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        return await proceed(replace(call, name="delete_note"))

    drawer = Drawer([desk], hooks=[hook], grants=grants)
    result = await drawer.session().call("read_note", {"title": "milk"})
    assert result.is_error
    assert "A hook changed the call of 'read_note' into one of another tool" in result.text
    assert "delete_note" not in result.text
    assert ran == []
    (failed,) = events(drawer, CallFailed)
    assert failed.tool == "read_note"


@requirement("DSP-1")
@pytest.mark.parametrize(
    ("when", "how"),
    [("before", "failed in a hook"), ("after", "ran, and after that a hook failed")],
)
async def test_a_hook_that_raises_gives_an_error_result(
    desk: FunctionToolset, grants: Grants, when: str, how: str
) -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        if when == "after":
            await proceed(call)
        raise LookupError("no audit log")

    drawer = Drawer([desk], hooks=[hook], grants=grants)
    result = await drawer.session().call("read_note", {"title": "milk"}, call_id="c1")
    assert result.is_error
    assert result.call_id == "c1"
    assert result.text == f"'read_note' {how}: no audit log. Tell the user; do not try again."
    (failed,) = events(drawer, CallFailed)
    assert (failed.tool, failed.error) == ("read_note", result.text)


@requirement("DSP-1")
async def test_a_hook_that_forgets_to_return_the_result_gives_an_error_result(
    desk: FunctionToolset, grants: Grants
) -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:  # pyright: ignore[reportReturnType]
        await proceed(call)

    drawer = Drawer([desk], hooks=[hook], grants=grants)
    result = await drawer.session().call("read_note", {"title": "milk"})
    assert result.is_error
    assert "A hook around 'read_note' gave nothing that is a result" in result.text
    assert len(events(drawer, CallFailed)) == 1


@requirement("DSP-1")
async def test_a_hook_may_answer_in_the_tools_place(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    async def cached(call: ToolCall, proceed: Next) -> ToolResult:
        return ToolResult.of_text("from the cache")

    approver = ScriptedApprover()
    drawer = Drawer([desk], hooks=[cached], guardrails=[ask], approver=approver, grants=grants)
    result = await drawer.session().call("read_note", {"title": "milk"}, call_id="c1")
    assert (result.text, result.call_id, result.is_error) == ("from the cache", "c1", False)
    assert (ran, approver.requests) == ([], [])
    assert len(events(drawer, CallFinished)) == 1


@requirement("DSP-1")
async def test_a_hook_may_change_the_result(desk: FunctionToolset, grants: Grants) -> None:
    async def shout(call: ToolCall, proceed: Next) -> ToolResult:
        return ToolResult.of_text((await proceed(call)).text.upper())

    drawer = Drawer([desk], hooks=[shout], grants=grants)
    assert (await drawer.session().call("read_note", {"title": "a"})).text == "NOTE A"


@requirement("DSP-1")
async def test_a_retry_passes_every_check_again(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    judged: list[JsonObject] = []

    def guardrail(tool: Tool, call: ToolCall) -> Verdict:
        judged.append(call.arguments)
        return Ask("Really?")

    async def twice(call: ToolCall, proceed: Next) -> ToolResult:
        await proceed(call.with_arguments({"title": "first"}))
        return await proceed(call.with_arguments({"title": "second"}))

    approver = ScriptedApprover(Answer.ONCE, Answer.NO)
    drawer = Drawer([desk], hooks=[twice], guardrails=[guardrail], approver=approver, grants=grants)
    result = await drawer.session().call("read_note", {"title": "milk"})
    assert judged == [{"title": "first"}, {"title": "second"}]
    assert [request.arguments for request in approver.requests] == judged
    assert ran == ["read first"]
    assert result.is_error
    assert len(events(drawer, CallRefused)) == 1
