"""What one principal uses up does not affect another."""

from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.fakes import Clock, ScriptedToolset
from tests.gateway.rig import (
    HANDSHAKE,
    LONG,
    STATELESS,
    Document,
    Person,
    called,
    document,
    eventually,
    goods,
    names,
    shelf,
    text,
    tool,
)
from tests.gateway.web import Site, served, tokens
from tests.gateway.wire import stateless
from tests.requirements import requirement
from tooldrawer import Tool
from tooldrawer.activity import CallRefused
from tooldrawer.config.settings import QuotaOptions
from tooldrawer.gateway.quotas import OpenRequests, QuotaExceeded, Quotas

pytestmark = pytest.mark.anyio
TOOLS = "notifications/tools/list_changed"
ASKABLE: Document = {"elicitation": {"form": {}}}
YES: Document = {"action": "accept", "content": {"answer": "once"}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def desk() -> ScriptedToolset:
    schema: Document = {"type": "object", "properties": {"title": {"type": "string"}}}
    tools = [Tool(name=name, parameters=schema) for name in ("read_note", "delete_note")]
    return ScriptedToolset("desk", tools)


def limits(**numbers: int) -> Quotas:
    return Quotas(lambda: QuotaOptions(**numbers), clock=Clock())


@requirement("GW-2")
def test_searches_and_calls_of_a_minute_are_counted_for_each_principal() -> None:
    clock = Clock()
    options = QuotaOptions(searches_per_minute=2, calls_per_minute=1)
    quotas = Quotas(lambda: options, clock=clock)
    quotas.count_searches("ann", 2)
    quotas.count_call("ann")
    clock.now += 50
    with pytest.raises(QuotaExceeded, match=r"More than 2 searches in a minute. Wait 10 s"):
        quotas.count_searches("ann")
    with pytest.raises(QuotaExceeded, match=r"More than 1 calls in a minute. Wait 10 s"):
        quotas.count_call("ann")
    quotas.count_searches("bob")
    quotas.count_call("bob")
    clock.now += 10
    quotas.count_searches("ann")
    quotas.count_call("ann")


def test_a_search_with_more_queries_than_allowed_is_possible_once() -> None:
    quotas = limits(searches_per_minute=2)
    quotas.count_searches("ann", 10)
    with pytest.raises(QuotaExceeded):
        quotas.count_searches("ann")


@requirement("GW-2")
async def test_a_call_too_many_waits_for_one_of_its_principal() -> None:
    quotas, order = limits(calls_in_flight=1), list[str]()

    async def wait() -> None:
        async with quotas.in_flight("ann"):
            order.append("second of ann")

    async with anyio.create_task_group() as tasks, quotas.in_flight("ann"):
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        async with quotas.in_flight("bob"):
            order.append("first of bob")
        order.append("first of ann")
    assert order == ["first of bob", "first of ann", "second of ann"]


async def test_a_waiting_call_that_is_given_up_takes_no_place() -> None:
    quotas = limits(calls_in_flight=1)

    async def wait() -> None:
        async with quotas.in_flight("ann"):
            pass

    async with quotas.in_flight("ann"), anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    with anyio.fail_after(LONG):
        async with quotas.in_flight("ann"):
            pass


@requirement("GW-2")
def test_a_principal_may_have_as_many_requests_open_as_are_left_for_others() -> None:
    requests = OpenRequests(8)
    with ExitStack() as stack:
        for principal, share in (("ann", 4), ("bob", 2), ("eve", 1)):
            for _ in range(share):
                stack.enter_context(requests.opened(principal))
            with pytest.raises(QuotaExceeded, match="Close streams"), requests.opened(principal):
                pass
    with requests.opened("ann"):
        pass


def bearer(secret: str, **more: str) -> dict[str, str]:
    kinds = "application/json, text/event-stream"
    return {"Accept": kinds, "Authorization": f"Bearer {secret}", **more}


async def shake_hands(site: Site, secret: str) -> httpx2.Response:
    """Begin a session, and leave it as it is."""
    info = {"name": "flood", "version": "1"}
    params = {"protocolVersion": HANDSHAKE, "clientInfo": info, "capabilities": {}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    return await site.http.post("/mcp", json=request, headers=bearer(secret))


@requirement("GW-2")
async def test_idle_sessions_of_one_principal_make_room_for_its_own(tmp_path: Path) -> None:
    ann, bob = (tokens(tmp_path).create()[1] for _ in range(2))
    settings = document({}, gateway={"quotas": {"sessions": 3}})
    async with served(tmp_path, settings) as site:
        quiet = await shake_hands(site, bob)
        flood = [await shake_hands(site, ann) for _ in range(10)]
        assert {response.status_code for response in flood} == {200}

        async def is_known(response: httpx2.Response, secret: str) -> bool:
            session = {"Mcp-Session-Id": response.headers["mcp-session-id"]}
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            headers = bearer(secret, **session)
            return (await site.http.post("/mcp", json=ping, headers=headers)).status_code == 200

        assert [await is_known(each, ann) for each in flood] == [False] * 7 + [True] * 3
        assert await is_known(quiet, bob)


@requirement("GW-2")
@pytest.mark.parametrize(
    "body",
    [b"[]", b"[" * 100_000, b"\xff\xfe{}", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'],
    ids=["batch", "deep", "no text", "no handshake"],
)
async def test_a_request_that_is_refused_neither_begins_a_session_nor_ends_one(
    tmp_path: Path, body: bytes
) -> None:
    ann = tokens(tmp_path).create()[1]
    settings = document({}, gateway={"quotas": {"sessions": 1}})
    async with served(tmp_path, settings) as site:

        async def ping(response: httpx2.Response) -> int:
            headers = bearer(ann, **{"Mcp-Session-Id": response.headers["mcp-session-id"]})
            request = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            return (await site.http.post("/mcp", json=request, headers=headers)).status_code

        begun = await shake_hands(site, ann)
        headers = bearer(ann, **{"Content-Type": "application/json"})
        refused = await site.http.post("/mcp", content=body, headers=headers)
        assert refused.status_code == 400
        assert await ping(refused) == 404
        assert await ping(begun) == 200


@requirement("GW-2")
async def test_sessions_that_are_in_use_are_not_ended_for_another(tmp_path: Path) -> None:
    ann, bob = (tokens(tmp_path).create()[1] for _ in range(2))
    settings = document({}, gateway={"quotas": {"sessions": 1}})
    async with served(tmp_path, settings) as site:
        session = (await shake_hands(site, ann)).headers["mcp-session-id"]
        headers = bearer(ann, **{"Mcp-Session-Id": session})
        async with site.http.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            refused = await shake_hands(site, ann)
            assert refused.status_code == 429
            assert "gateway.quotas.sessions" in refused.json()["error"]["message"]
            assert (await shake_hands(site, bob)).status_code == 200


async def suspend(site: Site, secret: str, title: str, **more: Any) -> Any:
    """Call a tool that asks first."""
    given: Document = {"name": "delete_note", "arguments": {"title": title}}
    params = stateless(ASKABLE, **given, **more)
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    about = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call"}
    headers = bearer(secret, **about, **{"Mcp-Name": "delete_note"})
    response = await site.http.post("/mcp", json=request, headers=headers)
    return response.json()


@requirement("GW-2")
async def test_suspended_calls_of_one_principal_do_not_end_another_ones(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    ann, bob = (tokens(tmp_path).create()[1] for _ in range(2))
    quotas = {"suspended_calls": 3}
    settings = document({}, approvals={"ask": ["*delete*"]}, gateway={"quotas": quotas})
    async with served(tmp_path, settings, toolsets=(desk,)) as site:

        async def resume(secret: str, title: str, asked: Any) -> Any:
            (key,) = asked["result"]["inputRequests"]
            state = asked["result"]["requestState"]
            return await suspend(site, secret, title, inputResponses={key: YES}, requestState=state)

        waiting = await suspend(site, bob, "milk")
        flood = [await suspend(site, ann, f"note {number}") for number in range(5)]
        assert len(site.gateway.parking) == 4
        assert "result" in await resume(bob, "milk", waiting)
        assert "expired requestState" in str(await resume(ann, "note 0", flood[0]))
        assert "result" in await resume(ann, "note 4", flood[4])
    assert [call.arguments["title"] for call in desk.received] == ["milk", "note 4"]


@requirement("GW-2")
@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
async def test_another_name_of_the_client_gives_no_more_calls(
    tmp_path: Path, era: str, desk: ScriptedToolset
) -> None:
    ann, bob = (tokens(tmp_path).create()[1] for _ in range(2))
    settings = document({}, gateway={"quotas": {"calls_per_minute": 3}})
    async with served(tmp_path, settings, toolsets=(desk,)) as site:

        async def call(secret: str, name: str) -> str:
            async with site.visitor(era, secret=secret, name=name) as client:
                return text(await called(client, "read_note", title=name))

        results = [await call(ann, f"client {number}") for number in range(5)]
        assert ["More than 3 calls in a minute" in each for each in results] == [
            *[False] * 3,
            *[True] * 2,
        ]
        assert "More than" not in await call(bob, "client 0")
        refused = [each for each in site.gateway.drawer.activity if isinstance(each, CallRefused)]
        assert [each.tool for each in refused] == [None, None]
    assert len(desk.received) == 4


async def test_searches_are_counted_apart_from_calls(tmp_path: Path, desk: ScriptedToolset) -> None:
    settings = document({}, gateway={"quotas": {"searches_per_minute": 2}})
    async with (
        served(tmp_path, settings, toolsets=(desk,)) as site,
        site.visitor(STATELESS) as client,
    ):
        found = [await client.call_tool("tool_search", {"query": "note"}) for _ in range(3)]
        assert [each.is_error for each in found] == [False, False, True]
        assert "More than 2 searches in a minute" in text(found[-1])
        assert not (await called(client, "read_note")).is_error


@requirement("GW-2")
@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
async def test_a_revoked_token_receives_nothing_more_on_an_open_stream(
    tmp_path: Path, era: str
) -> None:
    (gone, ann), (_, bob) = (tokens(tmp_path).create() for _ in range(2))
    file, revoked, other = goods(tmp_path / "shop.json", tool("a")), Person(), Person()
    settings = document({"shop": shelf(file)}, gateway={"mode": "passthrough"})
    async with (
        served(tmp_path, settings) as site,
        site.visitor(era, revoked, secret=ann) as first,
        site.visitor(era, other, secret=bob) as second,
    ):
        await site.settled()
        for client in (first, second):
            assert names(await client.list_tools()) == ["mcp_shop_a"]
        async with anyio.create_task_group() as tasks:
            if era == STATELESS:
                tasks.start_soon(listen, first)
                tasks.start_soon(listen, second)
            # Both hear of changes before the token is revoked.
            await goods_until(file, revoked, other)
            heard = len(revoked.told)
            assert tokens(tmp_path).revoke(gone.id)
            for name in ("y", "z"):
                seen = len(other.told)
                goods(file, tool(name))
                await other.until(lambda: len(other.told) > seen)  # noqa: B023
            assert len(revoked.told) == heard
            tasks.cancel_scope.cancel()


async def listen(client: Any) -> None:
    async with client.listen(tools_list_changed=True):
        await anyio.sleep_forever()


async def goods_until(file: Path, *people: Person) -> None:
    """Change what is offered until all have heard of it."""
    for number in range(1000):
        goods(file, tool(f"a{number}"))
        with anyio.move_on_after(0.5):
            await eventually(lambda: all(person.told for person in people))
            return
    raise AssertionError


async def test_a_principal_cannot_take_all_connections(tmp_path: Path) -> None:
    ann, bob = (tokens(tmp_path).create()[1] for _ in range(2))
    settings = document({}, gateway={"connections": {"max_open": 20}})
    about = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "subscriptions/listen"}
    params = stateless(notifications={"toolsListChanged": True})
    request = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    async with served(tmp_path, settings) as site, AsyncExitStack() as streams:
        answers: list[int] = []
        for _ in range(11):
            stream = site.http.stream("POST", "/mcp", json=request, headers=bearer(ann, **about))
            response = await streams.enter_async_context(stream)
            answers.append(response.status_code)
        assert answers == [200] * 10 + [429]
        async with site.visitor(STATELESS, secret=bob) as client:
            assert (await client.list_tools()).tools
