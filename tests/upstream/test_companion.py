"""Clients that shook hands with us reach a server of both eras the same way."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.upstream.fakes import LONG, Client, Running, eventually, pids, plain, running
from tests.upstream.servers.both import NOTE, Both, modern_only, out_of_order
from tooldrawer.activity import UpstreamChanged
from tooldrawer.errors import ServerRefused
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import BEHIND
from tooldrawer.upstream.pace import Pace

OSLO: JsonObject = {"action": "accept", "content": {"city": "Oslo"}}
FORMS: JsonObject = {"elicitation": {"form": {}}}
TOOLS, PROMPTS = "notifications/tools/list_changed", "notifications/prompts/list_changed"
UPDATED = "notifications/resources/updated"
pytestmark = [
    pytest.mark.anyio,
    # The SDK's HTTP client and uvicorn.
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),
]


def shaken(key: str = "ann", capabilities: JsonObject = FORMS) -> Client:
    """A client of the handshake era, whose person is in Oslo."""
    return Client(key, answer=OSLO, capabilities=capabilities, protocol="2025-11-25")


@asynccontextmanager
async def reached(both: Both, pace: Pace | None = None) -> AsyncGenerator[Running]:
    async with both.served(), running(both.spec(), pace=pace) as server:
        assert server.upstream.protocol == "2026-07-28"
        yield server


async def ask_for(server: Running, client: Client, method: str, **params: str) -> JsonObject:
    """A request for a client."""
    token = BEHIND.set(client)
    try:
        with anyio.fail_after(LONG):
            return await server.upstream.request(method, {**params})
    finally:
        BEHIND.reset(token)


async def test_a_question_that_a_server_pushes_reaches_who_shook_hands() -> None:
    client = shaken()
    async with reached(Both()) as server:
        assert (await server.call_for(client, "ask")).text == "accept:Oslo"
        (question,) = client.questions
        assert question["params"] == {
            "mode": "form",
            "message": "[web] City?",
            "requestedSchema": {"type": "object", "properties": {}},
        }
        stateless = Client("bob", answer=OSLO, capabilities=FORMS)
        assert (await server.call_for(stateless, "ask")).text == "failed: NoBackChannelError"


async def test_hands_are_shaken_at_the_first_need_and_once() -> None:
    both = Both()
    async with reached(both) as server:
        stateless, deaf = Client("bob", capabilities=FORMS), shaken("carl", {})
        for client in (None, stateless, deaf):
            assert (await server.call_for(client, "way")).text == "stateless"
        assert both.hands == 0
        async with anyio.create_task_group() as group:
            for number in range(5):
                group.start_soon(server.call_for, shaken(f"client {number}"), "ask")
        assert (await server.call_for(shaken(), "way")).text == "handshake"
    assert both.hands == 1


async def test_questions_to_two_who_shook_hands_reach_the_right_one() -> None:
    ann, bob = shaken("ann"), Client("bob", answer={"action": "decline"}, capabilities=FORMS)
    bob.protocol = ann.protocol
    answers: dict[str, str] = {}

    async def ask(server: Running, client: Client) -> None:
        answers[client.key] = (await server.call_for(client, "ask")).text

    async with reached(Both()) as server, anyio.create_task_group() as group:
        group.start_soon(ask, server, ann)
        group.start_soon(ask, server, bob)
    assert answers == {"ann": "accept:Oslo", "bob": "decline:None"}


async def test_what_a_server_logs_reaches_who_shook_hands() -> None:
    client = shaken()
    async with reached(Both()) as server:
        await server.call_for(client, "say")
        with anyio.fail_after(LONG):
            await client.heard.wait()
    assert client.lines == [{"level": "info", "data": "a line", "logger": "web"}]


async def test_a_server_without_a_handshake_is_asked_for_one_once() -> None:
    both = Both()
    both.refusal = modern_only()
    async with reached(both) as server:
        for _ in range(3):
            assert (await server.call_for(shaken(), "way")).text == "stateless"
    assert both.hands == 1


async def test_a_handshake_that_fails_is_tried_again_after_a_pause() -> None:
    both, now = Both(), [100.0]
    both.refusal = out_of_order()
    async with reached(both, Pace(listing=0.0, clock=lambda: now[0])) as server:
        for _ in range(3):
            assert (await server.call_for(shaken(), "way")).text == "stateless"
        assert both.hands == 1
        now[0] += 1.0
        both.refusal = None
        assert (await server.call_for(shaken(), "way")).text == "handshake"


async def test_hands_are_shaken_again_when_the_session_is_forgotten() -> None:
    both = Both()
    async with reached(both) as server:
        assert (await server.call_for(shaken(), "way")).text == "handshake"
        both.forget()
        assert (await server.call_for(shaken(), "ask")).text == "accept:Oslo"
        assert (await server.call("way")).text == "stateless"
        assert server.upstream.status.starts == 1
    assert both.hands == 2


async def test_a_change_that_is_told_both_ways_is_told_once() -> None:
    both, client = Both(), shaken()
    async with reached(both) as server:
        await server.call_for(client, "way")
        # It is listed once more when changes are heard of.
        await eventually(lambda: both.listings == 2 and both.ears)
        await server.call_for(client, "grow")
        await server.until(lambda: server.happened(UpstreamChanged) and _told(server, PROMPTS))
        await server.until(lambda: _told(server, TOOLS))
        await server.call_for(client, "ask")
        assert (_told(server, PROMPTS), _told(server, TOOLS)) == (1, 1)
        (changed,) = server.happened(UpstreamChanged)
        assert changed.added == 1


async def test_that_a_list_changed_is_told_though_it_is_the_same_again() -> None:
    both = Both()
    async with reached(both) as server:
        await eventually(lambda: both.listings == 2)
        assert _told(server, TOOLS) == 0
        await server.call("announce")
        await server.until(lambda: _told(server, TOOLS))
        assert both.listings == 3
        assert server.happened(UpstreamChanged) == []


async def test_a_list_that_may_have_changed_unheard_is_told_as_changed() -> None:
    both = Both()
    async with reached(both, Pace(listing=0.0, first=0.01)) as server:
        await eventually(lambda: both.listings == 2)
        both.hang_up()
        await eventually(lambda: both.listings == 3)  # it is listened to again
        assert _told(server, PROMPTS) == 0  # nobody had listed them
        await server.upstream.request("prompts/list", {})
        both.hang_up()
        await server.until(lambda: _told(server, PROMPTS))
        await eventually(lambda: both.listings == 4)
        both.hang_up()
        await eventually(lambda: both.listings == 5)
    assert (_told(server, PROMPTS), _told(server, TOOLS)) == (1, 0)


def _told(server: Running, method: str) -> int:
    return [each for each, _ in server.notices].count(method)


async def test_subscriptions_go_the_same_way_and_are_made_again() -> None:
    both, client = Both(), shaken()
    async with reached(both) as server:
        with pytest.raises(ServerRefused, match="no such note"):
            await ask_for(server, client, "resources/subscribe", uri="note://2")
        await ask_for(server, client, "resources/subscribe", uri=NOTE)
        assert both.wanted == [NOTE]
        with anyio.fail_after(LONG):
            while not _told(server, UPDATED):
                await server.call_for(client, "touch")
                with anyio.move_on_after(0.2):
                    await server.until(lambda: server.notices)
        both.forget()
        await server.call_for(client, "way")
        assert both.wanted == [NOTE, NOTE]
    assert both.hands == 2


async def test_who_cannot_subscribe_by_handshake_listens_instead() -> None:
    both, client = Both(), shaken()
    both.refusal = modern_only()
    async with reached(both) as server:
        assert await ask_for(server, client, "resources/subscribe", uri=NOTE) == {}
        with anyio.fail_after(LONG):
            while not _told(server, UPDATED):
                await server.call("touch")
                with anyio.move_on_after(0.2):
                    await server.until(lambda: server.notices)
    assert both.wanted == []


async def test_how_much_is_to_be_logged_is_said_when_hands_are_shaken() -> None:
    both = Both()
    async with reached(both) as server:
        await server.upstream.request("logging/setLevel", {"level": "error"})
        assert (both.levels, both.hands) == ([], 0)
        await server.call_for(shaken(), "way")
        await eventually(lambda: both.levels == ["error"])
        await server.upstream.request("logging/setLevel", {"level": "debug"})
        assert both.levels == ["error", "debug"]


async def test_both_ways_are_closed_together() -> None:
    both = Both()
    async with both.served():
        async with running(both.spec()) as server:
            await server.call_for(shaken(), "ask")
            await eventually(lambda: both.streams)
        await eventually(lambda: not both.streams)


async def test_a_server_that_is_a_process_is_not_started_twice(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    async with running(plain("--modern", "--starts", str(starts))) as server:
        assert (await server.call_for(shaken(), "echo", {"a": 1})).structured == {"a": 1}
    assert len(pids(starts)) == 1
