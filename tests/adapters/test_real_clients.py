"""The frameworks with the providers' own clients, against a server as strict as the providers."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner
from anthropic import AsyncAnthropic
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from pydantic import SecretStr
from pydantic_ai import Agent
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openai import OpenAIResponsesModel as PydanticResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.rigs import agent_of
from tests.fakes import ScriptedToolset
from tests.models.script import Call, Say, Search, Turn
from tests.models.server import scripted
from tooldrawer import (
    AssemblyPolicy,
    Config,
    Drawer,
    FunctionToolset,
    Session,
    Tool,
    ToolCall,
    ToolResult,
)
from tooldrawer.adapters.langchain import DrawerMiddleware
from tooldrawer.adapters.openai_agents import DrawerAgent
from tooldrawer.adapters.pydantic_ai import DrawerCapability

pytestmark = pytest.mark.anyio

ON = Config(assembly=AssemblyPolicy(enabled="on"))
BRIDGE = {"tool_search", "tool_describe", "tool_call"}
PNG = "iVBORw0KGgo="
CLOSE = {"Connection": "close"}
"""So that no client keeps a socket when its test is over."""
Run = Callable[[Session, str], Awaitable[str]]


def pydantic(model: Callable[[str], Model]) -> Run:
    async def run(session: Session, url: str) -> str:
        agent = Agent(model(url), capabilities=[DrawerCapability(session)])
        return (await agent.run("Go on.")).output

    return run


def agents(kind: type[OpenAIChatCompletionsModel | OpenAIResponsesModel]) -> Run:
    async def run(session: Session, url: str) -> str:
        model = kind("gpt-5", openai(url))
        agent = DrawerAgent[Any](name="desk", model=model, drawer_session=session)
        config = RunConfig(tracing_disabled=True)
        return (await Runner.run(agent, "Go on.", run_config=config)).final_output

    return run


def langchain(model: Callable[[str], BaseChatModel], *, pictures: bool = True) -> Run:
    async def run(session: Session, url: str) -> str:
        agent = agent_of(model(url), middleware=[DrawerMiddleware(session, pictures=pictures)])
        done = await agent.ainvoke({"messages": [{"role": "user", "content": "Go on."}]})
        return done["messages"][-1].text

    return run


def openai(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{url}/v1", api_key="key", default_headers=CLOSE)


def anthropic(url: str) -> AsyncAnthropic:
    return AsyncAnthropic(base_url=url, api_key="key", default_headers=CLOSE)


def chat(url: str, *, responses: bool) -> ChatOpenAI:
    return ChatOpenAI(
        model="gpt-5",
        base_url=f"{url}/v1",
        api_key=SecretStr("key"),
        default_headers=CLOSE,
        use_responses_api=responses,
    )


def claude(url: str) -> ChatAnthropic:
    return ChatAnthropic(
        model_name="claude-scripted",
        base_url=url,
        api_key=SecretStr("key"),
        default_headers=CLOSE,
        timeout=None,
        stop=None,
    )


RUNS: dict[str, Run] = {
    "pydantic-ai, chat": pydantic(
        lambda url: OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=openai(url)))
    ),
    "pydantic-ai, responses": pydantic(
        lambda url: PydanticResponsesModel(
            "gpt-5", provider=OpenAIProvider(openai_client=openai(url))
        )
    ),
    "pydantic-ai, anthropic": pydantic(
        lambda url: AnthropicModel(
            "claude-scripted", provider=AnthropicProvider(anthropic_client=anthropic(url))
        )
    ),
    "openai-agents, chat": agents(OpenAIChatCompletionsModel),
    "openai-agents, responses": agents(OpenAIResponsesModel),
    "langchain, chat": langchain(lambda url: chat(url, responses=False)),
    "langchain, responses": langchain(lambda url: chat(url, responses=True)),
    "langchain, anthropic": langchain(claude),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
async def test_the_providers_clients_take_every_request_and_answer(
    run: Run, desk: FunctionToolset, ran: list[str]
) -> None:
    added = {"name": "add_note", "arguments": {"title": "milk"}}
    steps = (
        Search("put a new note on the desk"),
        Call("tool_call", added),
        Turn(calls=[Call("read_note", {"title": "a"}, blind=True), Call("fly", blind=True)]),
        Say("Done."),
    )
    with scripted(*steps) as server:
        output = await run(Drawer([desk], config=ON).session(), server.url)
    assert output == "Done."
    assert server.refusals == []
    assert [seen.names for seen in server.seen] == [BRIDGE] * 4
    texts = [result.text for result in server.seen[-1].results]
    assert "add_note" in texts[0]
    assert texts[1:3] == ["added milk", "note a"]
    assert "There is no tool of that name" in texts[3]
    assert ran == ["add milk None 1", "read a"]


@pytest.mark.parametrize("name", [name for name in RUNS if "anthropic" not in name])
async def test_arguments_that_are_no_json_are_answered_where_they_are_text(
    name: str, desk: FunctionToolset, ran: list[str]
) -> None:
    with scripted(Call("tool_call", raw='{"name": "read_no'), Say("Sorry.")) as server:
        output = await RUNS[name](Drawer([desk], config=ON).session(), server.url)
    assert output == "Sorry."
    assert server.refusals == []
    assert len(server.seen[-1].results) == 1
    assert ran == []


def pictured() -> Session:
    content = ({"type": "image", "data": PNG, "mimeType": "image/png"},)

    async def give(tool: Tool, call: ToolCall) -> ToolResult:
        return ToolResult(content=content)

    return Drawer([ScriptedToolset("camera", [Tool(name="give")], give)], config=ON).session()


SEEING = [name for name in RUNS if name not in ("openai-agents, chat", "langchain, chat")]
"""OpenAI's chat completions take no picture from a tool; Pydantic AI shows it as the person's."""


@pytest.mark.parametrize("name", SEEING)
async def test_pictures_reach_the_model(name: str) -> None:
    with scripted(Call("give", blind=True), Say("A garden.")) as server:
        assert await RUNS[name](pictured(), server.url) == "A garden."
    assert server.refusals == []
    assert PNG.encode() in server.requests[-1].body


@pytest.mark.parametrize(
    "run",
    [
        RUNS["openai-agents, chat"],
        langchain(lambda url: chat(url, responses=False), pictures=False),
    ],
    ids=["openai-agents", "langchain"],
)
async def test_where_no_picture_can_be_shown_the_model_is_told_of_it(run: Run) -> None:
    with scripted(Call("give", blind=True), Say("I see nothing.")) as server:
        assert await run(pictured(), server.url) == "I see nothing."
    assert server.refusals == []
    assert [result.text for result in server.seen[-1].results] == ["[image, image/png, 8 bytes]"]
