"""A model at an endpoint that speaks Gemini's words; the terminal agent has no client for it."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import httpx2

from tests.models.server import ModelServer
from tooldrawer.agent.server_events import ServerEvents
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import AnswerCut
from tooldrawer.wire import gemini
from tooldrawer.wire.message import Answered, Request


class GeminiModel:
    """Streams answers over plain HTTP, by the wire alone."""

    def __init__(self, spec: ModelSpec, client: httpx2.AsyncClient) -> None:
        self.spec = spec
        self._client = client

    async def answer(self, request: Request, said: Callable[[str], None]) -> Answered:
        """One answer, with `said` told of its text."""
        path = f"/v1beta/models/{request.model}:streamGenerateContent?alt=sse"
        events, stream, heard = ServerEvents(), gemini.GeminiStream(), ""
        try:
            async with self._client.stream("POST", path, json=gemini.body(request)) as response:
                response.raise_for_status()
                async for chunk in response.aiter_bytes():
                    for data in events.feed(chunk):
                        text = stream.feed(json.loads(data))
                        heard += text
                        said(text)
        except httpx2.RemoteProtocolError as error:
            raise AnswerCut("The connection was lost.", text=heard) from error
        except UnicodeDecodeError as error:
            raise AnswerCut("What came is not UTF-8.", text=heard) from error
        return stream.answer()


@asynccontextmanager
async def connected(server: ModelServer, context_length: int | None) -> AsyncGenerator[GeminiModel]:
    """The scripted model; its spec's own wire is never used."""
    spec = ModelSpec(name="scripted", wire="chat", context_length=context_length)
    headers = {"x-goog-api-key": "key"}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers, trust_env=False) as client:
        yield GeminiModel(spec, client)
