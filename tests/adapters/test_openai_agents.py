"""OpenAI Agents SDK: what is its own."""

from copy import copy
from typing import Any

import pytest
from agents import (
    Agent,
    ModelBehaviorError,
    RunConfig,
    Runner,
    Tool,
    function_tool,
)
from agents.models.interface import Model
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from tooldrawer import AssemblyPolicy, Config, Drawer, FunctionToolset
from tooldrawer.adapters.openai_agents import DrawerAgent, DrawerModel

pytestmark = pytest.mark.anyio

ON = Config(assembly=AssemblyPolicy(enabled="on"))
QUIET = RunConfig(tracing_disabled=True)
DONE = [assistant_message("Done.")]


def reads(title: str = "a", *, call_id: str = "c1") -> list[Any]:
    return [function_call("read_note", {"title": title}, call_id=call_id)]


async def test_a_streamed_answer_may_call_a_deferred_name(
    desk: FunctionToolset, ran: list[str]
) -> None:
    agent = DrawerAgent[None](
        name="desk",
        model=ScriptedModel([reads(), DONE]),
        drawer_session=Drawer([desk], config=ON).session(),
    )
    result = Runner.run_streamed(agent, "Go on.", run_config=QUIET)
    names = [
        event.name
        async for event in result.stream_events()
        if event.type == "run_item_stream_event"
    ]
    assert names == ["tool_called", "tool_output", "message_output_created"]
    assert result.final_output == "Done."
    assert ran == ["read a"]


async def test_own_tools_and_handoffs_stay_beside_the_sessions(
    desk: FunctionToolset, ran: list[str]
) -> None:
    @function_tool
    def roll() -> str:
        ran.append("roll")
        return "4"

    shown: list[list[str]] = []

    def noting(output: list[Any]) -> ModelStep:
        def respond(call: Any) -> list[Any]:
            tools: list[Tool] = call.tools
            shown.append([tool.name for tool in tools])
            return output

        return ModelStep.respond(respond)

    other = Agent[None](name="other", model=ScriptedModel([DONE]))
    script = [
        noting([function_call("roll", {}, call_id="c1"), *reads(call_id="c2")]),
        noting([function_call("transfer_to_other", {}, call_id="c3")]),
    ]
    agent = DrawerAgent[None](
        name="desk",
        model=ScriptedModel(script),
        tools=[roll],
        handoffs=[other],
        drawer_session=Drawer([desk], config=ON).session(),
    )
    done = await Runner.run(agent, "Go on.", run_config=QUIET)
    assert shown == [["roll", "tool_search", "tool_describe", "tool_call"]] * 2
    assert sorted(ran) == ["read a", "roll"]
    assert done.last_agent is other


async def test_a_clone_with_another_session_asks_that_one(
    desk: FunctionToolset, ran: list[str]
) -> None:
    drawer = Drawer([desk], config=ON)
    model = ScriptedModel([reads(), DONE])
    agent = DrawerAgent[None](name="desk", model=model, drawer_session=drawer.session("first"))
    clone = agent.clone(drawer_session=drawer.session("second"))
    assert isinstance(clone.model, DrawerModel)
    assert clone.model.model is model
    await Runner.run(clone, "Go on.", run_config=QUIET)
    assert ran == ["read a"]
    assert {event.session for event in drawer.activity} == {"second"}


async def test_a_model_of_the_runs_configuration_is_not_wrapped(
    desk: FunctionToolset, ran: list[str]
) -> None:
    agent = DrawerAgent[None](name="desk", drawer_session=Drawer([desk], config=ON).session())
    config = RunConfig(tracing_disabled=True, model=ScriptedModel([reads()]))
    with pytest.raises(ModelBehaviorError, match="read_note"):
        await Runner.run(agent, "Go on.", run_config=config)
    going_on = RunConfig(
        tracing_disabled=True,
        model=ScriptedModel([reads(), DONE]),
        tool_not_found_behavior="return_error_to_model",
    )
    done = await Runner.run(agent, "Go on.", run_config=going_on)
    assert done.final_output == "Done."
    assert ran == []


async def test_a_wrapped_model_in_the_runs_configuration_lets_every_name_through(
    desk: FunctionToolset, ran: list[str]
) -> None:
    session = Drawer([desk], config=ON).session()
    model: Model = DrawerModel(ScriptedModel([reads(), DONE]), session)
    agent = DrawerAgent[None](name="desk", drawer_session=session)
    await Runner.run(agent, "Go on.", run_config=RunConfig(tracing_disabled=True, model=model))
    assert ran == ["read a"]


def test_a_wrapped_model_answers_for_what_it_wraps(desk: FunctionToolset) -> None:
    inner = ScriptedModel([DONE])
    model = DrawerModel(inner, Drawer([desk]).session())
    assert model.remaining_steps == 1
    assert copy(model).remaining_steps == 1
    with pytest.raises(AttributeError, match="colour"):
        _ = model.colour
