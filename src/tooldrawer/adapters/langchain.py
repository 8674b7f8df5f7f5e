"""LangChain and LangGraph: a session as the middleware of an agent."""

from collections.abc import Awaitable, Callable
from typing import Any, Never, TypeVar

from tooldrawer.adapters.beside import beside
from tooldrawer.call import ToolResult
from tooldrawer.session import Session
from tooldrawer.wire.content import Part, parts

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ModelRequest,
        ModelResponse,
        Runtime,
        ToolCallRequest,
        hook_config,
    )
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.tools import BaseTool
except ImportError as missing:
    raise ImportError(
        "tooldrawer.adapters.langchain needs LangChain, version 1.4 or later. "
        "Install it with: pip install 'tooldrawer[langchain]'"
    ) from missing


_SYNCHRONOUS = (
    "A session is asynchronous. Run the agent with `await agent.ainvoke(...)` or "
    "`async for ... in agent.astream(...)` instead of `invoke` or `stream`."
)

Own = TypeVar("Own")
"""What an agent's own tools give."""


class DrawerMiddleware(AgentMiddleware):
    """Shows a model the session's array, decided anew for each request, and answers its calls.

    Tools that the agent was given itself stay its own. A session is asynchronous: run the agent
    with `ainvoke` or `astream`.
    """

    def __init__(self, session: Session, *, pictures: bool = True) -> None:
        """Without `pictures` a line stands for each: OpenAI's chat completions take none."""
        super().__init__()
        self._pictures = pictures
        self.session = session
        self.tools = ()
        self._own: frozenset[str] = frozenset()

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> Never:
        """Refuse a synchronous run.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(_SYNCHRONOUS)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Never:
        """Refuse a synchronous run.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(_SYNCHRONOUS)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Put the array after the agent's own tools."""
        self._own = frozenset(tool.name for tool in request.tools if isinstance(tool, BaseTool))
        if request.messages and isinstance(request.messages[-1], HumanMessage):
            self.session.note_user_message()
        shown = (await self.session.tools()).openai()
        return await handler(request.override(tools=[*request.tools, *shown]))

    @hook_config(can_jump_to=["model"])
    async def aafter_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Answer the calls whose arguments are no JSON: LangChain would pass over them, and end."""
        last = state["messages"][-1]
        if not isinstance(last, AIMessage):
            return None
        answers = [
            await self._answer(call["name"] or "", call["args"], call["id"] or "")
            for call in last.invalid_tool_calls
            if call["name"] not in self._own
        ]
        if not answers:
            return None
        update: dict[str, Any] = {"messages": answers}
        return update if last.tool_calls else {**update, "jump_to": "model"}

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Own]],
    ) -> ToolMessage | Own:
        """Answer a call of any tool that is not the agent's own."""
        if request.tool is not None:
            return await handler(request)
        call = request.tool_call
        return await self._answer(call["name"], call["args"], call["id"] or "")

    async def _answer(self, name: str, arguments: Any, call_id: str) -> ToolMessage:
        result = await self.session.call(name, arguments, call_id=call_id)
        return ToolMessage(
            content=self._content(result),
            name=name,
            tool_call_id=call_id,
            status="error" if result.is_error else "success",
            artifact=beside(result) or None,
        )

    def _content(self, result: ToolResult) -> str | list[str | dict[Any, Any]]:
        found = parts(result)
        if len(found) == 1 and isinstance(found[0], str):
            return found[0]
        return [self._block(part) for part in found]

    def _block(self, part: Part) -> dict[Any, Any]:
        if not isinstance(part, str) and self._pictures and (part.is_picture or part.is_pdf):
            kind = "image" if part.is_picture else "file"
            return {"type": kind, "base64": part.data, "mime_type": part.type}
        return {"type": "text", "text": part if isinstance(part, str) else part.line}
