"""The gateway's end, however it comes about. No process is left, whatever the servers think."""

import signal
import sys
from contextlib import suppress

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from tests.faults.callers import Caller
from tests.faults.gateways import END, Gateway, gateway
from tests.faults.place import ROOT, Place
from tests.faults.waiting import LONG, eventually

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])


@SIGNALS
async def test_a_call_that_runs_is_finished_before_the_gateway_stops(
    place: Place, number: int
) -> None:
    place.rude("bad")
    gate = place.folder / "gate"
    async with gateway(place) as found, found.client() as client:
        await found.up("bad")
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                given = {"gate": str(gate), "seconds": 1}
                assert await client.text("bad/nap", given) == "rested"

            tasks.start_soon(call)
            await found.busy()
            found.signal(number)
            gate.touch()
        assert await found.ended() == 0


@pytest.mark.parametrize(("number", "mode"), [(signal.SIGTERM, "legacy"), (signal.SIGINT, "auto")])
async def test_a_call_that_never_ends_is_given_up(place: Place, number: int, mode: str) -> None:
    place.rude("bad")
    place.settings["gateway"] = {"drain": 0.5}
    async with gateway(place) as found, found.client(mode) as client:
        await found.up("bad")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_fails, client)
            await found.busy()
            found.signal(number)
        assert await found.ended() == 0


async def test_a_second_signal_ends_the_waiting_for_calls(place: Place) -> None:
    place.rude("bad")
    place.settings["gateway"] = {"drain": 600}
    async with gateway(place) as found, found.client() as client:
        await found.up("bad")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_fails, client)
            await found.busy()
            found.signal(signal.SIGTERM)
            with anyio.fail_after(LONG):
                while found.process.returncode is None:
                    with suppress(ProcessLookupError):
                        found.signal(signal.SIGTERM)
                    await anyio.sleep(0.02)
        # The last of many signals may find it with nothing left to stop, and no longer listening.
        assert await found.ended() in {0, -signal.SIGTERM}


@SIGNALS
async def test_servers_that_are_still_starting_are_stopped_too(place: Place, number: int) -> None:
    place.plain("mute", "--mute")
    place.plain("stubborn", "--stubborn", "--starts", str(place.folder / "pids"))
    place.program("slow", "-c", "import time; time.sleep(600)")
    async with gateway(place) as found:
        # From the moment on at which there is a server, so from before the gateway answers.
        await eventually(lambda: len(place.left()) > 1)
        found.signal(number)
        assert await found.ended() == 0


async def test_a_terminal_that_is_closed_ends_it(place: Place) -> None:
    async with gateway(place) as found, found.client():
        found.signal(signal.SIGHUP)
        assert await found.ended() == 0


@ERAS
async def test_a_client_that_vanishes_in_the_middle_of_a_call_ends_it(
    place: Place, mode: str
) -> None:
    place.rude("bad")
    place.settings["gateway"] = {"drain": 600}  # there is nobody to wait for
    async with gateway(place) as found, found.client(mode) as client:
        await found.up("bad")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_fails, client)
            await found.busy()
            await found.wire.close()
        assert await found.ended() == 0


async def test_a_server_that_ignores_everything_goes_with_its_grandchildren(place: Place) -> None:
    place.rude("bad")
    async with gateway(place) as found, found.client() as client:
        await _rebel(found, client)
        # The gateway, two servers, three generations.
        await eventually(lambda: len(place.left()) == 6)


async def test_grandchildren_of_a_server_that_fell_are_ended(place: Place) -> None:
    place.rude("bad")
    async with gateway(place) as found, found.client() as client, client.beating():
        await _rebel(found, client)
        await eventually(lambda: len(place.left()) == 6)
        assert (await client.call("bad/fall")).is_error
        await found.until(lambda bad: bad["state"] == "up" and bad["starts"] == 2, "bad")
        await eventually(lambda: len(place.left()) == 3)


async def test_a_client_that_kills_whoever_is_slow_to_leave_finds_nothing_left(
    place: Place,
) -> None:
    """The SDK's client closes stdin, sends SIGTERM two seconds later, SIGKILL after two more."""
    place.rude("bad")
    place.write()
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tooldrawer", "serve", "--config", str(place.config)],
        env=place.environment,
        cwd=ROOT,
    )
    async with Client(started, mode="legacy") as client:
        caller = Caller(client)

        async def is_deaf() -> bool:
            return not (await caller.call("bad/deafen")).is_error  # else it is not up yet

        await eventually(is_deaf)
        await eventually(lambda: len(place.left()) == 3)
    # On a busy machine it may have been killed before it was through: the guardian goes on then.
    await eventually(lambda: place.left() == [])


async def test_no_server_outlives_a_killed_gateway_by_more_than_a_moment(place: Place) -> None:
    place.rude("bad")
    async with gateway(place) as found, found.client() as client:
        await _rebel(found, client)
        found.signal(signal.SIGKILL)
        assert await found.ended() == -signal.SIGKILL
        await eventually(lambda: place.left() == [])


@ERAS
async def test_over_http_calls_are_given_up_and_streams_closed(place: Place, mode: str) -> None:
    place.rude("bad")
    place.settings["gateway"] = {"drain": 0.5, "port": 0}
    async with gateway(place, "--http") as found, found.http_client(mode) as client:
        await found.up("bad")

        async def call() -> None:
            with pytest.raises(MCPError, match="The gateway is being stopped"):
                await client.call("bad/never")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await found.busy()
            found.signal(signal.SIGTERM)
        assert await found.ended() == 0


async def _fails(client: Caller) -> None:
    """A call that cannot succeed, but ends when the gateway does."""
    with anyio.fail_after(END), suppress(MCPError):
        assert (await client.call("bad/never")).is_error


async def _rebel(found: Gateway, client: Caller) -> None:
    await found.up("bad")
    assert await client.text("bad/breed", {"generations": 3}) == "bred"
    assert await client.text("bad/deafen") == "deaf"
