"""Who waits for servers that are still starting: the first search, for a while, and nobody else."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client

from tests.gateway.rig import (
    ERAS,
    LONG,
    Document,
    Rig,
    called,
    document,
    goods,
    let_in,
    names,
    rigged,
    searched,
    shelf,
    text,
    tool,
)
from tests.requirements import requirement

pytestmark = pytest.mark.anyio
FOREVER: Document = {"first_search_wait": 600}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The server `late` answers when this is there."""
    return tmp_path / "gate"


@pytest.fixture
def servers(tmp_path: Path, gate: Path) -> dict[str, Document]:
    """One that is there at once, and one that is not."""
    early = goods(tmp_path / "early.json", tool("plant", "Plant a tree"))
    late = goods(tmp_path / "late.json", tool("cut", "Cut a tree"))
    return {"early": shelf(early), "late": shelf(late, "--hold", str(gate))}


async def _known(rig: Rig) -> None:
    early, _ = rig.gateway.upstreams()
    with anyio.fail_after(LONG):
        await early.settled()


async def test_the_first_search_waits_for_what_is_starting(
    tmp_path: Path, era: str, servers: dict[str, Document], gate: Path
) -> None:
    replies: list[Any] = []
    async with (
        rigged(tmp_path, document(servers, gateway=FOREVER)) as rig,
        rig.client(era) as client,
    ):
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:

                async def search() -> None:
                    replies.append(await searched(client, "tree"))

                tasks.start_soon(search)
                while not len(rig.gateway.handlers.in_flight):
                    await anyio.lowlevel.checkpoint()
                assert replies == []
                let_in(gate)
    (reply,) = replies
    assert {match["name"] for match in reply["matches"]} == {"mcp_early_plant", "mcp_late_cut"}
    assert "note" not in reply


async def test_a_search_waits_no_longer_than_allowed_and_names_who_is_missing(
    tmp_path: Path, era: str, servers: dict[str, Document]
) -> None:
    settings = document(servers, gateway={"first_search_wait": 0.3})
    async with rigged(tmp_path, settings) as rig:
        await _known(rig)
        async with rig.client(era) as client:
            with anyio.fail_after(LONG):
                reply: Any = await searched(client, "tree")
    assert [match["name"] for match in reply["matches"]] == ["mcp_early_plant"]
    assert "late" in reply["note"]
    assert "early" not in reply["note"]


@requirement("SCOPE-2")
async def test_who_is_not_in_the_scope_is_neither_waited_for_nor_named(
    tmp_path: Path, era: str, servers: dict[str, Document]
) -> None:
    scopes: Document = {"growing": {"toolsets": ["mcp-early"]}}
    settings = document(servers, scopes=scopes, gateway=FOREVER)
    async with rigged(tmp_path, settings, scope="growing") as rig, rig.client(era) as client:
        with anyio.fail_after(LONG):
            reply = await searched(client, "tree")
    assert "late" not in str(reply)
    assert reply["total_available"] == 1


async def test_beginning_and_listing_do_not_wait(
    tmp_path: Path, era: str, servers: dict[str, Document]
) -> None:
    mute = {**servers, "mute": shelf(tmp_path / "late.json", "--mute")}
    async with rigged(tmp_path, document(mute, gateway=FOREVER)) as rig:
        with anyio.fail_after(LONG):
            async with rig.client(era) as client:
                assert client.instructions
                assert names(await client.list_tools()) == [
                    "tool_search",
                    "tool_describe",
                    "tool_call",
                ]
                assert (await client.list_prompts()).prompts == []
                assert (await client.list_resources()).resources == []


@pytest.mark.parametrize("bridged", [True, False], ids=["bridged", "direct"])
async def test_a_call_of_a_tool_that_is_there_does_not_wait_for_others(
    tmp_path: Path, era: str, servers: dict[str, Document], *, bridged: bool
) -> None:
    async with rigged(tmp_path, document(servers, gateway=FOREVER)) as rig:
        await _known(rig)
        async with rig.client(era) as client:
            with anyio.fail_after(LONG):
                assert '"tool": "plant"' in text(await _called(client, "plant", bridged=bridged))


async def test_a_call_of_a_tool_that_may_still_come_waits(
    tmp_path: Path, era: str, servers: dict[str, Document], gate: Path
) -> None:
    async with (
        rigged(tmp_path, document(servers, gateway=FOREVER)) as rig,
        rig.client(era) as client,
    ):
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:

                async def call() -> None:
                    result = await called(client, "mcp_late_cut")
                    assert '"tool": "cut"' in text(result)

                tasks.start_soon(call)
                while not len(rig.gateway.handlers.in_flight):
                    await anyio.lowlevel.checkpoint()
                let_in(gate)


async def _called(client: Client, name: str, *, bridged: bool) -> Any:
    if bridged:
        return await called(client, f"mcp_early_{name}")
    return await client.call_tool(f"mcp_early_{name}", {})
