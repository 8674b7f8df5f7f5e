"""The reason of a failure reaches the model, whatever it is wrapped in."""

import anyio
import pytest

from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset
from tooldrawer.activity import CallRefused
from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.dispatch import Next

pytestmark = pytest.mark.anyio


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def put(title: str) -> str:
    """Put a note."""
    return title


async def hook_with_tasks(call: ToolCall, proceed: Next) -> ToolResult:
    results: list[ToolResult] = []
    async with anyio.create_task_group():
        results.append(await proceed(call))
    return results[0]


async def hook_that_fails_late(call: ToolCall, proceed: Next) -> ToolResult:
    await proceed(call)
    raise ValueError("the audit is closed")


@requirement("DSP-9")
async def test_the_error_in_a_task_group_of_a_tool_is_the_reason() -> None:
    async def work() -> None:
        async with anyio.create_task_group(), anyio.create_task_group():
            raise ValueError("the page is missing")

    result = await Drawer([FunctionToolset("jobs", [work])]).session().call("work")
    assert (result.text, result.is_error) == ("'work' failed: the page is missing", True)


@requirement("DSP-9")
async def test_a_refusal_inside_a_task_group_of_a_hook_stays_a_refusal() -> None:
    drawer = Drawer([FunctionToolset("notes", [put])], hooks=[hook_with_tasks])
    result = await drawer.session().call("put", {"title": []})
    assert result.text.startswith("'put' was not run: ")
    assert [type(event) for event in drawer.activity][-1] is CallRefused


@requirement("DSP-11")
async def test_a_hook_that_fails_after_the_tool_says_that_the_tool_ran() -> None:
    drawer = Drawer([FunctionToolset("notes", [put])], hooks=[hook_that_fails_late])
    result = await drawer.session().call("put", {"title": "milk"})
    assert result.text == (
        "'put' ran, and after that a hook failed: the audit is closed. Tell the user; do not try "
        "again."
    )


@requirement("DSP-9")
async def test_an_exception_without_a_text_is_that_of_the_tool() -> None:
    def work() -> None:
        raise Mute

    result = await Drawer([FunctionToolset("jobs", [work])]).session().call("work")
    assert (result.text, result.is_error) == (
        "'work' failed: Mute (its text cannot be shown)",
        True,
    )
