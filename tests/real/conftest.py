import json
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from tests.real.conversations import Conversation, Person
from tests.real.gateways import configuration, over_http, over_stdio
from tests.real.servers import upstreams
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.spec import UpstreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Every server on files of its own, and a gateway's configuration with all of them."""

    folder: Path
    specs: dict[str, UpstreamSpec]
    config: Path
    results: dict[str, CallToolResult] = field(default_factory=dict[str, CallToolResult])

    def alone(self, server: str) -> StdioServerParameters:
        """How to start a server without the gateway."""
        spec = self.specs[server]
        return StdioServerParameters(command=spec.command, args=list(spec.args), env=dict(spec.env))

    async def directly(self, server: str, tool: str, arguments: JsonObject) -> CallToolResult:
        """What a tool gives without the gateway; asked once, since starting a server takes long."""
        key = json.dumps([server, tool, arguments])
        if key not in self.results:
            async with Client(self.alone(server)) as client:
                self.results[key] = await client.call_tool(tool, dict(arguments))
        return self.results[key]


@pytest.fixture(scope="package")
def anyio_backend() -> str:
    """One is enough: what is tested runs in a process of its own."""
    return "asyncio"


@pytest.fixture(scope="package")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    folder = tmp_path_factory.mktemp("real")
    specs = upstreams(folder)
    return Setting(folder=folder, specs=specs, config=configuration(folder, specs.values()))


@pytest.fixture(scope="package", params=["stdio", "http"])
def gateway(
    request: pytest.FixtureRequest, setting: Setting
) -> Generator[StdioServerParameters | str]:
    """How a client reaches the gateway in front of all servers."""
    if request.param == "stdio":
        yield over_stdio(setting.config)
    else:
        with over_http(setting.config) as url:
            yield url


@pytest.fixture(scope="package", params=["2025-11-25", "2026-07-28"])
async def conversation(
    request: pytest.FixtureRequest, gateway: StdioServerParameters | str
) -> AsyncGenerator[Conversation]:
    """A client of either era of the protocol that speaks with the gateway."""
    person = Person()
    async with Client(
        gateway,
        mode="legacy" if request.param == "2025-11-25" else "auto",
        elicitation_callback=person.elicit,
        sampling_callback=person.sample,
        list_roots_callback=person.roots,
    ) as client:
        assert client.protocol_version == request.param
        yield Conversation(client, person)
