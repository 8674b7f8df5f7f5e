"""What a person approved for good outlives the gateway that was told."""

import json
from pathlib import Path

import anyio.to_thread
import pytest

from tests.cli.shell import Shell
from tests.gateway.rig import Document, document, goods, shelf, tool
from tests.gateway.test_processes import started
from tests.gateway.wire import stateless
from tests.requirements import requirement

CALL: Document = {"name": "mcp_shop_burn", "arguments": {}}


@pytest.mark.anyio
@requirement("DSP-6")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_always_survives_a_kill_before_the_call_is_made_again(tmp_path: Path) -> None:
    goods(tmp_path / "shop.json", tool("burn"))
    settings = document({"shop": shelf(tmp_path / "shop.json")}, approvals={"ask": ["*burn*"]})
    person = Shell(tmp_path).with_variables(TOOLDRAWER_RUNTIME_DIR=str(tmp_path / "run"))
    async with started(tmp_path, settings) as first:
        refused = json.loads(await first.answer(1, "tools/call", stateless(**CALL)))
        assert "A person must approve it." in str(refused["result"])
        shown = await anyio.to_thread.run_sync(lambda: person.at_terminal("approve").text)
        name = shown.partition(":")[0]
        approve = ("approve", name, "--always")
        assert "Approved" in await anyio.to_thread.run_sync(
            lambda: person.at_terminal(*approve).text
        )
        first.running.kill()
        await first.running.wait()
    async with started(tmp_path, settings) as second:
        ran = json.loads(await second.answer(1, "tools/call", stateless(**CALL)))
        assert not ran["result"].get("isError"), ran
