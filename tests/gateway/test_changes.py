"""Clients are told that their list changed: when it did, and only then."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client

from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    LONG,
    STATELESS,
    Person,
    Rig,
    called,
    document,
    eventually,
    goods,
    names,
    rigged,
    shelf,
    tool,
)
from tests.requirements import requirement

pytestmark = pytest.mark.anyio
TOOLS = "notifications/tools/list_changed"
PROMPTS = "notifications/prompts/list_changed"
RESOURCES = "notifications/resources/list_changed"
AUTO = {"enabled": "auto"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


@pytest.fixture(params=[(), ("--modern",)], ids=["handshake", "stateless"])
def options(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Of the server, which say its era."""
    return request.param  # type: ignore[no-any-return]


@asynccontextmanager
async def told(rig: Rig, era: str, person: Person) -> AsyncGenerator[Client]:
    """A client that has listed everything and is told of changes, in the words of its era."""
    async with rig.client(era, person) as client:
        if era == HANDSHAKE:
            await _list(client)
            yield client
            return
        async with (
            client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ),
        ):
            await _list(client)
            yield client


async def _list(client: Client) -> None:
    await client.list_tools()
    await client.list_prompts()
    await client.list_resources()


def _offers(rig: Rig, name: str) -> bool:
    return any(each.name == name for each in rig.gateway.drawer.registry.snapshot().tools)


async def test_a_new_tool_in_an_open_drawer_is_told(
    tmp_path: Path, era: str, options: tuple[str, ...]
) -> None:
    file, person = goods(tmp_path / "shop.json", tool("a")), Person()
    settings = document({"shop": shelf(file, *options)}, search=AUTO)
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        async with told(rig, era, person) as client:
            goods(file, tool("a"), tool("b"))
            await person.until(lambda: TOOLS in person.told)
            assert names(await client.list_tools()) == ["mcp_shop_a", "mcp_shop_b"]
    assert person.told.count(TOOLS) == 1


@requirement("CACHE-2")
async def test_nothing_is_told_while_the_bridge_hides_the_change(tmp_path: Path, era: str) -> None:
    file, person = goods(tmp_path / "shop.json", tool("a")), Person()
    settings = document({"shop": shelf(file)})
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        async with told(rig, era, person) as client:
            goods(file, tool("a"), tool("b"))
            await eventually(lambda: _offers(rig, "mcp_shop_b"))
            rig.rewrite(document({"shop": shelf(file)}, search=AUTO))
            # Were the first change told, it would have been told before this one.
            await person.until(lambda: TOOLS in person.told)
            assert names(await client.list_tools()) == ["mcp_shop_a", "mcp_shop_b"]
    assert person.told.count(TOOLS) == 1


async def test_the_bridge_gives_way_when_the_last_server_is_known(tmp_path: Path, era: str) -> None:
    file, gate, person = goods(tmp_path / "shop.json", tool("a")), tmp_path / "gate", Person()
    settings = document({"shop": shelf(file, "--hold", str(gate))}, search=AUTO)
    async with rigged(tmp_path, settings) as rig, told(rig, era, person) as client:
        assert len((await client.list_tools()).tools) == 3
        gate.touch()
        await person.until(lambda: TOOLS in person.told)
        assert names(await client.list_tools()) == ["mcp_shop_a"]


async def test_everybody_is_told_though_somebody_looked_first(tmp_path: Path, era: str) -> None:
    file, person = goods(tmp_path / "shop.json", tool("a")), Person()
    async with rigged(tmp_path, document({"shop": shelf(file)}, search=AUTO)) as rig:
        await rig.settled()
        async with told(rig, era, person), rig.client(STATELESS) as other:
            goods(file, tool("a"), tool("b"))
            await eventually(lambda: _offers(rig, "mcp_shop_b"))
            assert len((await other.list_tools(cache_mode="bypass")).tools) == 2
            await person.until(lambda: TOOLS in person.told)


async def test_a_configuration_that_a_call_applied_is_told_too(tmp_path: Path, era: str) -> None:
    file, person = goods(tmp_path / "shop.json", tool("a")), Person()
    settings = document({"shop": shelf(file)}, search=AUTO)
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        async with told(rig, era, person) as client:
            rig.rewrite({**settings, "tools": {"tool_search": {"enabled": "on"}}})
            await called(client, "mcp_shop_a")
            await person.until(lambda: TOOLS in person.told)
            assert len((await client.list_tools()).tools) == 3


async def test_prompts_and_resources_of_a_server_that_came_late_are_told(
    tmp_path: Path, era: str
) -> None:
    more = {"prompts": [{"name": "p"}], "resources": [{"name": "r", "uri": "note://1"}]}
    file, gate, person = tmp_path / "shop.json", tmp_path / "gate", Person()
    goods(file, tool("a"), **more)
    settings = document({"shop": shelf(file, "--hold", str(gate))})
    async with rigged(tmp_path, settings) as rig, told(rig, era, person) as client:
        assert (await client.list_prompts()).prompts == []
        gate.touch()
        await person.until(lambda: {PROMPTS, RESOURCES} <= set(person.told))
        assert [each.name for each in (await client.list_prompts()).prompts] == ["mcp_shop_p"]
        assert [each.uri for each in (await client.list_resources()).resources] == ["note://1"]


async def test_prompts_and_resources_that_changed_are_told(
    tmp_path: Path, era: str, options: tuple[str, ...]
) -> None:
    file, person = tmp_path / "shop.json", Person()
    goods(file, prompts=[{"name": "p"}], resources=[])
    async with rigged(tmp_path, document({"shop": shelf(file, *options)})) as rig:
        await rig.settled()
        async with told(rig, era, person) as client:
            goods(file, prompts=[], resources=[{"name": "r", "uri": "note://1"}])
            await person.until(lambda: {PROMPTS, RESOURCES} <= set(person.told))
            assert (await client.list_prompts()).prompts == []
            assert len((await client.list_resources()).resources) == 1
    assert TOOLS not in person.told


async def test_a_stream_that_listens_is_ended_when_the_gateway_stops(tmp_path: Path) -> None:
    async with (
        rigged(tmp_path, document({})) as rig,
        rig.client(STATELESS) as client,
        client.listen(tools_list_changed=True) as stream,
    ):
        rig.gateway.changes.close()
        with anyio.fail_after(LONG):
            assert [event async for event in stream] == []
