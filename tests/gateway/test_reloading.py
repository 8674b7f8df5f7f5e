"""A changed configuration is applied while clients are connected."""

from pathlib import Path

import anyio
import httpx2
import pytest

from tests.gateway.rig import (
    ERAS,
    LONG,
    Document,
    called,
    document,
    eventually,
    found,
    goods,
    let_in,
    log,
    rigged,
    shelf,
    text,
    tool,
)
from tests.gateway.test_door import posted
from tests.gateway.web import served
from tooldrawer.activity import ConfigReloaded

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


def stocked(folder: Path, name: str) -> Document:
    file = goods(
        folder / f"{name}.json",
        tool("find", f"Find things in the {name}"),
        tool("wait"),
        prompts=[{"name": "p"}],
    )
    return shelf(file)


async def test_a_server_comes_and_goes_with_the_file(tmp_path: Path, era: str) -> None:
    shop, lab = stocked(tmp_path, "shop"), stocked(tmp_path, "lab")
    async with rigged(tmp_path, document({"shop": shop})) as rig, rig.client(era) as client:
        await rig.settled()
        assert (await found(client, "find things in the lab"))[0] == "mcp_shop_find"
        rig.rewrite(document({"shop": shop, "lab": lab}))
        await called(client, "mcp_shop_find")  # whatever comes next sees the new settings
        await rig.settled()
        assert (await found(client, "find things in the lab"))[0] == "mcp_lab_find"
        assert not (await called(client, "mcp_lab_find")).is_error
        rig.rewrite(document({"lab": lab}))
        assert (await called(client, "mcp_shop_find")).is_error
        names = await found(client, "find things in the shop")
        assert [name for name in names if name.startswith("mcp_shop")] == []
        prompts = (await client.list_prompts(cache_mode="bypass")).prompts
        assert [each.name for each in prompts] == ["mcp_lab_p"]
    starts = [each["method"] for each in log(tmp_path / "lab.json")].count("initialize")
    assert starts == 1


async def test_a_call_that_runs_outlives_the_server_s_entry(tmp_path: Path, era: str) -> None:
    shop, gate = stocked(tmp_path, "shop"), tmp_path / "gate"
    async with rigged(tmp_path, document({"shop": shop})) as rig, rig.client(era) as client:
        await rig.settled()
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:

                async def call() -> None:
                    assert text(await called(client, "mcp_shop_wait", gate=str(gate))) == "waited"

                tasks.start_soon(call)
                await eventually(lambda: "tools/call" in str(log(tmp_path / "shop.json")))
                rig.rewrite(document({}))
                assert (await called(client, "mcp_shop_find")).is_error
                let_in(gate)


async def test_nobody_has_to_call_for_a_change_to_be_applied(tmp_path: Path) -> None:
    shop = stocked(tmp_path, "shop")
    async with rigged(tmp_path, document({})) as rig:
        rig.rewrite(document({"shop": shop}))
        await eventually(lambda: list(rig.gateway.upstreams()))
        await rig.settled()
        assert [each.status.state for each in rig.gateway.upstreams()] == ["up"]


async def test_a_broken_file_is_reported_and_the_last_good_one_stays(
    tmp_path: Path, era: str
) -> None:
    shop = stocked(tmp_path, "shop")
    async with rigged(tmp_path, document({"shop": shop})) as rig, rig.client(era) as client:
        await rig.settled()
        rig.rewrite({"mcp_servers": {"shop": {"commnd": "x"}}})
        assert not (await called(client, "mcp_shop_find")).is_error
        (reloaded,) = [e for e in rig.gateway.drawer.activity if isinstance(e, ConfigReloaded)]
        assert "commnd" in reloaded.error


async def test_a_scope_comes_and_goes_with_the_file(tmp_path: Path) -> None:
    shop = stocked(tmp_path, "shop")
    without = document({"shop": shop})
    scoped = document({"shop": shop}, scopes={"buying": {"toolsets": ["mcp-shop"]}})
    async with served(tmp_path, without) as site:
        await site.settled()

        async def code() -> int:
            response: httpx2.Response = await posted(site, "/mcp/buying")
            return response.status_code

        codes = [await code()]
        for settings in (scoped, without):
            site.rewrite(settings)
            await posted(site)  # whatever comes next sees the new settings
            codes.append(await code())
    assert codes == [404, 200, 404]
