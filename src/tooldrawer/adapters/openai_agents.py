"""OpenAI Agents SDK: an agent whose tools are those of a session."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tooldrawer.adapters.beside import beside
from tooldrawer.assembly import Assembly
from tooldrawer.call import thawed
from tooldrawer.session import Session
from tooldrawer.tool import Json
from tooldrawer.tool import Tool as Described
from tooldrawer.wire.content import Part, parts, told

try:
    from agents import (
        Agent,
        AgentOutputSchemaBase,
        FunctionTool,
        Handoff,
        Model,
        ModelResponse,
        ModelSettings,
        ModelTracing,
        RunContextWrapper,
        TContext,
        Tool,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
        TResponseInputItem,
    )
    from agents.items import TResponseStreamEvent
    from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
    from agents.tool import FunctionToolCustomDataContext
    from agents.tool_context import ToolContext
    from openai.types.responses import (
        ResponseCompletedEvent,
        ResponseFunctionToolCall,
        ResponseOutputItemDoneEvent,
    )
    from openai.types.responses.response_prompt_param import ResponsePromptParam
except ImportError as missing:
    raise ImportError(
        "tooldrawer.adapters.openai_agents needs the OpenAI Agents SDK. "
        "Install it with: pip install 'tooldrawer[openai-agents]'"
    ) from missing

_AS_OUTPUT = "json_tool_call"
"""The SDK's own name for structured output where a model has none; it is nobody's tool."""
_NAMELESS = "nameless"
"""Instead of an empty name, which the runner cannot look up and no provider takes back."""

Output = ToolOutputText | ToolOutputImage | ToolOutputFileContent


@dataclass
class DrawerAgent(Agent[TContext]):
    """An agent with a session's tools after its own, decided anew before each request.

    The runner asks `get_all_tools` once a turn and keeps nothing. `Agent.tools` is fixed; an MCP
    server would be asked as often, but the SDK reads, and refuses, the arguments before it.

    A `model` that is a `Model` is wrapped in a `DrawerModel`, so that a call of a name outside the
    array arrives too. One that is a name, or comes from the run's configuration, is not.
    """

    drawer_session: Session = field(kw_only=True)

    def __post_init__(self) -> None:
        self._offer = _Offer(self.drawer_session)
        self._run_context: RunContextWrapper[TContext] | None = None
        # A clone may have another session, and then a model that was wrapped with the first one's.
        model = self.model.model if isinstance(self.model, DrawerModel) else self.model
        if isinstance(model, Model):
            self.model = DrawerModel(model, self.drawer_session)
        super().__post_init__()

    async def get_all_tools(self, run_context: RunContextWrapper[TContext]) -> list[Tool]:
        """The agent's own tools, then the session's array for the next request."""
        if run_context is not self._run_context:  # a run begins with what the user wrote
            self._run_context = run_context
            self.drawer_session.note_user_message()
        own = await super().get_all_tools(run_context)
        return [*own, *self._offer.shown(await self.drawer_session.tools())]


class DrawerModel(Model):
    """A model whose calls of unknown names are the session's to answer.

    The runner raises an error on a name that is not among the turn's tools. It looks when the model
    has answered, in the list that the model was given: what the answer calls is added to that.
    """

    def __init__(self, model: Model, session: Session) -> None:
        self.model = model
        self._offer = _Offer(session)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002  their word
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> ModelResponse:
        """What the model answers."""
        response = await self.model.get_response(
            system_instructions,
            input,
            model_settings,
            tools,
            output_schema,
            handoffs,
            tracing,
            previous_response_id=previous_response_id,
            conversation_id=conversation_id,
            prompt=prompt,
        )
        self._offer.admit(response.output, tools, handoffs)
        return response

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002  their word
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """What the model answers, as it arrives."""
        events = self.model.stream_response(
            system_instructions,
            input,
            model_settings,
            tools,
            output_schema,
            handoffs,
            tracing,
            previous_response_id=previous_response_id,
            conversation_id=conversation_id,
            prompt=prompt,
        )
        async for event in events:
            # Some endpoints leave the last event without what the earlier ones brought.
            if isinstance(event, ResponseOutputItemDoneEvent):
                self._offer.admit([event.item], tools, handoffs)
            elif isinstance(event, ResponseCompletedEvent):
                self._offer.admit(event.response.output, tools, handoffs)
            yield event

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """What the model says."""
        return self.model.get_retry_advice(request)

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self.model._cleanup_on_run_end(owner)

    def __getattr__(self, name: str) -> Any:
        """Whatever else the SDK asks a model about, such as its prompt cache."""
        if name == "model":  # not there yet, while a copy is made
            raise AttributeError(name)
        return getattr(self.model, name)


class _Offer:
    """A session's tools as function tools."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._assembly: Assembly | None = None
        self._shown: list[FunctionTool] = []
        self._beside: dict[str, dict[str, Json]] = {}

    def shown(self, assembly: Assembly) -> list[FunctionTool]:
        """The array."""
        if assembly is not self._assembly:
            self._shown = [self._tool(tool) for tool in assembly.tools]
            self._assembly = assembly
        return self._shown

    def admit(
        self, items: Iterable[object], tools: list[Tool], handoffs: Iterable[Handoff]
    ) -> None:
        """Add to `tools` what `items` call and nobody offers."""
        known = {_AS_OUTPUT, *(tool.name for tool in tools)}
        known.update(handoff.tool_name for handoff in handoffs)
        for item in items:
            if not isinstance(item, ResponseFunctionToolCall):
                continue
            item.name = item.name or _NAMELESS
            if item.name not in known:
                known.add(item.name)
                tools.append(self._tool(Described(name=item.name)))

    def _tool(self, tool: Described) -> FunctionTool:
        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=thawed(tool.parameters),
            on_invoke_tool=partial(self._call, tool.name),
            # Strict mode rewrites a schema, and refuses many that servers have.
            strict_json_schema=False,
            custom_data_extractor=self._extracted,
        )

    async def _call(self, name: str, context: ToolContext[Any], text: str) -> str | list[Output]:
        result = await self._session.call(name, text, call_id=context.tool_call_id)
        if data := beside(result):
            self._beside[context.tool_call_id] = data
        outputs = [_output(part) for part in parts(result)]
        texts = [output for output in outputs if isinstance(output, ToolOutputText)]
        # There is no flag for errors: the text must say that it is one.
        if result.is_error or texts == outputs:
            return told(result)
        # On chat completions the SDK drops all but text, and an answer must not be empty.
        return outputs if texts else [ToolOutputText(text=told(result)), *outputs]

    def _extracted(self, context: FunctionToolCustomDataContext) -> Mapping[str, Any] | None:
        return self._beside.pop(context.tool_context.tool_call_id, None)


def _output(part: Part) -> Output:
    if isinstance(part, str):
        return ToolOutputText(text=part)
    if part.is_picture:
        return ToolOutputImage(image_url=part.url)
    if part.is_pdf:
        return ToolOutputFileContent(file_data=part.url, filename=part.uri or "result.pdf")
    return ToolOutputText(text=part.line)
