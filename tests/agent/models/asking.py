"""One question to a model at some address, through the SDK of its wire."""

from dataclasses import replace
from typing import Any

import pytest

from tests.agent.models.fakes import KEY, request
from tests.models.server import ModelServer
from tooldrawer.agent.connection import connected
from tooldrawer.agent.spec import ModelSpec, WireName
from tooldrawer.errors import ModelFailed
from tooldrawer.wire.message import Answered, Request


def spec_of(wire: WireName, url: str, **changes: Any) -> ModelSpec:
    base = url if wire == "anthropic" else f"{url}/v1"
    spec = ModelSpec(
        name="scripted", wire=wire, base_url=base, api_key=KEY, key_name="SOME_KEY", timeout=60
    )
    return replace(spec, **changes)


async def ask(
    wire: WireName, server: ModelServer | str, asked: Request | None = None, **changes: Any
) -> tuple[Answered, list[str]]:
    heard: list[str] = []
    url = server if isinstance(server, str) else server.url
    async with connected(spec_of(wire, url, **changes)) as model:
        return await model.answer(asked or request(), heard.append), heard


async def failure(
    wire: WireName, server: ModelServer | str, asked: Request | None = None, **changes: Any
) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        await ask(wire, server, asked, **changes)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value
