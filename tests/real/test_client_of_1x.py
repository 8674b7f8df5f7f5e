"""Clients of the SDK's 1.x line, of which there are many, work with the gateway."""

import json
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters

from tests.real.servers import MCP1, needs

pytestmark = pytest.mark.anyio

SCRIPT = Path(__file__).parent / "client_of_1x.py"


@needs("mcp1")
@needs("everything")
async def test_a_client_of_1x_lists_searches_calls_and_is_asked(
    gateway: StdioServerParameters | str,
) -> None:
    reach = {"url": gateway} if isinstance(gateway, str) else gateway.model_dump(exclude_none=True)
    command = [str(MCP1 / "python"), str(SCRIPT), json.dumps(reach)]
    ran = await anyio.run_process(command, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    saw = json.loads(ran.stdout)
    assert saw["protocol"] == "2025-11-25"
    assert saw["tools"] == ["tool_search", "tool_describe", "tool_call"]
    assert saw["search"]["matches"][0]["name"] == "mcp_everything_echo"
    assert saw["echo"] == "Echo: hi"
    assert "- Name: Ada" in saw["asked"]
