"""Without the bridge, every tool of every real server is listed, and strict clients can read it."""

import pytest
from mcp import Client

from tests.real.conversations import text
from tests.real.gateways import configuration, over_stdio
from tests.real.servers import SPEAKS, missing, needs
from tests.real.setting import Setting

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["2025-11-25", "2026-07-28"]),
]

ONE_OF_EACH = {
    "everything": "echo",
    "filesystem": "list_directory",
    "memory": "read_graph",
    "gitlab": "create_issue",
    "git": "git_status",
    "time": "get_current_time",
    "sqlite": "read_query",
}


@needs("time")
async def test_every_server_is_listed_for_a_client_that_checks_every_schema(
    setting: Setting, mode: str
) -> None:
    folder = setting.folder / f"passing-{mode}"
    folder.mkdir()
    config = configuration(folder, setting.specs.values(), mode="passthrough")
    expected = {f"mcp_{name}_{ONE_OF_EACH[name]}" for name in SPEAKS if not missing(name)}
    async with Client(over_stdio(config), mode=mode) as client:
        # A list is answered at once, by the bridge when no server is up yet; a call waits for them.
        result = await client.call_tool("mcp_time_get_current_time", {"timezone": "Europe/Oslo"})
        assert "Europe/Oslo" in text(result)
        listed = {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}
        assert expected <= listed
        assert "tool_search" not in listed
