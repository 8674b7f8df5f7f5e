"""The real client libraries, each behind the same two questions."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from anthropic import AsyncAnthropic
from google.genai import Client
from google.genai.types import (
    FunctionDeclaration,
    GenerateContentConfig,
    GenerateContentResponse,
    Tool,
)
from openai import AsyncOpenAI

MODEL = "scripted"
NAMES = ("read_note", "tool_search", "huge")
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(slots=True)
class Heard:
    """What a client library made of an answer."""

    text: str = ""
    calls: list[tuple[str | None, Any]] = field(default_factory=list[tuple[str | None, Any]])
    pieces: int = 0
    input: int = 0
    cached: int = 0


class Talk(Protocol):
    """Asks one question through a client library."""

    async def whole(self, text: str) -> Heard:
        """The answer at once."""
        ...

    async def streamed(self, text: str, watch: Callable[[str], object] = str) -> Heard:
        """The answer piece by piece; `watch` is told each piece of text."""
        ...


class ChatTalk:
    """AsyncOpenAI.chat.completions."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client
        self._tools: Any = [
            {"type": "function", "function": {"name": name, "parameters": _SCHEMA}}
            for name in NAMES
        ]

    async def whole(self, text: str) -> Heard:
        found = await self._client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": text}], tools=self._tools
        )
        message = found.choices[0].message
        heard = Heard(text=message.content or "")
        for call in message.tool_calls or ():
            assert call.type == "function"
            heard.calls.append((getattr(call.function, "name", None), call.function.arguments))
        assert found.usage is not None
        assert found.usage.prompt_tokens_details is not None
        heard.input = found.usage.prompt_tokens
        heard.cached = found.usage.prompt_tokens_details.cached_tokens or 0
        return heard

    async def streamed(self, text: str, watch: Callable[[str], object] = str) -> Heard:
        heard = Heard()
        calls: dict[int, tuple[str | None, str]] = {}
        async with await self._client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": text}],
            tools=self._tools,
            stream=True,
            stream_options={"include_usage": True},
        ) as stream:
            async for chunk in stream:
                if chunk.usage is not None:
                    heard.input = chunk.usage.prompt_tokens
                for choice in chunk.choices:
                    if choice.delta.content:
                        _hear(heard, choice.delta.content, watch)
                    for call in choice.delta.tool_calls or ():
                        assert call.function is not None
                        name, said = calls.get(call.index, (None, ""))
                        more = call.function.arguments or ""
                        calls[call.index] = (call.function.name or name, said + more)
        heard.calls = list(calls.values())
        return heard


class ResponsesTalk:
    """AsyncOpenAI.responses."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client
        self._tools: Any = [
            {"type": "function", "name": name, "parameters": _SCHEMA, "strict": False}
            for name in NAMES
        ]

    async def whole(self, text: str) -> Heard:
        found = await self._client.responses.create(model=MODEL, input=text, tools=self._tools)
        return self._heard(found)

    async def streamed(self, text: str, watch: Callable[[str], object] = str) -> Heard:
        heard = Heard()
        ended = Heard()
        async with await self._client.responses.create(
            model=MODEL, input=text, tools=self._tools, stream=True
        ) as stream:
            async for event in stream:
                if event.type == "response.output_text.delta":
                    _hear(heard, event.delta, watch)
                elif event.type == "response.completed":
                    ended = self._heard(event.response)
                elif event.type == "error":
                    raise RuntimeError(event.message)
        heard.calls, heard.input = ended.calls, ended.input
        return heard

    def _heard(self, found: Any) -> Heard:
        heard = Heard(text=found.output_text)
        for item in found.output:
            if item.type == "function_call":
                heard.calls.append((getattr(item, "name", None), item.arguments))
        heard.input = found.usage.input_tokens
        heard.cached = found.usage.input_tokens_details.cached_tokens
        return heard


class AnthropicTalk:
    """AsyncAnthropic.messages."""

    def __init__(self, client: AsyncAnthropic) -> None:
        self._client = client
        self._tools: Any = [{"name": name, "input_schema": _SCHEMA} for name in NAMES]

    async def whole(self, text: str) -> Heard:
        found = await self._client.messages.create(
            model=MODEL,
            max_tokens=100,
            tools=self._tools,
            cache_control={"type": "ephemeral"},
            messages=[{"role": "user", "content": text}],
        )
        return self._heard(found)

    async def streamed(self, text: str, watch: Callable[[str], object] = str) -> Heard:
        heard = Heard()
        async with self._client.messages.stream(
            model=MODEL,
            max_tokens=100,
            tools=self._tools,
            cache_control={"type": "ephemeral"},
            messages=[{"role": "user", "content": text}],
        ) as stream:
            async for event in stream:
                if event.type == "text":
                    _hear(heard, event.text, watch)
            ended = self._heard(await stream.get_final_message())
        heard.calls, heard.input = ended.calls, ended.input
        return heard

    def _heard(self, found: Any) -> Heard:
        heard = Heard()
        for block in found.content:
            if block.type == "text":
                heard.text += block.text
            elif block.type == "tool_use":
                heard.calls.append((getattr(block, "name", None), block.input))
        usage = found.usage
        heard.cached = usage.cache_read_input_tokens
        heard.input = usage.input_tokens + heard.cached + usage.cache_creation_input_tokens
        return heard


class GeminiTalk:
    """google.genai.Client.aio.models."""

    def __init__(self, client: Client) -> None:
        # Any: the package has types of other packages in its own that are not installed here.
        self._models: Any = client.aio.models
        declared = [
            FunctionDeclaration(name=name, parameters_json_schema=_SCHEMA) for name in NAMES
        ]
        self._config = GenerateContentConfig(tools=[Tool(function_declarations=declared)])

    async def whole(self, text: str) -> Heard:
        found = await self._models.generate_content(model=MODEL, contents=text, config=self._config)
        heard = Heard()
        self._add(heard, found, str)
        return heard

    async def streamed(self, text: str, watch: Callable[[str], object] = str) -> Heard:
        heard = Heard()
        stream = await self._models.generate_content_stream(
            model=MODEL, contents=text, config=self._config
        )
        try:
            async for chunk in stream:
                self._add(heard, chunk, watch)
        finally:
            await stream.aclose()
        return heard

    def _add(
        self, heard: Heard, found: GenerateContentResponse, watch: Callable[[str], object]
    ) -> None:
        for part in found.parts or ():
            if part.text and not part.thought:
                _hear(heard, part.text, watch)
            if part.function_call is not None:
                heard.calls.append((part.function_call.name, part.function_call.args))
        assert found.usage_metadata is not None
        heard.input = found.usage_metadata.prompt_token_count or 0
        heard.cached = found.usage_metadata.cached_content_token_count or 0


def _hear(heard: Heard, piece: str, watch: Callable[[str], object]) -> None:
    heard.text += piece
    heard.pieces += 1
    watch(piece)


def talking(wire: str, url: str, key: str = "key") -> AbstractAsyncContextManager[Talk]:
    """A client of that wire that does not try again by itself."""
    return {"chat": _chat, "responses": _responses, "anthropic": _anthropic, "gemini": _gemini}[
        wire
    ](url, key)


@asynccontextmanager
async def _chat(url: str, key: str) -> AsyncGenerator[Talk]:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        yield ChatTalk(client)


@asynccontextmanager
async def _responses(url: str, key: str) -> AsyncGenerator[Talk]:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        yield ResponsesTalk(client)


@asynccontextmanager
async def _anthropic(url: str, key: str) -> AsyncGenerator[Talk]:
    async with AsyncAnthropic(base_url=url, api_key=key, max_retries=0) as client:
        yield AnthropicTalk(client)


@asynccontextmanager
async def _gemini(url: str, key: str) -> AsyncGenerator[Talk]:
    client = Client(api_key=key, http_options={"base_url": url})
    try:
        yield GeminiTalk(client)
    finally:
        await client.aio.aclose()
        client.close()
