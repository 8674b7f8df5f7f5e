"""Servers built with the SDK, as most are, over their pipes."""

import sys

import anyio
import pytest

from tests.upstream.fakes import LONG, SERVERS, Client, running
from tooldrawer.activity import UpstreamChanged
from tooldrawer.errors import ServerRefused
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.spec import UpstreamSpec

OSLO: JsonObject = {"action": "accept", "content": {"city": "Oslo"}}
pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("anyio_backend", "era", "version"),  # each starts a server, which takes a second
    [("asyncio", (), "2026-07-28"), ("trio", ("--handshake",), "2025-11-25")],
)
async def test_everything_passes_in_either_era(era: tuple[str, ...], version: str) -> None:
    args = (str(SERVERS / "sdk.py"), *era)
    client = Client(answer=OSLO, capabilities={"elicitation": {"form": {}}})
    async with running(UpstreamSpec(name="sdk", command=sys.executable, args=args)) as server:
        assert server.upstream.protocol == version
        assert (await server.call("add", {"a": 2, "b": 3})).text == "5"
        assert (await server.call_for(client, "ask")).text == "accept:Oslo"
        assert (await server.call("ask")).text in {"decline:None", "error"}
        with pytest.raises(ServerRefused) as caught:
            await server.call("refuse")
        assert (caught.value.code, caught.value.data) == (-32042, {"why": "test"})
        await server.call("grow")
        await server.until(lambda: server.happened(UpstreamChanged))
        async with anyio.create_task_group() as group:
            group.start_soon(server.call_for, client, "hang")
            with anyio.fail_after(LONG):
                await client.heard.wait()
            group.cancel_scope.cancel()
        assert (await server.call("cancelled")).text == "hang"
