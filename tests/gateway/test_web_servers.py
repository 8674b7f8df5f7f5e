"""A server of both eras at an address, behind the gateway: clients of either era lose nothing."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    STATELESS,
    Person,
    Rig,
    ask,
    called,
    document,
    rigged,
    text,
)
from tests.upstream.fakes import eventually
from tests.upstream.servers.both import NOTE, Both

pytestmark = pytest.mark.anyio
TOOLS = "notifications/tools/list_changed"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def both() -> AsyncGenerator[Both]:
    both = Both()
    async with both.served():
        yield both


@asynccontextmanager
async def before(both: Both, folder: Path, **more: Any) -> AsyncGenerator[Rig]:
    settings = document({"web": {"url": both.address}}, search=more.pop("search", {}))
    async with rigged(folder, settings, **more) as rig:
        await rig.settled()
        yield rig


@asynccontextmanager
async def told(rig: Rig, era: str, person: Person) -> AsyncGenerator[Client]:
    """A client that has listed its tools and is told when they change."""
    async with rig.client(era, person) as client:
        if era == HANDSHAKE:
            await client.list_tools()
            yield client
            return
        async with client.listen(tools_list_changed=True):
            await client.list_tools()
            yield client


async def test_a_question_that_the_server_pushes_reaches_a_client_of_the_handshake(
    both: Both, tmp_path: Path
) -> None:
    person = Person(types.ElicitResult(action="accept", content={"city": "Oslo"}))
    async with before(both, tmp_path) as rig, rig.client(HANDSHAKE, person) as client:
        assert text(await called(client, "mcp_web_ask")) == "accept:Oslo"
    assert [question.message for question in person.questions] == ["[web] City?"]


async def test_a_client_that_cannot_be_asked_is_not_in_the_servers_eyes_either(
    both: Both, tmp_path: Path
) -> None:
    async with before(both, tmp_path) as rig, rig.client(HANDSHAKE) as client:
        assert text(await called(client, "mcp_web_ask")) == "failed: NoBackChannelError"
        assert text(await called(client, "mcp_web_way")) == "stateless"
    assert both.hands == 0


async def test_lines_are_shown_to_a_client_of_the_handshake_that_said_nothing_about_them(
    both: Both, tmp_path: Path
) -> None:
    asked, silent = Person(), Person()
    async with before(both, tmp_path) as rig:
        async with rig.client(HANDSHAKE, asked) as client:
            await called(client, "mcp_web_say")
            await asked.until(lambda: asked.lines)
        async with rig.client(HANDSHAKE, logging_callback=silent.log) as client:
            await called(client, "mcp_web_say")
            await silent.until(lambda: silent.lines)
    assert [line.data for line in (*asked.lines, *silent.lines)] == ["a line"] * 2


async def test_a_resource_is_subscribed_to_as_the_client_asked_for_it(
    both: Both, tmp_path: Path
) -> None:
    person = Person()
    async with before(both, tmp_path) as rig, rig.client(HANDSHAKE, person) as client:
        params = types.SubscribeRequestParams(uri=NOTE)
        await ask(client, types.SubscribeRequest(params=params))
        await eventually(lambda: both.ears)
        await called(client, "mcp_web_touch")
        # While the server starts, the client may also hear that its list of resources changed.
        await person.until(lambda: NOTE in person.told)
        await called(client, "mcp_web_way")
    assert both.wanted == [NOTE]
    assert person.told.count(NOTE) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_what_a_server_says_of_its_list_passes_through(
    both: Both, tmp_path: Path, era: str
) -> None:
    person = Person()
    async with before(both, tmp_path, passthrough=True) as rig, told(rig, era, person) as client:
        await eventually(lambda: both.listings == 2)  # from now on its changes are heard of
        for _ in range(3):
            await client.call_tool("mcp_web_announce")
        await person.until(lambda: TOOLS in person.told)
    assert person.told.count(TOOLS) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_without_passing_through_only_what_changed_is_told(
    both: Both, tmp_path: Path, era: str
) -> None:
    person = Person()
    search = {"enabled": "auto"}
    async with before(both, tmp_path, search=search) as rig, told(rig, era, person) as client:
        await eventually(lambda: both.listings == 2)
        await client.call_tool("mcp_web_announce")
        await eventually(lambda: both.listings == 3)
        await client.call_tool("mcp_web_grow")
        await person.until(lambda: TOOLS in person.told)
    assert person.told.count(TOOLS) == 1


async def test_a_client_without_a_handshake_shakes_no_hands(both: Both, tmp_path: Path) -> None:
    person = Person()
    async with before(both, tmp_path) as rig, rig.client(STATELESS, person) as client:
        assert text(await called(client, "mcp_web_way")) == "stateless"
    assert both.hands == 0
