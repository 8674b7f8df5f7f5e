"""Pydantic AI: what is its own."""

from collections.abc import AsyncIterator

import pytest
from pydantic_ai import Agent, UnexpectedModelBehavior
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from tooldrawer import AssemblyPolicy, Config, Drawer, FunctionToolset
from tooldrawer.adapters.pydantic_ai import DrawerCapability, DrawerToolset

pytestmark = pytest.mark.anyio

ON = Config(assembly=AssemblyPolicy(enabled="on"))


def saying(*parts: ToolCallPart | TextPart, arrays: list[list[str]] | None = None) -> FunctionModel:
    """A model that says one part after the other."""
    script = iter(parts)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if arrays is not None:
            arrays.append([tool.name for tool in info.function_tools])
        return ModelResponse(parts=[next(script)])

    return FunctionModel(answer)


async def test_the_toolset_alone_has_the_bridge(desk: FunctionToolset, ran: list[str]) -> None:
    session = Drawer([desk], config=ON).session()
    model = saying(
        ToolCallPart("tool_call", {"name": "read_note", "arguments": {"title": "a"}}),
        TextPart("Done."),
    )
    agent = Agent(model, toolsets=[DrawerToolset(session, id="drawer")])
    assert (await agent.run("Go on.")).output == "Done."
    assert ran == ["read a"]


async def test_the_toolset_alone_never_hears_of_a_name_outside_the_array(
    desk: FunctionToolset, ran: list[str]
) -> None:
    session = Drawer([desk], config=ON).session()
    call = ToolCallPart("read_note", {"title": "a"})
    agent = Agent(saying(call, call), toolsets=[DrawerToolset(session)])
    with pytest.raises(UnexpectedModelBehavior, match="read_note"):
        await agent.run("Go on.")
    assert ran == []


async def test_the_agents_own_tools_stay_beside_the_sessions(
    desk: FunctionToolset, ran: list[str]
) -> None:
    session, arrays = Drawer([desk], config=ON).session(), list[list[str]]()
    model = saying(
        ToolCallPart("roll", {}),
        ToolCallPart("read_note", {"title": "a"}),
        TextPart("Done."),
        arrays=arrays,
    )
    agent = Agent(model, capabilities=[DrawerCapability(session)])

    @agent.tool_plain
    def roll() -> str:
        ran.append("roll")
        return "4"

    await agent.run("Go on.")
    assert ran == ["roll", "read a"]
    assert arrays[0] == arrays[2]
    assert {"roll", "tool_call"} < set(arrays[0])


async def test_the_conversation_keeps_the_call_as_the_model_made_it(desk: FunctionToolset) -> None:
    session = Drawer([desk], config=ON).session()
    model = saying(ToolCallPart("read_note", '{"title":"a"}', "c1"), TextPart("Done."))
    done = await Agent(model, capabilities=[DrawerCapability(session)]).run("Go on.")
    parts = [part for message in done.all_messages() for part in message.parts]
    (call,) = [part for part in parts if isinstance(part, ToolCallPart)]
    (answer,) = [part for part in parts if isinstance(part, ToolReturnPart)]
    assert (call.tool_name, call.args, call.tool_call_id) == ("read_note", '{"title":"a"}', "c1")
    assert (answer.tool_name, answer.tool_call_id) == ("read_note", "c1")
    stored = ModelMessagesTypeAdapter.dump_json(done.all_messages())
    assert ModelMessagesTypeAdapter.validate_json(stored)


async def test_a_streamed_answer_may_call_a_deferred_name(
    desk: FunctionToolset, ran: list[str]
) -> None:
    session = Drawer([desk], config=ON).session()
    turns = iter([DeltaToolCall("read_note", '{"title": "a"}'), "Done."])

    async def stream(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        turn = next(turns)
        yield turn if isinstance(turn, str) else {0: turn}

    agent = Agent(FunctionModel(stream_function=stream), capabilities=[DrawerCapability(session)])
    async with agent.run_stream_events("Go on.") as events:
        seen = [event async for event in events]
    calls = [event for event in seen if isinstance(event, FunctionToolCallEvent)]
    assert [(event.part.tool_name, event.args_valid) for event in calls] == [("read_note", True)]
    assert ran == ["read a"]


async def test_one_agent_serves_one_session_after_the_other(
    desk: FunctionToolset, ran: list[str]
) -> None:
    drawer = Drawer([desk], config=ON)
    call = ToolCallPart("read_note", {"title": "a"})
    agent = Agent(saying(call, TextPart("1"), call, TextPart("2")))
    for name in ("first", "second"):
        await agent.run("Go on.", capabilities=[DrawerCapability(drawer.session(name))])
    assert ran == ["read a"] * 2
    assert {event.session for event in drawer.activity} == {"first", "second"}
