"""OpenAI's SDK, for OpenAI and for everything that imitates it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import cast

import anyio
import httpx2
import openai

from tooldrawer.agent.bounded import bounded
from tooldrawer.agent.failures import Complaint, refused, unreachable
from tooldrawer.agent.model import Model
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.agent.streamed import CONNECT, LISTING, StreamedModel, model_names

_PATHS = {"chat": "/chat/completions", "responses": "/responses"}


@asynccontextmanager
async def connected(spec: ModelSpec) -> AsyncGenerator[Model]:
    """A model at an endpoint with OpenAI's words; its connections end with the block."""
    limit = httpx2.Timeout(spec.timeout, connect=min(CONNECT, spec.timeout))
    async with openai.AsyncOpenAI(
        api_key=spec.api_key,
        base_url=spec.base_url or None,
        timeout=limit,
        max_retries=0,  # a person sees every wait: see retrying.py
        http_client=openai.DefaultAsyncHttpxClient(
            timeout=limit, follow_redirects=False, event_hooks={"response": [bounded]}
        ),
    ) as client:
        yield StreamedModel(spec, OpenAILine(spec, client))


class OpenAILine:
    """A `Line` of OpenAI's SDK."""

    def __init__(self, spec: ModelSpec, client: openai.AsyncOpenAI) -> None:
        self._spec = spec
        self._client = client

    async def post(self, content: bytes, *, native: bool) -> httpx2.Response:
        """Send a request, byte for byte.

        Raises:
            ModelFailed: It was refused, or nothing answered.
        """
        try:
            response = await self._client.post(
                _PATHS[self._spec.wire],
                cast_to=httpx2.Response,
                content=content,
                options={"follow_redirects": False},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            return cast("httpx2.Response", response)  # `cast_to` wins over `stream_cls`
        except openai.APIStatusError as error:
            answer = error.response
            complaint = Complaint.of_response(answer.status_code, answer.content, answer.headers)
        except openai.APIConnectionError as error:
            late = isinstance(error, openai.APITimeoutError)
            raise unreachable(self._spec, error, timed_out=late) from None
        names = await self._names() if complaint.status == HTTPStatus.NOT_FOUND else ()
        raise refused(self._spec, complaint, native=native, names=names)

    async def _names(self) -> Sequence[str]:
        """The models that the endpoint has, if it tells quickly."""
        with anyio.move_on_after(LISTING):
            try:
                return model_names(await self._client.get("/models", cast_to=httpx2.Response))
            except openai.OpenAIError:
                pass
        return ()
