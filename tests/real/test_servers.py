"""That the servers are what the other tests take them for, without a gateway."""

import pytest
from mcp import Client
from pydantic import ValidationError

from tests.real.servers import SPEAKS, needs
from tests.real.setting import Setting

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in SPEAKS])
async def test_a_server_starts_and_speaks_the_protocol_that_we_count_on(
    setting: Setting, name: str
) -> None:
    async with Client(setting.alone(name)) as client:
        assert client.protocol_version == SPEAKS[name]


@needs("gitlab")
async def test_a_strict_client_gets_no_tool_at_all_from_the_server_with_broken_schemas(
    setting: Setting,
) -> None:
    async with Client(setting.alone("gitlab")) as client:
        with pytest.raises(ValidationError, match="inputSchema"):
            await client.list_tools()
