"""The calls that `call_all` takes: whatever an SDK or a host holds them in."""

from typing import Any

import pytest
from anthropic.types import ToolUseBlock
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall

from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset
from tooldrawer.call import ToolCall, ToolResult

pytestmark = pytest.mark.anyio


def put(title: str) -> str:
    """Put a note."""
    return title


def _chat_call() -> object:
    call = {"id": "call_1", "type": "function", "function": {"name": "put", "arguments": GIVEN}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return (ChatCompletionMessage.model_validate(message).tool_calls or [])[0]


GIVEN = '{"title": "milk"}'
OBJECTS = {
    "chat": _chat_call(),
    "responses": ResponseFunctionToolCall(
        type="function_call", id="fc_1", call_id="call_1", name="put", arguments=GIVEN
    ),
    "anthropic": ToolUseBlock(type="tool_use", id="call_1", name="put", input={"title": "milk"}),
}


@requirement("DSP-7")
@pytest.mark.parametrize("form", ["object", "mapping"])
@pytest.mark.parametrize("whose", OBJECTS)
async def test_a_call_of_an_sdk_is_taken_as_it_is(whose: str, form: str) -> None:
    entry: Any = OBJECTS[whose]
    given = entry if form == "object" else entry.model_dump()
    session = Drawer([FunctionToolset("notes", [put])]).session()
    (result,) = await session.call_all([given])
    assert (result.text, result.call_id, result.is_error) == ("milk", "call_1", False)


@requirement("DSP-9")
@pytest.mark.parametrize("bad", ["x", None, (), ("put",), ["put", {}], (1, {}), 5, object()])
async def test_an_entry_that_is_not_a_call_is_refused_before_anything_runs(bad: Any) -> None:
    ran: list[str] = []

    def note(title: str) -> None:
        ran.append(title)

    session = Drawer([FunctionToolset("notes", [note])]).session()
    with pytest.raises(TypeError, match=r"cannot be read as a call\. An entry is a ToolCall"):
        await session.call_all([ToolCall(name="note", arguments={"title": "milk"}), bad])
    assert not ran


async def test_what_the_host_raises_for_a_result_leaves_as_it_is() -> None:
    def fail(_position: int, _result: ToolResult) -> None:
        raise KeyError("the host is gone")

    session = Drawer([FunctionToolset("notes", [put])]).session()
    with pytest.raises(KeyError, match="the host is gone"):
        await session.call_all([("put", {"title": "milk"})] * 3, each=fail)


@pytest.mark.parametrize("concurrency", [0, -3])
async def test_no_call_at_a_time_is_refused(concurrency: int) -> None:
    session = Drawer([FunctionToolset("notes", [put])]).session()
    with pytest.raises(ValueError, match=f"concurrency is {concurrency}; give 1 or more"):
        await session.call_all([("put", {"title": "milk"})], concurrency=concurrency)
