"""A gateway in which one server cannot start."""

import json
from pathlib import Path
from typing import cast

import anyio
import pytest

from tests.gateway.rig import (
    STATELESS,
    called,
    document,
    eventually,
    everything,
    found,
    goods,
    rigged,
    searched,
    shelf,
    text,
    tool,
    write,
)
from tests.requirements import requirement

pytestmark = [pytest.mark.anyio, requirement("CFG-4")]
VARIABLE = "TD_TEST_TIDE_KEY"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_the_others_work_and_search_and_status_name_the_missing_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    file = goods(tmp_path / "goods.json", tool("dig", "Dig a hole"))
    tide = {**everything(), "env": {"KEY": f"${{{VARIABLE}}}"}}
    moon = {"comand": "moond"}
    settings = document({"garden": shelf(file), "tide": tide, "moon": moon})
    async with rigged(tmp_path, settings) as rig, rig.client(STATELESS) as client:
        with anyio.fail_after(60):
            await rig.settled()
        assert await found(client, "dig a hole") == ["mcp_garden_dig"]
        assert not (await called(client, "mcp_garden_dig")).is_error
        note = str((await searched(client, "dig a hole"))["note"])
        assert f"tide (missing environment variable: {VARIABLE})" in note
        assert "moon (its entry in the configuration is wrong)" in note
        servers = cast("list[dict[str, str]]", rig.gateway.status()["servers"])
        states = {one["name"]: (one["state"], one["error"]) for one in servers}
        assert states["garden"] == ("up", "")
        assert states["tide"][0] == states["moon"][0] == "down"
        assert f"needs the environment variable {VARIABLE}, which is not set." in states["tide"][1]
        assert "mcp_servers.moon.comand is not a known key" in states["moon"][1]
        assert {one["starts"] for one in servers if one["name"] != "garden"} == {0}


async def test_a_server_starts_when_its_entry_is_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    file = goods(tmp_path / "goods.json", tool("dig", "Dig a hole"))
    other = goods(tmp_path / "other.json", tool("swim", "Swim in the sea"))
    tide = shelf(other)
    broken = {**tide, "env": {"KEY": f"${{{VARIABLE}}}"}}
    settings = document({"garden": shelf(file), "tide": broken})
    async with rigged(tmp_path, settings) as rig, rig.client(STATELESS) as client:
        await rig.settled()
        assert await found(client, "swim in the sea") == []
        rig.rewrite(document({"garden": shelf(file), "tide": tide}))
        await eventually(lambda: all(each.is_known for each in rig.gateway.upstreams()))
        with anyio.fail_after(60):
            while await found(client, "swim in the sea") != ["mcp_tide_swim"]:
                await anyio.lowlevel.checkpoint()
        assert "note" not in await searched(client, "swim in the sea")


async def test_a_command_that_does_not_exist_leaves_the_others_alone(tmp_path: Path) -> None:
    file = goods(tmp_path / "goods.json", tool("dig", "Dig a hole"))
    settings = document({"tide": {"command": "no-such-program-here"}, "garden": shelf(file)})
    async with rigged(tmp_path, settings) as rig, rig.client(STATELESS) as client:
        await rig.settled()
        assert await found(client, "dig a hole") == ["mcp_garden_dig"]
        assert "tide" in text(await client.call_tool("tool_search", {"query": "dig a hole"}))
        for name in ("tool_call", "tool_describe"):
            refused = await client.call_tool(name, {"name": "mcp_tide_dig"})
            assert refused.is_error
            assert text(refused).startswith(
                "The server 'tide' is not available, so its tools are not known: The server 'tide' "
                "cannot be started: its command 'no-such-program-here' was not found."
            )
        unknown = text(await client.call_tool("tool_call", {"name": "mcp_gardn_dig"}))
        assert "'mcp_garden_dig'" in unknown
        assert unknown.endswith("Cannot be reached: tide.")


async def test_a_disabled_server_does_not_keep_the_array_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    file = goods(tmp_path / "goods.json", tool("dig", "Dig a hole"))
    tide = {"command": f"${{{VARIABLE}}}"}
    settings = document({"garden": shelf(file), "tide": tide}, search={"enabled": "auto"})
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        assert await rig.listed() == ["mcp_garden_dig"]


async def test_a_list_of_the_folder_can_have_the_broken_entry(tmp_path: Path) -> None:
    file = goods(tmp_path / "goods.json", tool("dig", "Dig a hole"))
    write(tmp_path / ".mcp.json", {"mcpServers": {"tide": {"command": "${NOT_SET_HERE}"}}})
    async with rigged(tmp_path, document({"garden": shelf(file)})) as rig:
        await rig.settled()
        assert json.dumps(rig.gateway.status()).count("NOT_SET_HERE") == 1
        assert await rig.listed() == ["tool_search", "tool_describe", "tool_call"]


@requirement("CFG-2")
@pytest.mark.parametrize("text", ["", "tools: {}\n", "mcp_servers:\n"])
async def test_an_empty_or_half_written_file_stops_no_server(tmp_path: Path, text: str) -> None:
    file = goods(tmp_path / "goods.json", tool("dig", "Dig a hole"))
    async with rigged(tmp_path, document({"garden": shelf(file)})) as rig:
        await rig.settled()
        rig.path.write_text(text, encoding="utf-8")
        async with rig.client(STATELESS) as client:
            assert not (await called(client, "mcp_garden_dig")).is_error
            assert await found(client, "dig a hole") == ["mcp_garden_dig"]
        await eventually(lambda: rig.gateway.status()["mistake"])
        (garden,) = rig.gateway.upstreams()
        assert (garden.status.state, garden.status.starts) == ("up", 1)


@requirement("SEARCH-9")
async def test_search_says_that_a_server_fails_and_why_instead_of_still_starting(
    tmp_path: Path,
) -> None:
    file = goods(tmp_path / "goods.json", tool("dig", "Dig a hole"))
    settings = document({"garden": shelf(file), "tide": {"command": "false"}})
    async with rigged(tmp_path, settings) as rig, rig.client(STATELESS) as client:
        await rig.settled()
        note = str((await searched(client, "dig a hole"))["note"])
        assert "Still starting" not in note
        assert "Failed to start, and tried again by itself: tide (The server 'tide' " in note
