"""Pydantic AI: a session as a toolset, and as a capability that lets no call past it."""

import json
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from tooldrawer.adapters.beside import beside
from tooldrawer.assembly import Assembly
from tooldrawer.call import ToolResult, thawed
from tooldrawer.session import Session
from tooldrawer.tool import Json, Tool
from tooldrawer.wire.content import Part, parts, told

try:
    from pydantic_ai import RunContext, ToolDefinition, ToolReturn
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import BinaryContent, ModelResponse
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
except ImportError as missing:
    raise ImportError(
        "tooldrawer.adapters.pydantic_ai needs Pydantic AI, version 2. "
        "Install it with: pip install 'tooldrawer[pydantic-ai]'"
    ) from missing


class DrawerToolset(AbstractToolset[AgentDepsT]):
    """The session's tools array, decided anew at each step of a run.

    Pydantic AI refuses a name that is not in the array before any toolset hears of it; with
    `DrawerCapability` those calls arrive too.
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  their word
        self.session = session
        self._id = id
        self._run_id: str | None = None
        self._assembly: Assembly | None = None
        self._definitions: dict[str, ToolDefinition] = {}

    @property
    def id(self) -> str | None:
        """What tells it from the other toolsets of an agent."""
        return self._id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The array for the next request."""
        if ctx.run_id != self._run_id:  # a run begins with what the user wrote
            self._run_id = ctx.run_id
            self.session.note_user_message()
        assembly = await self.session.tools()
        if assembly is not self._assembly:
            self._definitions = {tool.name: _definition(tool) for tool in assembly.tools}
            self._assembly = assembly
        return {
            name: self._known_tool(definition, ctx)
            for name, definition in self._definitions.items()
        }

    def _known_tool(
        self, definition: ToolDefinition, ctx: RunContext[AgentDepsT]
    ) -> ToolsetTool[AgentDepsT]:
        return ToolsetTool(
            toolset=self,
            tool_def=definition,
            max_retries=ctx.max_retries,
            args_validator=_AsWritten(),
        )

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> object:
        """Answer a call: the content, or a failed return for an error."""
        arguments: Json = tool_args.text if isinstance(tool_args, _Text) else tool_args
        result = await self.session.call(name, arguments, call_id=ctx.tool_call_id or "")
        if result.is_error:
            raise ToolFailed(told(replace(result, is_error=False)))  # it marks errors itself
        return _returned(result)


_PLACEHOLDER = Tool(name="tooldrawer_placeholder")


class _CapabilityToolset(DrawerToolset[AgentDepsT]):
    """The toolset of a capability, which always has a tool.

    Pydantic AI finds the toolset for a call through a tool that it knows. When the session's array
    is empty, that is a placeholder, which the capability takes out of the request.
    """

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The array for the next request, or the placeholder."""
        tools = await super().get_tools(ctx)
        return tools or {_PLACEHOLDER.name: self._known_tool(_definition(_PLACEHOLDER), ctx)}


@dataclass(init=False)
class DrawerCapability(AbstractCapability[AgentDepsT]):
    """`DrawerToolset`, and every name that it did not list: the session answers all calls."""

    toolset: DrawerToolset[AgentDepsT]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  their word
        self.toolset = _CapabilityToolset(session, id=id)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a session cannot be written into a file."""
        return None

    def get_toolset(self) -> DrawerToolset[AgentDepsT]:
        """The tools that it brings."""
        return self.toolset

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Take the placeholder out of the request."""
        parameters = request_context.model_request_parameters
        shown = [tool for tool in parameters.function_tools if tool.name != _PLACEHOLDER.name]
        if len(shown) == len(parameters.function_tools):
            return request_context
        changed = replace(parameters, function_tools=shown)
        return replace(request_context, model_request_parameters=changed)

    async def after_model_request(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Make the names that the model called, and nobody knows, known for this step.

        The calls themselves stay as the model wrote them, and so does the conversation.
        """
        known = ctx.tool_manager and ctx.tool_manager.tools
        if not known:
            return response
        ours = next((tool for tool in known.values() if tool.toolset is self.toolset), None)
        if ours is not None:
            for call in response.tool_calls:
                if call.tool_name not in known:
                    definition = replace(ours.tool_def, name=call.tool_name, description=None)
                    known[call.tool_name] = replace(ours, tool_def=definition)
        return response


def _definition(tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=thawed(tool.parameters),
        metadata={"toolset": tool.source, "annotations": thawed(tool.annotations)},
    )


def _returned(result: ToolResult) -> object:
    found = [_content(part) for part in parts(result)]
    value = found[0] if len(found) == 1 else found
    metadata = beside(result)
    return ToolReturn(return_value=value, metadata=metadata) if metadata else value


def _content(part: Part) -> str | BinaryContent:
    if isinstance(part, str):
        return part
    if part.is_picture or part.is_pdf:
        return BinaryContent.from_data_uri(part.url)
    # Most models of Pydantic AI raise an error on any other file, and the run would be over.
    return part.line


class _Text(dict[str, Any]):
    """Arguments that are no JSON object: empty for the framework, the text itself for us."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class _AsWritten:
    """Lets all arguments pass: the session repairs them, checks them, and says what is wrong."""

    def validate_json(
        self,
        input: str | bytes | bytearray,  # noqa: A002  their word
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The object that the text is, or the text."""
        text = input if isinstance(input, str) else input.decode(errors="replace")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return _Text(text)
        return cast("dict[str, Any]", found) if isinstance(found, dict) else _Text(text)

    def validate_python(
        self,
        input: Any,  # noqa: A002  their word
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The arguments as they are."""
        return input
