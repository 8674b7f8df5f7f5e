"""Servers that ask: by a request of their own, or by a result that wants more."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.requirements import requirement
from tests.upstream.fakes import LONG, Client, Running, SlowClient, plain, running, structured
from tooldrawer.errors import ServerRefused, ToolTimedOut
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import BEHIND

pytestmark = pytest.mark.anyio
OSLO: JsonObject = {"action": "accept", "content": {"city": "Oslo", "odd": None}, "_meta": {"a": 1}}
DECLINED = {"action": "decline"}


@pytest.fixture(params=["handshake", "modern"])
async def server(request: pytest.FixtureRequest) -> AsyncGenerator[Running]:
    options = ["--modern"] if request.param == "modern" else []
    async with running(plain(*options, timeout=LONG)) as found:
        yield found


async def _answer(server: Running, client: Client | None, name: str, **given: Any) -> Any:
    """What the server got, in either era."""
    result = structured(await server.call_for(client, name, given))["result"]
    return result["k"] if server.upstream.protocol == "2026-07-28" and result else result


async def test_the_person_behind_the_call_answers(server: Running) -> None:
    client = Client(answer=OSLO)
    assert await _answer(server, client, "ask") == OSLO
    assert [question["method"] for question in client.questions] == ["elicitation/create"]


async def test_the_question_names_the_server_and_is_otherwise_unchanged(server: Running) -> None:
    client = Client(answer=OSLO)
    await _answer(server, client, "ask")
    params = client.questions[0]["params"]
    expected: JsonObject = {"type": "object", "properties": {}}
    assert params == {"message": "[plain] Which city?", "requestedSchema": expected, "odd": 1}


async def test_without_anybody_to_ask_a_question_is_declined(server: Running) -> None:
    assert await _answer(server, None, "ask") == DECLINED
    assert await _answer(server, Client(), "ask") == DECLINED


@pytest.mark.parametrize("url", ["https://example.com/a", "http://example.com"])
async def test_a_person_may_be_sent_to_a_web_page(server: Running, url: str) -> None:
    client = Client(answer={"action": "accept"})
    assert await _answer(server, client, "ask", url=url) == {"action": "accept"}
    params = client.questions[0]["params"]
    assert isinstance(params, dict)
    assert params["url"] == url


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "http:", "", "//x["])
async def test_a_person_is_sent_nowhere_else(server: Running, url: str) -> None:
    client = Client(answer={"action": "accept"})
    assert await _answer(server, client, "ask", url=url) == DECLINED
    assert client.questions == []


async def test_sampling_and_roots_reach_the_client(server: Running) -> None:
    sampled: JsonObject = {"role": "assistant", "content": {"type": "text", "text": "hi"}}
    assert await _answer(server, Client(answer=sampled), "sample") == sampled
    roots: JsonObject = {"roots": [{"uri": "file:///a", "odd": 1}]}
    assert await _answer(server, Client(answer=roots), "roots") == roots


async def test_sampling_that_nobody_can_do_is_an_error() -> None:
    async with running(plain()) as server:
        found = structured(await server.call_for(Client(), "sample"))
        assert "cannot run its model" in found["error"]["message"]
    async with running(plain("--modern")) as server:
        for name in ("sample", "roots"):
            with pytest.raises(ServerRefused, match="The client behind this call cannot"):
                await server.call_for(None, name)


async def test_roots_that_the_client_cannot_name_are_an_error_and_not_an_empty_list() -> None:
    async with running(plain()) as server:
        for client in (None, Client()):
            found = structured(await server.call_for(client, "roots"))
            assert "cannot name its folders" in found["error"]["message"]


async def test_roots_asked_for_outside_of_a_call_are_an_error_and_nobody_is_asked() -> None:
    client = Client(answer={"roots": [{"uri": "file:///home/ann"}]})
    async with running(plain("--asks-roots-first")) as server:
        first = structured(await server.call_for(client, "first_roots"))
        assert first["result"] is None
        assert "only known during a call" in first["error"]["message"]
        assert client.questions == []


async def test_a_modern_call_goes_on_for_several_rounds() -> None:
    async with running(plain("--modern")) as server:
        client = Client(answer=OSLO)
        await server.call_for(client, "ask", {"rounds": 5})
        assert len(client.questions) == 1
        with pytest.raises(ServerRefused, match="asked for input 10 times"):
            await server.call_for(client, "ask", {"rounds": 50})


async def test_a_persons_time_is_not_the_servers(server: Running) -> None:
    client = SlowClient()
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            BEHIND.set(client)
            await server.upstream.request("tools/call", {"name": "ask"}, timeout=2)

        group.start_soon(ask)
        with anyio.fail_after(LONG):
            await client.is_asked.wait()
        await anyio.sleep(2.4)  # the time limit itself is what must not end it
        client.go_on.set()


async def test_a_question_is_given_up_with_its_call(server: Running) -> None:
    client = SlowClient()
    async with anyio.create_task_group() as group:
        group.start_soon(server.call_for, client, "ask")
        with anyio.fail_after(LONG):
            await client.is_asked.wait()
        group.cancel_scope.cancel()
    with anyio.fail_after(LONG):
        while not client.was_given_up:
            await anyio.lowlevel.checkpoint()
    assert (await server.call("echo", {"a": 1})).structured == {"a": 1}


class TestTwoClients:
    """Calls of two clients on one connection of the handshake era."""

    async def test_a_question_that_may_be_anybodys_is_put_to_nobody(self, tmp_path: Path) -> None:
        ann, bob = Client("ann", answer=OSLO), Client("bob", answer=OSLO)
        async with running(plain(), folder=tmp_path) as server:
            async with anyio.create_task_group() as group:
                group.start_soon(server.call_for, ann, "hang")
                with anyio.fail_after(LONG):
                    await ann.heard.wait()
                assert await _answer(server, bob, "ask") == DECLINED
                group.cancel_scope.cancel()
            assert ann.questions == bob.questions == []
            # From now on they take turns, so the question is clear.
            await self._take_turns(server)
        async with running(plain(), folder=tmp_path) as server:
            await self._take_turns(server)

    async def _take_turns(self, server: Running) -> None:
        ann, bob, other = Client("ann"), Client("bob", answer=OSLO), Client("ann", answer=OSLO)
        async with anyio.create_task_group() as group:
            scope = anyio.CancelScope()

            async def hang() -> None:
                with scope:
                    await server.call_for(ann, "hang")

            group.start_soon(hang)
            with anyio.fail_after(LONG):
                await ann.heard.wait()
            assert await _answer(server, other, "ask") == OSLO
            with pytest.raises(ToolTimedOut, match="busy with another client's call"):
                await self._brief(server, bob)
            done = anyio.Event()

            async def ask() -> None:
                assert await _answer(server, bob, "ask") == OSLO
                done.set()

            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert not done.is_set()
            scope.cancel()
            with anyio.fail_after(LONG):
                await done.wait()

    async def _brief(self, server: Running, client: Client) -> None:
        token = BEHIND.set(client)
        try:
            await server.upstream.request("tools/call", {"name": "echo"}, timeout=0.05)
        finally:
            BEHIND.reset(token)

    @requirement("GW-2")
    async def test_a_question_that_waits_for_a_person_holds_up_no_other_client(self) -> None:
        ann, bob = SlowClient("ann"), Client("bob", answer=OSLO)
        async with running(plain()) as server:
            await self._confuse(server)
            async with anyio.create_task_group() as group:
                group.start_soon(server.call_for, ann, "ask")
                with anyio.fail_after(LONG):
                    await ann.is_asked.wait()
                assert (await server.call_for(bob, "echo", {"a": 1})).structured == {"a": 1}
                assert await _answer(server, bob, "ask") == OSLO
                ann.go_on.set()
        assert (len(ann.questions), len(bob.questions)) == (1, 1)

    async def test_an_answer_goes_to_the_server_when_it_is_the_calls_turn_again(self) -> None:
        ann, bob, done = SlowClient("ann"), Client("bob"), anyio.Event()
        async with running(plain()) as server:
            await self._confuse(server)

            async def ask() -> None:
                await server.call_for(ann, "ask")
                done.set()

            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                with anyio.fail_after(LONG):
                    await ann.is_asked.wait()
                scope = anyio.CancelScope()

                async def hang() -> None:
                    with scope:
                        await server.call_for(bob, "hang")

                group.start_soon(hang)
                with anyio.fail_after(LONG):
                    await bob.heard.wait()
                ann.go_on.set()
                await anyio.wait_all_tasks_blocked()
                assert not done.is_set()
                scope.cancel()
                with anyio.fail_after(LONG):
                    await done.wait()

    async def test_a_call_that_is_given_up_while_its_answer_waits_is_over(self) -> None:
        ann, bob = SlowClient("ann"), Client("bob")
        async with running(plain()) as server:
            await self._confuse(server)
            async with anyio.create_task_group() as group:
                asking = anyio.CancelScope()

                async def ask() -> None:
                    with asking:
                        await server.call_for(ann, "ask")

                group.start_soon(ask)
                with anyio.fail_after(LONG):
                    await ann.is_asked.wait()
                group.start_soon(server.call_for, bob, "hang")
                with anyio.fail_after(LONG):
                    await bob.heard.wait()
                ann.go_on.set()
                await anyio.wait_all_tasks_blocked()
                asking.cancel()
                group.cancel_scope.cancel()
            assert (await server.call_for(ann, "echo", {"a": 1})).structured == {"a": 1}

    async def _confuse(self, server: Running) -> None:
        """Let the server ask while it works for two, so that it is known to ask."""
        one, other = Client("one"), Client("other", answer=OSLO)
        async with anyio.create_task_group() as group:
            group.start_soon(server.call_for, one, "hang")
            with anyio.fail_after(LONG):
                await one.heard.wait()
            assert await _answer(server, other, "ask") == DECLINED
            group.cancel_scope.cancel()

    async def test_calls_of_one_client_overlap_and_its_questions_are_clear(self) -> None:
        first, second = Client("ann", answer=OSLO), Client("ann", answer=OSLO)
        async with running(plain()) as server, anyio.create_task_group() as group:
            group.start_soon(server.call_for, first, "hang")
            with anyio.fail_after(LONG):
                await first.heard.wait()
            assert await _answer(server, second, "ask") == OSLO
            group.cancel_scope.cancel()

    async def test_two_clients_of_a_modern_server_are_never_confused(self) -> None:
        ann, bob = Client("ann", answer=OSLO), Client("bob", answer={"action": "cancel"})
        async with running(plain("--modern")) as server, anyio.create_task_group() as group:
            group.start_soon(server.call_for, ann, "hang")
            with anyio.fail_after(LONG):
                await ann.heard.wait()
            assert await _answer(server, bob, "ask") == {"action": "cancel"}
            assert ann.questions == []
            group.cancel_scope.cancel()


async def test_a_question_goes_to_the_call_of_a_client_that_may_be_asked_about() -> None:
    asked = Client("ann", answer=OSLO, capabilities={"elicitation": {}})
    deaf = Client("ann")
    async with running(plain()) as server, anyio.create_task_group() as group:
        group.start_soon(server.call_for, asked, "hang")
        with anyio.fail_after(LONG):
            await asked.heard.wait()
        assert await _answer(server, deaf, "ask") == OSLO
        group.cancel_scope.cancel()
