from collections.abc import Iterator

import pytest

from tests.search.embedding_server import KEY, EmbeddingServer
from tooldrawer.search.endpoint import Endpoint
from tooldrawer.search.spec import EndpointSpec


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    """A server for embeddings on this machine, whatever the machine's proxy is."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def spec(server: EmbeddingServer) -> EndpointSpec:
    return EndpointSpec(url=server.url, model="tiny", api_key=KEY, timeout=60)


@pytest.fixture
def endpoint(spec: EndpointSpec) -> Endpoint:
    return Endpoint(spec)
