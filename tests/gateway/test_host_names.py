"""By which names and addresses the gateway may be called, and which web pages may use it."""

import sys
from pathlib import Path
from socket import gethostname

import pytest

from tests.fakes import ScriptedToolset
from tests.gateway.rig import Document, document
from tests.gateway.test_door import JSON, SCOPES, bearer, listing, posted, shown, stated
from tests.gateway.web import served, tokens
from tooldrawer import Tool

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def toolsets() -> tuple[ScriptedToolset, ...]:
    return tuple(ScriptedToolset(name, [Tool(name=f"{name}_run")]) for name in ("shop", "lab"))


@pytest.fixture
def settings() -> Document:
    return document({}, scopes=SCOPES, search={"enabled": "off"})


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:8765"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "[::1]"}, 200),
        ({"Host": "tools.example.com"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://app.example.com"}, 200),
    ],
)
async def test_a_web_page_cannot_be_tricked_into_using_the_gateway(
    tmp_path: Path, settings: Document, headers: dict[str, str], code: int
) -> None:
    names: Document = {
        "allowed_hosts": ["tools.example.com"],
        "allowed_origins": ["https://app.example.com"],
    }
    async with served(tmp_path, {**settings, "gateway": names}) as site:
        sent = stated({**JSON, **headers})
        response = await site.http.post("/mcp", json=listing(), headers=sent)
    assert response.status_code == code


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_probes_may_call_the_gateway_by_any_name(
    tmp_path: Path, settings: Document, host: str
) -> None:
    tokens(tmp_path).create()
    names: Document = {"allowed_hosts": ["tools.example.com"]}
    async with served(tmp_path, {**settings, "gateway": names}, host=host) as site:
        for path in ("/healthz", "/readyz"):
            answer = await site.http.get(path, headers={"Host": "10.0.0.7:8765"})
            assert answer.status_code == 200


async def test_further_names_take_none_away_on_a_network(
    tmp_path: Path, settings: Document
) -> None:
    _, secret = tokens(tmp_path).create()
    names: Document = {"allowed_hosts": ["tools.example.com", "other.example.com:*"]}
    async with served(tmp_path, {**settings, "gateway": names}, host="0.0.0.0") as site:

        async def code(name: str) -> int:
            sent = {**stated(bearer(secret)), "Host": name}
            return (await site.http.post("/mcp", json=listing(), headers=sent)).status_code

        machine = (gethostname(), f"{gethostname().upper()}:1", "127.0.0.1:1", "localhost", "[::1]")
        for name in (*machine, "Tools.Example.com", "other.example.com:8"):
            assert (name, await code(name)) == (name, 200)
        for name in ("127.0.0.2", "evil.example", "127.0.0.1.evil.example", ""):
            assert (name, await code(name)) == (name, 421)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
async def test_the_address_that_a_connection_arrived_at_is_a_name_of_the_gateway(
    tmp_path: Path, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    names: Document = {"allowed_hosts": ["tools.example.com"]}
    both = {**settings, "gateway": names}
    async with served(tmp_path, both, toolsets=toolsets, host="127.0.0.5") as site:
        assert site.gateway.address.startswith("http://127.0.0.5:")
        assert shown(await posted(site)) == ["shop_run", "lab_run"]


async def test_an_address_with_a_slash_at_its_end_is_the_same_without_a_redirect(
    tmp_path: Path, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    _, secret = tokens(tmp_path).create()
    async with served(tmp_path, settings, toolsets=toolsets) as site:
        assert shown(await posted(site, "/mcp/", secret)) == ["shop_run", "lab_run"]
        assert shown(await posted(site, "/mcp/shopping/", secret)) == ["shop_run"]
        refused = await posted(site, "/mcp/")
        assert refused.status_code == 401
        place = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
        about = (await site.http.get(place)).json()
        assert about["resource"] == f"{site.http.base_url}/mcp/"
