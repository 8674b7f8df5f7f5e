"""A call ends at its time limit, and when whoever made it is cancelled."""

import math
from threading import Event

import anyio
import anyio.to_thread
import pytest

from tests.dispatch.parts import TOOL, ask, events, lab, texts
from tests.fakes import ScriptedToolset, SilentApprover
from tests.requirements import requirement
from tooldrawer import (
    Answer,
    ApprovalRequest,
    Config,
    Drawer,
    FunctionToolset,
    Grants,
    Limits,
    Next,
    Tool,
    ToolCall,
    ToolResult,
)
from tooldrawer.activity import CallFailed, CallFinished

pytestmark = pytest.mark.anyio

SHORT = Config(limits=Limits(call_timeout=0.05))


class Hanging:
    """A tool that never ends by itself, and remembers how it ended."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.ended_by: list[type[BaseException]] = []

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        self.began.set()
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            self.ended_by.append(type(error))
            raise
        raise AssertionError("forever is over")


@requirement("DSP-11")
async def test_an_async_function_that_hangs_is_cancelled_at_its_limit() -> None:
    hanging = Hanging()

    async def wait() -> None:
        await hanging.run(Tool(name="wait"), ToolCall(name="wait"))

    drawer = Drawer([FunctionToolset("local", [wait])], config=SHORT)
    with anyio.fail_after(60):
        result = await drawer.session().call("wait")
    assert hanging.ended_by == [anyio.get_cancelled_exc_class()]
    assert "It may still be running" in result.text


@requirement("DSP-11")
async def test_an_async_function_whose_thread_goes_on_is_not_said_to_be_stopped() -> None:
    release, written = Event(), Event()

    def write() -> None:
        release.wait(30)
        written.set()

    async def save() -> None:
        await anyio.to_thread.run_sync(write, abandon_on_cancel=True)

    drawer = Drawer([FunctionToolset("local", [save])], config=SHORT)
    try:
        with anyio.fail_after(60):
            result = await drawer.session().call("save")
    finally:
        release.set()
    assert await anyio.to_thread.run_sync(written.wait, 30)
    assert result.text == (
        "'save' did not finish within 0.05 s. It may still be running; do not repeat blindly. "
        "Check what it has done, or tell the user."
    )


@requirement("DSP-11")
async def test_a_cancelled_call_of_a_plain_function_may_still_be_running() -> None:
    began, release = Event(), Event()

    def wait() -> None:
        began.set()
        release.wait(30)

    drawer = Drawer([FunctionToolset("local", [wait])])
    try:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(drawer.session().call, "wait")
                await anyio.to_thread.run_sync(began.wait)
                tasks.cancel_scope.cancel()
    finally:
        release.set()
    (failed,) = events(drawer, CallFailed)
    assert failed.error == "cancelled; it may still be running"


@requirement("DSP-11")
async def test_a_call_that_is_cancelled_before_the_tool_runs_is_only_cancelled(
    grants: Grants,
) -> None:
    def wait() -> None: ...

    approver = SilentApprover()
    toolset = FunctionToolset("local", [wait])
    drawer = Drawer([toolset], guardrails=[ask], approver=approver, grants=grants)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drawer.session().call, "wait")
            await approver.asked.wait()
            tasks.cancel_scope.cancel()
    (failed,) = events(drawer, CallFailed)
    assert failed.error == "cancelled"


@requirement("DSP-8")
async def test_a_tool_that_hangs_is_stopped_at_its_limit() -> None:
    hanging = Hanging()
    drawer = Drawer([lab({}, hanging.run)], config=SHORT)
    with anyio.fail_after(60):
        result = await drawer.session().call(TOOL, call_id="c1")
    assert (result.is_error, result.call_id) == (True, "c1")
    assert result.text == (
        f"'{TOOL}' did not finish within 0.05 s and was stopped. "
        "Ask for less at once, or tell the user."
    )
    assert hanging.ended_by == [anyio.get_cancelled_exc_class()]
    (failed,) = events(drawer, CallFailed)
    assert (failed.tool, failed.error) == (TOOL, result.text)
    assert failed.duration > 0.04


@requirement("DSP-8")
@requirement("DSP-11")
async def test_a_plain_function_that_hangs_is_left_behind_at_its_limit() -> None:
    release = Event()

    def wait() -> str:
        """Wait for somebody who does not come."""
        release.wait(30)
        return "at last"

    drawer = Drawer([FunctionToolset("local", [wait])], config=SHORT)
    try:
        with anyio.fail_after(60):
            result = await drawer.session().call("wait")
    finally:
        release.set()
    assert result.is_error
    assert result.text == (
        "'wait' did not finish within 0.05 s. It may still be running; do not repeat blindly. "
        "Check what it has done, or tell the user."
    )


@requirement("DSP-8")
async def test_a_tool_that_finishes_while_it_is_stopped_still_gives_its_result() -> None:
    async def stubborn(tool: Tool, call: ToolCall) -> ToolResult:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            return ToolResult.of_text("what I have so far")
        raise AssertionError("forever is over")

    with anyio.fail_after(60):
        given = await Drawer([lab({}, stubborn)], config=SHORT).session().call(TOOL)
    assert (given.text, given.is_error) == ("what I have so far", False)


@requirement("DSP-8")
async def test_the_time_limit_is_the_tools_own_and_not_the_persons(grants: Grants) -> None:
    left: dict[str, float] = {}

    def note(who: str) -> None:
        left[who] = anyio.current_effective_deadline() - anyio.current_time()

    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        note("hook")
        return await proceed(call)

    async def approver(request: ApprovalRequest) -> Answer:
        note("person")
        return Answer.ONCE

    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        note("tool")
        return ToolResult()

    drawer = Drawer(
        [lab({}, run)],
        config=Config(limits=Limits(call_timeout=10, approval_timeout=1000)),
        hooks=[hook],
        guardrails=[ask],
        approver=approver,
        grants=grants,
    )
    await drawer.session().call(TOOL)
    assert left["hook"] == math.inf
    assert 10 < left["person"] <= 1000
    assert 0 < left["tool"] <= 10


@requirement("DSP-8")
async def test_a_toolset_that_keeps_time_itself_is_not_stopped() -> None:
    left: list[float] = []

    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        left.append(anyio.current_effective_deadline())
        return ToolResult()

    class Punctual(ScriptedToolset):
        keeps_time = True

    toolset = Punctual("lab", [Tool(name=TOOL)], run)
    await Drawer([toolset], config=SHORT).session().call(TOOL)
    assert left == [math.inf]


@requirement("DSP-8")
async def test_cancelling_a_call_reaches_the_tool() -> None:
    hanging = Hanging()
    drawer = Drawer([lab({}, hanging.run)])
    session = drawer.session()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.call, TOOL)
            await hanging.began.wait()
            tasks.cancel_scope.cancel()
    assert hanging.ended_by == [anyio.get_cancelled_exc_class()]
    (failed,) = events(drawer, CallFailed)
    assert (failed.tool, failed.error) == (TOOL, "cancelled")


@requirement("DSP-8")
async def test_cancelling_a_turn_reaches_every_tool_of_it() -> None:
    began, ended = [0], [0]
    everyone = anyio.Event()

    async def hang(tool: Tool, call: ToolCall) -> ToolResult:
        began[0] += 1
        if began[0] == 5:
            everyone.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended[0] += 1
        raise AssertionError("forever is over")

    session = Drawer([lab({}, hang)]).session()
    calls = [ToolCall(name=TOOL) for _ in range(20)]
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: session.call_all(calls, concurrency=5))
            await everyone.wait()
            tasks.cancel_scope.cancel()
    assert (began, ended) == ([5], [5])


@requirement("DSP-8")
async def test_cancelling_a_call_withdraws_the_question(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    approver = SilentApprover()
    drawer = Drawer([desk], guardrails=[ask], approver=approver, grants=grants)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drawer.session().call, "read_note", {"title": "a"})
            await approver.asked.wait()
            tasks.cancel_scope.cancel()
    assert approver.was_cancelled
    assert ran == []


@requirement("DSP-8")
async def test_one_call_can_be_cancelled_among_others() -> None:
    hanging = Hanging()
    drawer = Drawer([lab({}, hanging.run), FunctionToolset("local", [fine])])
    session = drawer.session()
    results: list[ToolResult] = []

    async def hang(scope: anyio.CancelScope) -> None:
        with scope:
            await session.call(TOOL)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()
            tasks.start_soon(hang, scope)
            await hanging.began.wait()
            results.append(await session.call("fine"))
            scope.cancel()
        results.append(await session.call("fine"))
    assert texts(results) == ["fine", "fine"]
    assert len(hanging.ended_by) == 1
    assert len(events(drawer, CallFinished)) == 2


async def fine() -> str:
    """Do something."""
    return "fine"
