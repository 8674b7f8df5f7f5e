"""How long a server has for a call: the time of a person who is asked is not its own."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.requirements import requirement
from tests.upstream.fakes import LONG, Client, SlowClient, plain, structured
from tooldrawer import Config, Drawer, Limits
from tooldrawer.upstream.behind import BEHIND
from tooldrawer.upstream.questions import Questions
from tooldrawer.upstream.turns import Flight

pytestmark = pytest.mark.anyio
SHORT = 0.3
ENOUGH = 2.0
"""Seconds in which a server answers even on a busy machine."""


@asynccontextmanager
async def connected(drawer: Drawer) -> AsyncGenerator[Drawer]:
    async with drawer.connected() as pool:
        await pool.settled(LONG)
        yield drawer


@requirement("DSP-8")
async def test_a_servers_call_ends_at_the_limit_for_all_calls_if_that_comes_first() -> None:
    servers = (plain(name="patient", timeout=LONG), plain(name="hasty", timeout=SHORT / 2))
    config = Config(servers=servers, limits=Limits(call_timeout=SHORT))
    async with connected(Drawer(config=config)) as drawer:
        for name, seconds in (("patient", "0.3"), ("hasty", "0.15")):
            with anyio.fail_after(LONG):
                result = await drawer.session().call(f"mcp_{name}_hang")
            assert result.is_error
            assert f"The server {name!r} did not answer within {seconds} s" in result.text


@requirement("DSP-8")
async def test_a_person_may_take_longer_than_any_call() -> None:
    config = Config(servers=(plain(timeout=LONG),), limits=Limits(call_timeout=ENOUGH))
    client, found = SlowClient(), list[Any]()

    async def call(drawer: Drawer) -> None:
        BEHIND.set(client)
        found.append(structured(await drawer.session().call("mcp_plain_ask")))

    async with connected(Drawer(config=config)) as drawer, anyio.create_task_group() as group:
        group.start_soon(call, drawer)
        with anyio.fail_after(LONG):
            await client.is_asked.wait()
        await anyio.sleep(1.2 * ENOUGH)  # the limit itself is what must not end it
        client.go_on.set()
    (given,) = found
    assert given["result"] == {"action": "accept", "content": {}}


async def test_another_limit_does_not_restart_the_servers(tmp_path: Path) -> None:
    file = tmp_path / "tooldrawer.yaml"
    spec = plain()

    def write(seconds: float) -> None:
        server = {"command": spec.command, "args": list(spec.args)}
        document = {"mcp_servers": {"plain": server}, "limits": {"call_timeout": seconds}}
        file.write_text(json.dumps(document), encoding="utf-8")

    write(LONG)
    drawer = Drawer.from_config(file)
    async with drawer.connected() as pool:
        await pool.settled(LONG)
        (upstream,) = pool.upstreams
        write(SHORT)
        with anyio.fail_after(LONG):
            result = await drawer.session().call("mcp_plain_hang")
        assert "did not answer within 0.3 s" in result.text
        assert pool.upstreams == (upstream,)
        assert upstream.status.starts == 1


async def test_a_person_who_never_answers_has_cancelled() -> None:
    flight = Flight(SlowClient(), LONG, patience=0.05)
    flight.start_clock()
    with anyio.fail_after(LONG):
        answer = await Questions("plain").pushed("elicitation/create", {}, flight)
    assert answer == {"action": "cancel"}


async def test_a_server_that_asks_for_ever_does_not_work_for_ever() -> None:
    flight = Flight(Client(answer={"roots": []}), 1.0)
    questions, asked = Questions("plain"), 0
    flight.start_clock()
    with anyio.fail_after(LONG), flight.limit:
        while True:
            await questions.pushed("roots/list", {}, flight)
            await anyio.lowlevel.checkpoint()
            asked += 1
    assert flight.limit.cancelled_caught
    assert asked >= 10
