"""Anthropic's SDK, for Anthropic and for everything that imitates it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import cast

import anthropic
import anyio
import httpx2

from tooldrawer.agent.bounded import bounded
from tooldrawer.agent.failures import Complaint, refused, unreachable
from tooldrawer.agent.model import Model
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.agent.streamed import CONNECT, LISTING, StreamedModel, model_names


@asynccontextmanager
async def connected(spec: ModelSpec) -> AsyncGenerator[Model]:
    """A model at an endpoint with Anthropic's words; its connections end with the block."""
    limit = httpx2.Timeout(spec.timeout, connect=min(CONNECT, spec.timeout))
    async with anthropic.AsyncAnthropic(
        api_key=spec.api_key,
        base_url=spec.base_url or None,
        timeout=limit,
        max_retries=0,  # a person sees every wait: see retrying.py
        http_client=anthropic.DefaultAsyncHttpxClient(
            timeout=limit, follow_redirects=False, event_hooks={"response": [bounded]}
        ),
    ) as client:
        yield StreamedModel(spec, AnthropicLine(spec, client))


class AnthropicLine:
    """A `Line` of Anthropic's SDK."""

    def __init__(self, spec: ModelSpec, client: anthropic.AsyncAnthropic) -> None:
        self._spec = spec
        self._client = client

    async def post(self, content: bytes, *, native: bool) -> httpx2.Response:
        """Send a request, byte for byte.

        Raises:
            ModelFailed: It was refused, or nothing answered.
        """
        try:
            response = await self._client.post(
                "/v1/messages",
                cast_to=httpx2.Response,
                content=content,
                options={"follow_redirects": False},
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
            return cast("httpx2.Response", response)  # `cast_to` wins over `stream_cls`
        except anthropic.APIStatusError as error:
            answer = error.response
            complaint = Complaint.of_response(answer.status_code, answer.content, answer.headers)
        except anthropic.APIConnectionError as error:
            late = isinstance(error, anthropic.APITimeoutError)
            raise unreachable(self._spec, error, timed_out=late) from None
        names = await self._names() if complaint.status == HTTPStatus.NOT_FOUND else ()
        raise refused(self._spec, complaint, native=native, names=names)

    async def _names(self) -> Sequence[str]:
        """The models that the endpoint has, if it tells quickly."""
        with anyio.move_on_after(LISTING):
            try:
                return model_names(await self._client.get("/v1/models", cast_to=httpx2.Response))
            except anthropic.AnthropicError:
                pass
        return ()
