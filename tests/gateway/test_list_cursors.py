"""A list with a cursor that was never issued is refused, not answered from the beginning."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS

from tests.gateway.rig import ERAS, document, goods, rigged, shelf, tool
from tests.gateway.web import served
from tests.gateway.wire import stateless, wired

pytestmark = pytest.mark.anyio
LISTS: tuple[Callable[..., Awaitable[object]], ...] = (
    Client.list_tools,
    Client.list_prompts,
    Client.list_resources,
    Client.list_resource_templates,
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _check_lists(client: Client) -> None:
    for list_page in LISTS:
        for cursor in ("never-issued", ""):
            with pytest.raises(MCPError, match="List again without a cursor") as raised:
                await list_page(client, cursor=cursor)
            assert raised.value.code == INVALID_PARAMS
        await list_page(client)


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_cursor_is_refused_over_pipes(tmp_path: Path, era: str) -> None:
    server = shelf(goods(tmp_path / "shop.json", tool("a")))
    settings = document({"shop": server})
    async with rigged(tmp_path, settings) as rig, rig.client(era, pipes=True) as client:
        await _check_lists(client)


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_cursor_is_refused_over_http(tmp_path: Path, era: str) -> None:
    server = shelf(goods(tmp_path / "shop.json", tool("a")))
    settings = document({"shop": server})
    async with served(tmp_path, settings) as site, site.visitor(era) as client:
        await _check_lists(client)


async def test_a_cursor_that_is_null_counts_as_absent(tmp_path: Path) -> None:
    server = shelf(goods(tmp_path / "shop.json", tool("a")))
    async with rigged(tmp_path, document({"shop": server})) as rig, wired(rig.gateway) as wire:
        assert (await wire.ask("tools/list", stateless(cursor=None)))["tools"]
