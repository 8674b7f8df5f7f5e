"""Clients that misbehave, and clients that want very much at once."""

import json
from contextlib import AsyncExitStack
from typing import Any

import anyio
import httpx2
import pytest
from mcp_types import JSONRPCResponse

from tests.faults.callers import Caller, text
from tests.faults.gateways import gateway
from tests.faults.place import Place
from tests.faults.waiting import LONG, eventually
from tests.requirements import requirement

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
BIG = 5_000_000
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "tool_call",
}
RUBBISH = [
    b"",
    b"rubbish",
    b"\xff\xfe\x00",
    b"{",
    b"{}",
    b"[]",
    b"null",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "2.0", "id": [], "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": "a", "method": 5}',
    b'{"jsonrpc": "2.0", "id": 1000001, "result": {}}',
    b'{"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": "no"}}',
    b'{"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": {"a": 1}}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}',
    b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": []}}',
    b"[" * 100_000,
    b"x" * BIG,
]


async def test_rubbish_between_the_messages_is_read_over(place: Place) -> None:
    async with gateway(place) as found, found.client() as client, client.beating():
        for line in RUBBISH * 3:
            await found.wire.send(line)
        assert (await client.client.list_tools()).tools
        assert (await found.server("well"))["starts"] == 1


async def test_a_request_of_five_megabytes_is_passed_on_if_the_settings_allow_it(
    place: Place,
) -> None:
    place.settings["limits"] = {"arguments_max_bytes": 2 * BIG, "result_max_chars": 2 * BIG}
    async with gateway(place) as found, found.client() as client, client.beating():
        found.growth *= 2  # both ways through schema check, dispatcher and two pipes
        result = await client.call("well/echo", {"text": "x" * BIG})
        assert result.structured_content == {"text": "x" * BIG}


async def test_a_request_of_five_megabytes_is_refused_otherwise(place: Place) -> None:
    async with gateway(place) as found, found.client() as client, client.beating():
        result = await client.call("well/echo", {"text": "x" * BIG})
        assert result.is_error
        assert "1,000,000" in text(result)
        assert (await found.server("well"))["starts"] == 1


async def test_a_client_that_does_not_read_costs_little_and_loses_nothing(place: Place) -> None:
    async with gateway(place) as found:
        await found.up("well")
        found.growth += 200 * 100_000  # its unread answers
        for message in (*_greeting(), *(_call(n, "well/big", bytes=100_000) for n in range(200))):
            await found.wire.send(json.dumps(message).encode())
        await found.wire.send(json.dumps(_call("last", "well/echo")).encode())
        with anyio.fail_after(60):
            assert (await found.server("well"))["state"] == "up"
        answered: set[Any] = set()
        with anyio.fail_after(LONG):
            async for message in found.wire.messages():
                assert isinstance(message, JSONRPCResponse)
                answered.add(message.id)
                if len(answered) == 202:
                    break
        assert answered == {"hello", "last", *range(200)}


async def test_a_client_that_shuts_its_ears_is_served_until_it_leaves(place: Place) -> None:
    async with gateway(place) as found:
        await found.up("well")
        await found.wire.deafen()
        for message in (*_greeting(), *(_call(n, "well/echo") for n in range(20))):
            await found.wire.send(json.dumps(message).encode())
        await found.wire.close()
        assert await found.ended() == 0


async def test_a_client_that_reads_no_notifications_does_not_fill_the_memory(place: Place) -> None:
    place.rude("bad")
    async with gateway(place) as found:
        await found.up("well", "bad")
        flood = _call("flood", "bad/flood", times=20_000)
        flood["params"]["_meta"] = {"progressToken": "flood"}
        for message in (*_greeting(), flood):
            await found.wire.send(json.dumps(message).encode())
        # The server gets through with it, though nobody reads.
        await found.busy(1)
        await found.busy(0)
        with anyio.fail_after(LONG):
            async for message in found.wire.messages():
                if isinstance(message, JSONRPCResponse) and message.id == "flood":
                    break


async def test_over_http_clients_that_do_not_read_are_nobody_elses_trouble(place: Place) -> None:
    place.plain("bad")
    place.settings["limits"] = {"result_max_chars": 2 * BIG}
    async with (
        gateway(place, "--http") as found,
        found.http_client("auto") as client,
        client.beating(),
    ):
        await found.up("bad")
        found.growth += 2 * 10 * BIG  # ten answers, each as text and as bytes
        address = str((await found.status())["address"])
        async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
            http = await stack.enter_async_context(httpx2.AsyncClient(timeout=LONG))
            for _ in range(10):
                stream = http.stream("POST", address, headers=HEADERS, json=_stateless_call())
                tasks.start_soon(stack.enter_async_context, stream)
            await found.busy(0)
            await client.beat(1)


@requirement("DSP-8")
@ERAS
async def test_five_hundred_calls_at_once_of_which_a_hundred_are_cancelled(
    place: Place, mode: str
) -> None:
    place.plain("bad")
    async with gateway(place) as found, found.client(mode) as client, client.beating():
        await found.up("bad")
        answers: dict[int, object] = {}

        async def call(number: int) -> None:
            result = await client.call("well/echo", {"number": number})
            answers[number] = result.structured_content

        async with anyio.create_task_group() as tasks, anyio.create_task_group() as hanging:
            for number in range(400):
                tasks.start_soon(call, number)
                if number % 4 == 0:
                    hanging.start_soon(client.call, "bad/hang")
            await _reached(client, 100)
            hanging.cancel_scope.cancel()
        assert answers == {number: {"number": number} for number in range(400)}
        await _cancelled(client)
        await found.until(lambda server: server["starts"] == 1, "well", "bad")


@ERAS
async def test_over_http_a_client_that_goes_away_takes_only_its_own_calls(
    place: Place, mode: str
) -> None:
    place.plain("bad")
    async with (
        gateway(place, "--http") as found,
        found.http_client(mode) as client,
        client.beating(),
    ):
        await found.up("bad")
        async with found.http_client(mode) as other, anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(other.call, "bad/hang")
            await _reached(client, 10)
            tasks.cancel_scope.cancel()
        await _cancelled(client)


async def _reached(client: Caller, count: int) -> None:
    """Wait until so many calls hang at the server."""

    async def hang() -> bool:
        return len(json.loads(await client.text("bad/cancelled"))) == count

    await eventually(hang)


async def _cancelled(client: Caller) -> None:
    """Wait until the server was told that nobody waits for any of them."""

    async def are_over() -> bool:
        return all(json.loads(await client.text("bad/cancelled")))

    await eventually(are_over)


def _greeting() -> tuple[dict[str, Any], ...]:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    return (
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    )


def _stateless_call() -> dict[str, Any]:
    call = _call("big", "bad/big", bytes=BIG)
    call["params"]["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return call


def _call(identity: object, tool: str, **arguments: object) -> dict[str, Any]:
    params = {"name": "tool_call", "arguments": {"name": tool, "arguments": arguments}}
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}
