"""The protocol error of a server is bounded where it is read, kept and passed on."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from tests.gateway.rig import HANDSHAKE, STATELESS, Document, Rig, document, rigged, tool
from tests.hostile.neighbours import EVIL, started
from tests.requirements import requirement
from tooldrawer.activity import CallFailed
from tooldrawer.activity.event_bounds import MAX_EVENT_BYTES
from tooldrawer.activity.sinks import as_json
from tooldrawer.bounds.server_error import MAX_ERROR_CHARS

pytestmark = pytest.mark.anyio
LONG = "token: " * 200_000
MANY = [{"k": 1}] * 100_000
REQUESTS: dict[str, Callable[[Client], Awaitable[Any]]] = {
    "tool": lambda client: client.call_tool(f"mcp_{EVIL}_find"),
    "prompt": lambda client: client.get_prompt(f"mcp_{EVIL}_advise"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def refusing(folder: Path, error: Document, **sections: Any) -> AsyncGenerator[Rig]:
    """A gateway with a server that answers every call with this error."""
    offer: Document = {"tools": [tool("find")], "prompts": [{"name": "advise"}], "error": error}
    with started(offer, folder, "stdio") as entry:
        settings = document({EVIL: entry}, **sections)
        async with rigged(folder, settings, passthrough=True) as rig:
            await rig.settled()
            yield rig


async def refused(rig: Rig, request: str, era: str = HANDSHAKE) -> MCPError:
    async with rig.client(era) as client:
        with pytest.raises(MCPError) as caught:
            await REQUESTS[request](client)
    return caught.value


@requirement("DSP-8")
@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
@pytest.mark.parametrize("request_kind", REQUESTS)
async def test_a_long_error_reaches_the_client_cut(
    tmp_path: Path, request_kind: str, era: str
) -> None:
    error: Document = {"code": -32_000, "message": LONG, "data": MANY}
    async with refusing(tmp_path, error) as rig:
        found = await refused(rig, request_kind, era)
    assert found.code == -32_000
    assert found.message.startswith(LONG[:9_000])
    assert found.message.endswith(" more characters left out]")
    assert len(found.message) <= MAX_ERROR_CHARS
    assert found.data == "[The data of this error was left out: too large.]"


@requirement("DSP-8")
@pytest.mark.parametrize("request_kind", REQUESTS)
async def test_an_error_is_no_longer_than_a_result_may_be(
    tmp_path: Path, request_kind: str
) -> None:
    error: Document = {"code": -32_000, "message": "word " * 400, "data": ["word"] * 400}
    async with refusing(tmp_path, error, limits={"result_max_chars": 1_000}) as rig:
        found = await refused(rig, request_kind)
    assert len(found.message) <= 1_000
    assert found.message.endswith(" more characters left out]")
    assert len(str(found.data)) <= 1_000


@requirement("DSP-10")
async def test_the_activity_keeps_little_of_a_long_error(tmp_path: Path) -> None:
    error: Document = {"code": -32_000, "message": LONG}
    async with refusing(tmp_path, error) as rig:
        await refused(rig, "tool")
        (event,) = (each for each in rig.gateway.drawer.activity if isinstance(each, CallFailed))
    assert event.error.startswith("token: token: ")
    assert len(as_json(event)) < MAX_EVENT_BYTES


@requirement("DSP-3")
async def test_a_short_error_is_passed_on_unchanged(tmp_path: Path) -> None:
    error: Document = {"code": -32_042, "message": "No, thanks.", "data": {"why": [1, None]}}
    async with refusing(tmp_path, error) as rig:
        found = await refused(rig, "tool")
    assert (found.code, found.message, found.data) == (-32_042, "No, thanks.", {"why": [1, None]})
