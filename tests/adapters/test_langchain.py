"""LangChain and LangGraph: what is their own."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import (  # pyright: ignore[reportMissingTypeStubs]
    END,
    START,
    MessagesState,
    StateGraph,
)
from langgraph.prebuilt import ToolNode, tools_condition

from tests.adapters.rigs import ScriptedChat, agent_of
from tooldrawer import AssemblyPolicy, Config, Drawer, FunctionToolset
from tooldrawer.adapters.langchain import DrawerMiddleware

pytestmark = pytest.mark.anyio

ON = Config(assembly=AssemblyPolicy(enabled="on"))
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "Go on."}]}


def scripted(*turns: Any) -> ScriptedChat:
    return ScriptedChat(script=iter(turns), arrays=[])


async def test_the_agents_own_tools_stay_its_own(desk: FunctionToolset, ran: list[str]) -> None:
    @tool
    def roll(times: int) -> str:
        """Roll a die."""
        ran.append(f"roll {times}")
        return "4"

    model = scripted([("roll", {"times": 2}), ("read_note", {"title": "a"})], "Done.")
    middleware = DrawerMiddleware(Drawer([desk], config=ON).session())
    done = await agent_of(model, [roll], middleware=[middleware]).ainvoke(ASKED)
    assert sorted(ran) == ["read a", "roll 2"]
    assert done["messages"][-1].text == "Done."


async def test_arguments_that_are_no_json_for_an_own_tool_are_left_to_langchain(
    desk: FunctionToolset,
) -> None:
    @tool
    def roll(times: int) -> str:
        """Roll a die."""
        raise AssertionError(times)

    drawer = Drawer([desk], config=ON)
    middleware = DrawerMiddleware(drawer.session())
    agent = agent_of(scripted([("roll", '{"tim')]), [roll], middleware=[middleware])
    done = await agent.ainvoke(ASKED)
    last = done["messages"][-1]
    assert isinstance(last, AIMessage)
    assert last.invalid_tool_calls[0]["name"] == "roll"


async def test_updates_are_streamed(desk: FunctionToolset) -> None:
    model = scripted([("read_note", {"title": "a"})], "Done.")
    middleware = DrawerMiddleware(Drawer([desk], config=ON).session())
    agent = agent_of(model, middleware=[middleware])
    updates = [update async for update in agent.astream(ASKED, stream_mode="updates")]
    answers = [update["tools"]["messages"][0].text for update in updates if "tools" in update]
    assert answers == ["note a"]


def test_a_synchronous_run_is_refused_with_what_to_do(desk: FunctionToolset) -> None:
    middleware = DrawerMiddleware(Drawer([desk], config=ON).session())
    with pytest.raises(NotImplementedError, match=r"^A session is asynchronous\..*ainvoke"):
        agent_of(scripted("Done."), middleware=[middleware]).invoke(ASKED)


async def test_a_tool_node_of_ones_own_graph_answers_every_name(
    desk: FunctionToolset, ran: list[str]
) -> None:
    session = Drawer([desk], config=ON).session()
    model = scripted(
        [("read_note", {"title": "a"}), ("tool_call", {"name": "add_note", "title": "b"})], "Done."
    )

    async def think(state: MessagesState) -> dict[str, Any]:
        bound = model.bind_tools((await session.tools()).openai())
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", think)
    graph.add_node("tools", ToolNode([], awrap_tool_call=DrawerMiddleware(session).awrap_tool_call))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, ["tools", END])
    graph.add_edge("tools", "model")
    done = await graph.compile().ainvoke(ASKED)
    assert done["messages"][-1].text == "Done."
    assert sorted(ran) == ["add b None 1", "read a"]
    assert model.arrays == [["tool_search", "tool_describe", "tool_call"]] * 2
