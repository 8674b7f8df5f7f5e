"""What a client asks for takes a bounded amount of memory and time, whatever it is called."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.fakes import ScriptedToolset
from tests.gateway.rig import (
    HANDSHAKE,
    LONG,
    STATELESS,
    Document,
    Person,
    Rig,
    ask,
    called,
    document,
    eventually,
    goods,
    log,
    rigged,
    shelf,
    tool,
)
from tests.gateway.web import Site, served
from tests.requirements import requirement
from tooldrawer import Tool
from tooldrawer.bounds.template import MAX_URI_CHARS

pytestmark = pytest.mark.anyio
GOODS: Document = {
    "prompts": [{"name": f"p{number}"} for number in range(100)],
    "resources": [{"uri": "note://1", "name": "a note"}],
    "resourceTemplates": [{"uriTemplate": "note://{n}", "name": "notes"}],
}
SUBSCRIBE, UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
Request = Callable[[Client], Awaitable[object]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def settings(folder: Path, *options: str, **quotas: int) -> Document:
    file = goods(folder / "shop.json", tool("fall"), **GOODS)
    return document({"shop": shelf(file, *options)}, gateway={"quotas": quotas})


def asked(rig: Rig, method: str) -> list[str]:
    """The addresses that the server was asked for."""
    found = log(rig.path.with_name("shop.json"))
    return [each["params"]["uri"] for each in found if each["method"] == method]


async def subscribe(client: Client, uri: str) -> None:
    await ask(client, types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))


async def unsubscribe(client: Client, uri: str) -> None:
    await ask(client, types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri)))


async def complete(client: Client, uri: str) -> None:
    reference = types.ResourceTemplateReference(type="ref/resource", uri=uri)
    await client.complete(reference, {"name": "n", "value": "1"})


async def listen(client: Client, *uris: str) -> None:
    async with client.listen(resource_subscriptions=uris):
        pass


async def when_there_is_room(
    request_of: Callable[..., Awaitable[object]], client: Client, *uris: str
) -> None:
    """Ask until the subscriptions of a client that is gone have ended, which nobody tells us."""
    with anyio.fail_after(LONG):
        while True:
            try:
                await request_of(client, *uris)
            except MCPError:
                await anyio.sleep(0.01)
            else:
                return


@requirement("GW-2")
async def test_other_names_of_a_stateless_client_begin_no_more_sessions(tmp_path: Path) -> None:
    desk = ScriptedToolset("desk", [Tool(name="read_note")])
    async with served(tmp_path, document({}), toolsets=(desk,)) as site:
        for number in range(30):
            name = f"client {number} " + "x" * 1000
            async with site.visitor(STATELESS, name=name) as client:
                assert not (await called(client, "read_note")).is_error
        assert len(site.gateway.sessions) == 17


@requirement("GW-2")
@pytest.mark.parametrize("request_of", [subscribe, unsubscribe, complete, Client.read_resource])
async def test_an_address_that_is_too_long_is_refused(
    tmp_path: Path, request_of: Callable[[Client, str], Awaitable[object]]
) -> None:
    async with rigged(tmp_path, settings(tmp_path)) as rig, rig.client(HANDSHAKE) as client:
        await rig.settled()
        with pytest.raises(MCPError, match="at most 8,192 are allowed"):
            await request_of(client, "note://" + "x" * MAX_URI_CHARS)
        assert not any("x" in str(each["params"].get("uri", "")) for each in log(shop(rig)))


def shop(rig: Rig) -> Path:
    return rig.path.with_name("shop.json")


@requirement("GW-2")
async def test_streams_want_a_bounded_number_of_short_addresses(tmp_path: Path) -> None:
    async with rigged(tmp_path, settings(tmp_path, subscriptions=2)) as rig:
        await rig.settled()
        async with rig.client(STATELESS) as client:
            with pytest.raises(MCPError, match="at most 8,192 are allowed"):
                await listen(client, "note://" + "x" * MAX_URI_CHARS)
            with pytest.raises(MCPError, match=r"2 are allowed\. Unsubscribe from one first"):
                await listen(client, "note://1", "else://2", "else://3")
            await listen(client, "note://1", "else://2")
            await when_there_is_room(listen, client, "note://1", "else://2")


@requirement("GW-2")
async def test_a_principal_has_a_bounded_number_of_subscriptions(tmp_path: Path) -> None:
    async with rigged(tmp_path, settings(tmp_path, subscriptions=2)) as rig:
        await rig.settled()
        async with rig.client(HANDSHAKE) as client:
            for uri in ("note://1", "note://2", "note://2"):
                await subscribe(client, uri)
            with pytest.raises(MCPError, match=r"2 are allowed\. Unsubscribe from one first"):
                await subscribe(client, "note://3")
            await unsubscribe(client, "note://1")
            await subscribe(client, "note://3")
        async with rig.client(HANDSHAKE, name="other") as client:
            for uri in ("note://4", "note://5"):
                await when_there_is_room(subscribe, client, uri)


async def post(site: Site, session: str, method: str, **params: Any) -> httpx2.Response:
    headers = {"Accept": "application/json, text/event-stream"}
    if session:
        headers |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": HANDSHAKE}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await site.http.post("/mcp", json=message, headers=headers)


async def test_a_subscription_ends_with_a_session_that_was_never_initialized(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, settings(tmp_path)) as site:
        await site.settled()
        info = {"name": "odd", "version": "1"}
        begun = await post(
            site, "", "initialize", protocolVersion=HANDSHAKE, clientInfo=info, capabilities={}
        )
        session = begun.headers["mcp-session-id"]
        assert (await post(site, session, SUBSCRIBE, uri="note://1")).status_code == 200
        await eventually(lambda: asked(site, SUBSCRIBE) == ["note://1"])
        headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": HANDSHAKE}
        await site.http.delete("/mcp", headers=headers)
        await eventually(lambda: asked(site, UNSUBSCRIBE) == ["note://1"])


async def test_a_subscription_that_the_server_does_not_end_is_not_renewed(tmp_path: Path) -> None:
    async with rigged(tmp_path, settings(tmp_path)) as rig:
        await rig.settled()
        goods(shop(rig), tool("fall"), **GOODS, refuses_unsubscriptions=True)
        (upstream,) = rig.gateway.upstreams()
        async with rig.client(HANDSHAKE) as client:
            await subscribe(client, "note://1")
            await unsubscribe(client, "note://1")
            await called(client, "mcp_shop_fall")
            await eventually(lambda: upstream.status.starts == 2 and upstream.status.state == "up")
            await complete(client, "note://{n}")
    assert asked(rig, UNSUBSCRIBE) == ["note://1"]
    assert asked(rig, SUBSCRIBE) == ["note://1"]


async def get_unknown_prompt(client: Client) -> None:
    await client.get_prompt("unknown")


async def complete_unknown_prompt(client: Client) -> None:
    reference = types.PromptReference(type="ref/prompt", name="unknown")
    await client.complete(reference, {"name": "n", "value": "1"})


async def read_unknown_resource(client: Client) -> None:
    await client.read_resource("unknown://1")


async def subscribe_again(client: Client) -> None:
    await subscribe(client, "note://1")


@requirement("GW-2")
@pytest.mark.parametrize(
    "request_of",
    [get_unknown_prompt, complete_unknown_prompt, read_unknown_resource, subscribe_again],
)
async def test_a_request_for_something_unknown_counts_as_a_call(
    tmp_path: Path, request_of: Request
) -> None:
    async with rigged(tmp_path, settings(tmp_path, calls_per_minute=2)) as rig:
        await rig.settled()
        async with rig.client(HANDSHAKE) as client:
            errors: list[str] = []
            for _ in range(3):
                try:
                    await request_of(client)
                except MCPError as error:
                    errors.append(str(error))
    assert ["More than 2 calls" in each for each in errors].count(True) == 1


async def test_prompts_are_named_once_for_each_list(tmp_path: Path) -> None:
    async with rigged(tmp_path, settings(tmp_path)) as rig:
        await rig.settled()
        prompts, file = rig.gateway.prompts, shop(rig)

        async def find(name: str) -> object:
            return await prompts.find(rig.gateway.admission(""), name)

        first = await find("mcp_shop_p7")
        assert first is not None
        assert await find("mcp_shop_p7") is first
        goods(file, tool("fall"), **{**GOODS, "prompts": [{"name": "new"}]})
        with anyio.fail_after(LONG):
            while await find("mcp_shop_new") is None:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        assert await find("mcp_shop_p7") is None


async def test_many_updates_of_a_resource_are_told_together(tmp_path: Path) -> None:
    person, count = Person(), 500
    async with rigged(tmp_path, settings(tmp_path)) as rig:
        await rig.settled()
        async with rig.client(HANDSHAKE, person) as client:
            for uri in ("note://1", "note://2"):
                await subscribe(client, uri)
            updated = [*["note://1"] * count, "note://2"]
            goods(shop(rig), tool("fall"), **GOODS, updated=updated)
            await person.until(lambda: {"note://1", "note://2"} <= set(person.told))
    assert person.told.count("note://1") < count / 5
