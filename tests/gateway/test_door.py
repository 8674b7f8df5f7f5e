"""Who comes in over HTTP, and how far."""

from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.fakes import ScriptedToolset
from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    STATELESS,
    Document,
    Person,
    chosen,
    document,
    goods,
    let_in,
    names,
    rigged,
    shelf,
    tool,
)
from tests.gateway.web import Site, served, tokens
from tests.gateway.wire import stateless
from tests.requirements import requirement
from tooldrawer import Answer, Tool, ToolCall, ToolResult
from tooldrawer.errors import ConfigError
from tooldrawer.gateway.http import serve_http
from tooldrawer.gateway.tokens import Tokens

pytestmark = pytest.mark.anyio
SCOPES: Document = {
    "shopping": {"toolsets": ["shop"]},
    "testing": {"toolsets": ["lab"]},
}
JSON = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


@pytest.fixture
def toolsets() -> tuple[ScriptedToolset, ...]:
    return tuple(
        ScriptedToolset(name, [Tool(name=f"{name}_run", description=f"Run the {name}")])
        for name in ("shop", "lab")
    )


@pytest.fixture
def settings() -> Document:
    return document({}, scopes=SCOPES, search={"enabled": "off"})


def bearer(secret: str) -> dict[str, str]:
    return {**JSON, "Authorization": f"Bearer {secret}"}


def listing() -> Document:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": stateless()}


def stated(headers: dict[str, str], method: str = "tools/list") -> dict[str, str]:
    """With what a request of the stateless era says in its headers too."""
    return {**headers, "MCP-Protocol-Version": STATELESS, "Mcp-Method": method}


async def posted(site: Site, path: str = "/mcp", secret: str = "") -> httpx2.Response:
    headers = stated(bearer(secret) if secret else JSON)
    return await site.http.post(path, json=listing(), headers=headers)


def shown(response: httpx2.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [each["name"] for each in response.json()["result"]["tools"]]


@requirement("SCOPE-5")
async def test_without_tokens_the_address_says_the_scope(
    tmp_path: Path, era: str, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    async with served(tmp_path, settings, toolsets=toolsets) as site:
        for path, expected in (
            ("/mcp", ["shop_run", "lab_run"]),
            ("/mcp/shopping", ["shop_run"]),
            ("/mcp/testing", ["lab_run"]),
        ):
            async with site.visitor(era, path=path) as client:
                assert names(await client.list_tools()) == expected
        response = await posted(site, "/mcp/elsewhere")
        assert response.status_code == 404
        assert response.json()["error"]["message"] == "There is no such scope."


@requirement("SCOPE-5")
async def test_a_token_says_the_scope(
    tmp_path: Path, era: str, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    _, secret = tokens(tmp_path).create(scope="shopping")
    _, whole = tokens(tmp_path).create()
    async with served(tmp_path, settings, toolsets=toolsets) as site:
        for path in ("/mcp", "/mcp/shopping"):
            async with site.visitor(era, secret=secret, path=path) as client:
                assert names(await client.list_tools()) == ["shop_run"]
        async with site.visitor(era, secret=whole, path="/mcp/testing") as client:
            assert names(await client.list_tools()) == ["lab_run"]
        async with site.visitor(era, secret=whole) as client:
            assert names(await client.list_tools()) == ["shop_run", "lab_run"]


async def test_a_token_opens_no_other_scope_and_does_not_say_which_there_are(
    tmp_path: Path, settings: Document
) -> None:
    _, secret = tokens(tmp_path).create(scope="shopping")
    async with served(tmp_path, settings) as site:
        other = await posted(site, "/mcp/testing", secret)
        unknown = await posted(site, "/mcp/elsewhere", secret)
    assert other.status_code == unknown.status_code == 403
    assert other.json() == unknown.json()
    assert 'error="insufficient_scope"' in other.headers["www-authenticate"]


async def test_a_token_of_a_scope_that_is_gone_opens_nothing(
    tmp_path: Path, settings: Document
) -> None:
    _, secret = tokens(tmp_path).create(scope="gone")
    async with served(tmp_path, settings) as site:
        assert (await posted(site, secret=secret)).status_code == 404


async def test_without_a_token_nobody_comes_in_where_there_are_tokens(
    tmp_path: Path, settings: Document
) -> None:
    tokens(tmp_path).create()
    async with served(tmp_path, settings) as site:
        for path in ("/mcp", "/mcp/shopping", "/mcp/elsewhere"):
            response = await posted(site, path)
            assert response.status_code == 401
            challenge = response.headers["www-authenticate"]
            place = f"{site.http.base_url}/.well-known/oauth-protected-resource{path}"
            assert challenge == f'Bearer resource_metadata="{place}"'
            assert "tooldrawer token create" in response.json()["error"]["message"]
        wrong = await posted(site, secret="td_wrong")
        assert wrong.status_code == 401
        assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
        basic = await site.http.post("/mcp", json=listing(), headers={"Authorization": "Basic a"})
        assert basic.status_code == 401


async def test_a_token_that_is_taken_back_is_worthless_at_once(
    tmp_path: Path, settings: Document
) -> None:
    token, secret = tokens(tmp_path).create()
    async with served(tmp_path, settings) as site:
        assert (await posted(site, secret=secret)).status_code == 200
        tokens(tmp_path).revoke(token.id)
        assert (await posted(site, secret=secret)).status_code == 401


async def test_a_client_can_read_where_tokens_come_from(tmp_path: Path, settings: Document) -> None:
    tokens(tmp_path).create()
    issuers = ["https://login.example.com"]
    options: Document = {"gateway": {"authorization_servers": issuers}}
    async with served(tmp_path, {**settings, **options}) as site:
        challenge = (await posted(site, "/mcp/shopping")).headers["www-authenticate"]
        place = challenge.partition('resource_metadata="')[2].rstrip('"')
        about = (await site.http.get(place)).json()
    assert about["resource"] == f"{site.http.base_url}/mcp/shopping"
    assert about["authorization_servers"] == issuers
    assert about["bearer_methods_supported"] == ["header"]


async def test_the_result_of_a_call_does_not_reach_a_token_revoked_meanwhile(
    tmp_path: Path, era: str, settings: Document
) -> None:
    token, secret = tokens(tmp_path).create()
    tokens(tmp_path).create()

    async def revoke(_: Tool, call: ToolCall) -> ToolResult:
        if tools[0].received != [call]:
            tokens(tmp_path).revoke(token.id)
        return ToolResult.of_json("the result")

    tools = (ScriptedToolset("shop", [Tool(name="shop_run")], revoke),)
    call: Document = {"name": "shop_run", "arguments": {}}
    async with served(tmp_path, settings, toolsets=tools) as site:
        if era == STATELESS:
            headers = {**stated(bearer(secret), "tools/call"), "Mcp-Name": "shop_run"}
            call = stateless(**call)
        else:
            headers = await _opened(site, secret)
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        with anyio.fail_after(60):
            first, second = [
                await site.http.post("/mcp", json=body, headers=headers) for _ in range(2)
            ]
        assert "the result" in first.text
        assert "the result" not in second.text
        assert len(tools[0].received) == 2


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
async def test_without_tokens_no_network_is_listened_to(
    tmp_path: Path, settings: Document, host: str
) -> None:
    async with rigged(tmp_path, settings) as rig:
        with pytest.raises(ConfigError, match="tooldrawer token create"):
            await serve_http(rig.gateway, host=host, port=0, tokens=tokens(tmp_path))


async def test_with_a_damaged_file_of_tokens_the_gateway_does_not_start(
    tmp_path: Path, settings: Document
) -> None:
    file = tmp_path / "tokens.json"
    file.write_text("{", encoding="utf-8")
    async with rigged(tmp_path, settings) as rig:
        with pytest.raises(ConfigError, match="cannot be read"):
            await serve_http(rig.gateway, host="127.0.0.1", port=0, tokens=Tokens(file))


async def test_figures_are_for_whoever_may_see_everything(
    tmp_path: Path, settings: Document
) -> None:
    async with served(tmp_path, settings) as site:
        assert (await site.http.get("/metrics")).status_code == 200
        _, scoped = tokens(tmp_path).create(scope="shopping")
        _, whole = tokens(tmp_path).create()
        codes = [
            (await site.http.get("/metrics", headers=headers)).status_code
            for headers in ({}, bearer(scoped), bearer(whole))
        ]
    assert codes == [401, 401, 200]


async def test_health_is_for_everybody_and_readiness_waits_for_servers(tmp_path: Path) -> None:
    tokens(tmp_path).create()
    gate = tmp_path / "gate"
    server = shelf(goods(tmp_path / "late.json", tool("a")), "--hold", str(gate))
    async with served(tmp_path, document({"late": server})) as site:
        assert (await site.http.get("/healthz")).text == "ok\n"
        early = await site.http.get("/readyz")
        assert (early.status_code, early.json()) == (503, {"ready": False, "starting": 1})
        let_in(gate)
        await site.settled()
        late = await site.http.get("/readyz")
        assert (late.status_code, late.json()) == (200, {"ready": True, "starting": 0})


async def test_a_server_that_cannot_start_does_not_keep_the_gateway_from_being_ready(
    tmp_path: Path,
) -> None:
    dead: Document = {"command": "false"}
    async with served(tmp_path, document({"dead": dead})) as site:
        await site.settled()
        assert (await site.http.get("/readyz")).status_code == 200


async def _opened(site: Site, secret: str, path: str = "/mcp") -> dict[str, str]:
    """A session of the handshake era: the headers that its requests have."""
    info = {"name": "web", "version": "1"}
    params: Document = {"protocolVersion": HANDSHAKE, "clientInfo": info, "capabilities": {}}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    headers = bearer(secret) if secret else JSON
    response = await site.http.post(path, json=body, headers=headers)
    assert response.status_code == 200, response.text
    session = response.headers["mcp-session-id"]
    own = {**headers, "Mcp-Session-Id": session, "MCP-Protocol-Version": HANDSHAKE}
    joined = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await site.http.post(path, json=joined, headers=own)).status_code == 202
    return own


async def _listed(site: Site, headers: dict[str, str], path: str = "/mcp") -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return await site.http.post(path, json=body, headers=headers)


async def test_the_session_of_one_token_is_not_there_for_another(
    tmp_path: Path, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    _, ann = tokens(tmp_path).create("ann")
    _, bob = tokens(tmp_path).create("bob")
    async with served(tmp_path, settings, toolsets=toolsets) as site:
        headers = await _opened(site, ann)
        assert "shop_run" in (await _listed(site, headers)).text
        stolen = await _listed(site, {**headers, **bearer(bob)})
        assert stolen.status_code == 404
        assert "shop_run" not in stolen.text


@requirement("SCOPE-5")
async def test_the_scope_is_that_of_the_request_and_not_of_the_connection(
    tmp_path: Path, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    async with served(tmp_path, settings, toolsets=toolsets) as site:
        headers = await _opened(site, "", "/mcp/shopping")
        assert "lab_run" not in (await _listed(site, headers, "/mcp/shopping")).text
        other = await _listed(site, headers, "/mcp/testing")
        assert "shop_run" not in other.text


ASK: Document = {"approvals": {"ask": ["shop_run"]}}


@requirement("DSP-6")
async def test_nobody_uses_the_approval_of_another(
    tmp_path: Path, era: str, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    _, ann = tokens(tmp_path).create("ann")
    _, bob = tokens(tmp_path).create("bob")
    async with (
        served(tmp_path, {**settings, **ASK}, toolsets=toolsets) as site,
        site.visitor(era, secret=ann) as hers,
        site.visitor(era, secret=bob) as his,
    ):
        assert (await hers.call_tool("shop_run", {})).is_error
        (waiting,) = site.gateway.pending.waiting()
        site.gateway.pending.answer(waiting.id, Answer.ONCE)
        assert (await his.call_tool("shop_run", {})).is_error
        assert not (await hers.call_tool("shop_run", {})).is_error


@requirement("DSP-6")
async def test_nobody_answers_for_another(
    tmp_path: Path, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    _, ann = tokens(tmp_path).create("ann")
    _, bob = tokens(tmp_path).create("bob")
    able: Document = {"elicitation": {"form": {}}}
    call: Document = {"name": "shop_run", "arguments": {}}
    yes: Document = {"action": "accept", "content": {"answer": "always"}}

    async def calls(site: Site, secret: str, path: str = "/mcp", **more: Any) -> Any:
        params = stateless(able, **call, **more)
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {**stated(bearer(secret), "tools/call"), "Mcp-Name": "shop_run"}
        return (await site.http.post(path, json=body, headers=headers)).json()

    async with served(tmp_path, {**settings, **ASK}, toolsets=toolsets) as site:
        asked = (await calls(site, ann))["result"]
        (key,) = asked["inputRequests"]
        more: Document = {"inputResponses": {key: yes}, "requestState": asked["requestState"]}
        assert (await calls(site, bob, **more))["error"]["code"] == -32602
        assert (await calls(site, ann, "/mcp/shopping", **more))["error"]["code"] == -32602
        assert toolsets[0].received == []
        assert "result" in await calls(site, ann, **more)


async def test_both_eras_are_asked_over_http_too(
    tmp_path: Path, era: str, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    person = Person(chosen("once"))
    async with (
        served(tmp_path, {**settings, **ASK}, toolsets=toolsets) as site,
        site.visitor(era, person) as client,
    ):
        assert not (await client.call_tool("shop_run", {})).is_error
    assert len(person.questions) == 1


async def test_clients_of_this_machine_come_in_without_a_token_once_that_is_said(
    tmp_path: Path, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    kept = tokens(tmp_path)
    _, secret = kept.create("laptop")
    async with served(tmp_path, settings, toolsets=toolsets) as site:
        assert (await posted(site, secret=secret)).status_code == 200
        kept.revoke("laptop")
        assert (await posted(site)).status_code == 401
        kept.open()
        assert (await posted(site)).status_code == 200
        kept.create()
        assert (await posted(site)).status_code == 401


async def test_other_machines_never_come_in_without_a_token(
    tmp_path: Path, settings: Document, toolsets: tuple[ScriptedToolset, ...]
) -> None:
    kept = tokens(tmp_path)
    _, secret = kept.create("laptop")
    async with served(tmp_path, settings, toolsets=toolsets, host="0.0.0.0") as site:
        assert site.gateway.address.startswith("http://127.0.0.1:")
        assert (await posted(site, secret=secret)).status_code == 200
        kept.revoke("laptop")
        kept.open()
        assert (await posted(site)).status_code == 401
        assert (await site.http.get("/metrics")).status_code == 401
