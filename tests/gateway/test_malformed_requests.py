"""Headers and paths that cannot be parsed are refused like any others, and break nothing."""

from pathlib import Path

import httpx2
import pytest

from tests.gateway.rig import document
from tests.gateway.web import served, tokens

pytestmark = pytest.mark.anyio
HALF_AN_ADDRESS = "[::"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_an_origin_that_is_not_a_url_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, document({})) as site:
        refused = await site.http.post("/mcp", headers={"Origin": f"http://{HALF_AN_ADDRESS}"})
    assert (refused.status_code, "allowed_origins" in refused.text) == (403, True)


async def test_a_host_that_is_not_a_name_is_refused_on_a_network_too(tmp_path: Path) -> None:
    tokens(tmp_path).create("ann")
    async with served(tmp_path, document({}), host="0.0.0.0") as site:
        refused = await site.http.post("/mcp", headers={"Host": HALF_AN_ADDRESS})
    assert (refused.status_code, "allowed_hosts" in refused.text) == (421, True)


@pytest.mark.parametrize("path", ["%00", "%0d%0aX-Added:%201", "%C3%BC", "%E4%B8%96", "%22", "%ff"])
async def test_a_path_that_no_header_can_have_is_challenged_like_any_other(
    tmp_path: Path, path: str
) -> None:
    tokens(tmp_path).create("ann")
    async with served(tmp_path, document({})) as site:
        refused = await site.http.post(f"/mcp/{path}")
    assert refused.status_code == 401
    assert "x-added" not in refused.headers
    _, _, place = refused.headers["WWW-Authenticate"].partition("resource_metadata=")
    assert httpx2.URL(place.strip('"')).path.startswith("/.well-known/oauth-protected-resource/mcp")
    assert place.count('"') == 2
