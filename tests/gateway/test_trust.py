"""Files that appear or change in the folder of a running gateway."""

import sys
from pathlib import Path

import pytest

from tests.gateway.rig import STATELESS, document, eventually, goods, rigged, searched, shelf, tool
from tests.gateway.rig import write as save
from tests.requirements import requirement
from tooldrawer.config.trust_items import read_items
from tooldrawer.trust import TrustStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@requirement("CFG-5")
async def test_a_list_written_beside_the_settings_starts_only_when_it_is_trusted(
    tmp_path: Path,
) -> None:
    garden = shelf(goods(tmp_path / "goods.json", tool("dig", "Dig a hole")))
    mark = tmp_path / "ran"
    evil = {"command": sys.executable, "args": ["-c", f"open({str(mark)!r}, 'w').close()"]}
    async with rigged(tmp_path, document({"garden": garden})) as rig:
        await rig.settled()
        # Another server of the same name as a trusted one must not take its place either.
        beside = save(tmp_path / ".mcp.json", {"mcpServers": {"evil": evil, "garden": evil}})
        await eventually(lambda: len(list(rig.gateway.upstreams())) == 2)
        async with rig.client(STATELESS) as client:
            note = str((await searched(client, "dig a hole"))["note"])
        assert "evil (a person has to trust it first)" in note
        states = {each.spec.name: each.status for each in rig.gateway.upstreams()}
        assert (states["evil"].state, states["evil"].starts) == ("down", 0)
        assert "tooldrawer trust" in states["evil"].error
        assert (states["garden"].state, states["garden"].starts) == ("up", 1)
        assert not mark.exists()
        TrustStore().add(read_items(beside))
        await eventually(mark.exists)
