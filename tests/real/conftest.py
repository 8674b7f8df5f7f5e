from collections.abc import AsyncGenerator, Generator

import pytest
from mcp import Client, StdioServerParameters

from tests.real.conversations import Conversation, Person
from tests.real.gateways import configuration, over_http, over_stdio
from tests.real.servers import upstreams
from tests.real.setting import Setting


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
