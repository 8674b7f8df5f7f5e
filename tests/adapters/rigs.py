"""An agent of each framework, with a model that follows a script and notes what it saw."""

import base64
import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, TypeAlias, cast

from agents import RunConfig, Runner
from agents.items import ToolCallOutputItem
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.testing.model import ModelCall
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tooldrawer import Session
from tooldrawer.adapters.langchain import DrawerMiddleware
from tooldrawer.adapters.openai_agents import DrawerAgent
from tooldrawer.adapters.pydantic_ai import DrawerCapability

Call: TypeAlias = tuple[str, "dict[str, Any] | str"]
Said: TypeAlias = "str | Sequence[Call]"
Turn: TypeAlias = "Said | Callable[[], Said]"
"""What the model says; a function does something else first, while the model thinks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back for one call, as the framework has it."""

    text: str
    images: tuple[bytes, ...] = ()
    is_error: bool = False
    beside: Any = None
    """What the application gets and the model does not."""


@dataclass(slots=True)
class Heard:
    """What the model saw, and what it was answered."""

    arrays: list[list[str]] = field(default_factory=list[list[str]])
    answers: list[Answer] = field(default_factory=list[Answer])
    output: str = ""


class Rig(Protocol):
    """Runs one conversation."""

    @abstractmethod
    async def run(self, session: Session, *turns: Turn) -> Heard: ...


def said(turn: Turn) -> Said:
    return turn() if callable(turn) else turn


_COUNT = count(1)


def numbered(calls: Sequence[Call]) -> list[tuple[str, str, dict[str, Any] | str]]:
    """Calls with ids, which no two calls share."""
    return [(f"call_{next(_COUNT)}", name, arguments) for name, arguments in calls]


class PydanticRig(Rig):
    async def run(self, session: Session, *turns: Turn) -> Heard:
        heard, script = Heard(), iter(turns)

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            heard.arrays.append([tool.name for tool in info.function_tools])
            now = said(next(script))
            if isinstance(now, str):
                return ModelResponse(parts=[TextPart(now)])
            return ModelResponse(
                parts=[ToolCallPart(name, args, key) for key, name, args in numbered(now)]
            )

        agent = Agent(FunctionModel(answer), capabilities=[DrawerCapability(session)])
        done = await agent.run("Go on.")
        parts = [
            part
            for message in done.all_messages()
            if isinstance(message, ModelRequest)
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        ]
        heard.answers, heard.output = [self.read(part) for part in parts], done.output
        return heard

    @staticmethod
    def read(part: ToolReturnPart) -> Answer:
        content: Any = part.content
        pieces = cast("list[object]", content if isinstance(content, list) else [content])
        return Answer(
            text="\n".join(piece for piece in pieces if isinstance(piece, str)),
            images=tuple(piece.data for piece in pieces if isinstance(piece, BinaryContent)),
            is_error=part.outcome == "failed",
            beside=part.metadata,
        )


class AgentsRig(Rig):
    async def run(self, session: Session, *turns: Turn) -> Heard:
        heard = Heard()

        def step(turn: Turn) -> ModelStep:
            def respond(call: ModelCall) -> list[Any]:
                heard.arrays.append([tool.name for tool in call.tools])
                now = said(turn)
                if isinstance(now, str):
                    return [assistant_message(now)]
                return [
                    function_call(
                        name, args if isinstance(args, str) else json.dumps(args), call_id=key
                    )
                    for key, name, args in numbered(now)
                ]

            return ModelStep.respond(respond)

        model = ScriptedModel([step(turn) for turn in turns])
        agent = DrawerAgent[None](name="desk", model=model, drawer_session=session)
        done = await Runner.run(agent, "Go on.", run_config=RunConfig(tracing_disabled=True))
        items = [item for item in done.new_items if isinstance(item, ToolCallOutputItem)]
        heard.answers, heard.output = [self.read(item) for item in items], done.final_output
        return heard

    @staticmethod
    def read(item: ToolCallOutputItem) -> Answer:
        output = cast("dict[str, Any]", item.raw_item)["output"]
        parts = [{"text": output}] if isinstance(output, str) else output
        return Answer(
            text="\n".join(part["text"] for part in parts if "text" in part),
            images=tuple(
                base64.b64decode(part["image_url"].partition(",")[2])
                for part in parts
                if "image_url" in part
            ),
            is_error=bool(item.custom_data and item.custom_data.get("isError")),
            beside=item.custom_data,
        )


class ScriptedChat(BaseChatModel):
    """A chat model of LangChain that follows a script."""

    script: Any
    arrays: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        tools: list[dict[str, Any]] = kwargs.get("tools", [])
        self.arrays.append([tool["function"]["name"] for tool in tools])
        now = said(next(self.script))
        if isinstance(now, str):
            message = AIMessage(now)
        else:
            calls = [{"id": key, "name": name, "args": args} for key, name, args in numbered(now)]
            message = AIMessage(
                "",
                tool_calls=[call for call in calls if isinstance(call["args"], dict)],
                invalid_tool_calls=[
                    {**call, "error": None} for call in calls if isinstance(call["args"], str)
                ],
            )
        return ChatResult(generations=[ChatGeneration(message=message)])


agent_of = cast("Any", create_agent)
"""LangChain's types are not whole: what they return would be unknown in every test."""


class LangChainRig(Rig):
    async def run(self, session: Session, *turns: Turn) -> Heard:
        heard = Heard()
        model = ScriptedChat(script=iter(turns), arrays=heard.arrays)
        agent = agent_of(model, middleware=[DrawerMiddleware(session)])
        done = await agent.ainvoke({"messages": [{"role": "user", "content": "Go on."}]})
        messages = done["messages"]
        heard.answers = [
            self.read(message) for message in messages if isinstance(message, ToolMessage)
        ]
        heard.output = messages[-1].text
        return heard

    @staticmethod
    def read(message: ToolMessage) -> Answer:
        blocks = cast("list[dict[str, Any]]", message.content_blocks)
        return Answer(
            text="\n".join(block["text"] for block in blocks if block["type"] == "text"),
            images=tuple(
                base64.b64decode(block["base64"]) for block in blocks if block["type"] == "image"
            ),
            is_error=message.status == "error",
            beside=message.artifact,
        )
