"""Servers that misbehave. A healthy one beside them answers promptly all the while."""

import anyio
import pytest
from mcp_types import PromptListChangedNotification

from tests.faults.callers import text
from tests.faults.gateways import gateway
from tests.faults.place import Place
from tests.faults.waiting import eventually

pytestmark = pytest.mark.anyio
BIG = 5_000_000
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


@ERAS
async def test_a_server_killed_in_the_middle_of_a_call_is_restarted(
    place: Place, mode: str
) -> None:
    place.rude("bad")
    async with gateway(place) as found, found.client(mode) as client, client.beating():
        await found.up("bad")
        result = await client.call("bad/fall")
        assert result.is_error
        assert "stopped during the call, which may or may not have taken effect" in text(result)
        await found.until(lambda bad: bad["state"] == "up" and bad["starts"] == 2, "bad")
        assert (await found.server("bad"))["error"] == ""
        assert (await client.call("bad/echo", {"a": 1})).structured_content == {"a": 1}


async def test_a_server_that_dies_of_every_call_does_not_wear_anything_out(place: Place) -> None:
    place.rude("bad")
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up("bad")
        for _ in range(3):
            assert (await client.call("bad/fall")).is_error
        await found.until(lambda bad: bad["state"] == "up" and bad["starts"] == 4, "bad")


async def test_a_server_that_exits_in_the_handshake_says_what_it_last_wrote(place: Place) -> None:
    place.plain("bad", "--exit-in-handshake")
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.until(lambda bad: bad["error"], "bad")
        error = (await found.server("bad"))["error"]
        assert error.startswith("The server 'bad' cannot be reached: ")
        assert "exit code 3; it last wrote: cannot read my key" in error
        reply = await client.search("weather")
        assert "'bad' cannot be reached: " in reply


async def test_ten_thousand_lines_of_noise_are_read_over(place: Place) -> None:
    place.plain("bad", "--noise", "10000")
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up("bad")
        assert (await client.call("bad/echo", {"a": 1})).structured_content == {"a": 1}


async def test_output_that_never_ends_is_read_over(place: Place) -> None:
    place.rude("babbler")
    place.rude("shouter")
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up("babbler", "shouter")
        assert await client.text("babbler/babble") == "babbling"
        assert await client.text("shouter/shout") == "shouting"
        for number in range(20):
            for name in ("babbler", "shouter"):
                result = await client.call(f"{name}/echo", {"number": number})
                assert result.structured_content == {"number": number}


async def test_results_of_five_megabytes_pass(place: Place) -> None:
    place.plain("bad")
    place.settings["limits"] = {"result_max_chars": 2 * BIG}
    async with gateway(place) as found, found.client("auto") as client, client.beating():
        await found.up("bad")
        for _ in range(4):
            assert len(await client.text("bad/big", {"bytes": BIG})) == BIG


async def test_results_of_five_megabytes_are_cut_when_nobody_asked_for_more(place: Place) -> None:
    place.plain("bad")
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up("bad")
        for _ in range(20):  # the rest of each can be read on, but not of all of them for ever
            assert len(await client.text("bad/big", {"bytes": BIG})) < 110_000


async def test_a_line_beyond_all_bounds_costs_the_server_its_connection(place: Place) -> None:
    place.plain("bad")
    async with gateway(place) as found, found.client() as client, client.beating():
        found.growth *= 3  # one line of 64 MiB is taken in pieces before it is found too long
        await found.up("bad")
        result = await client.call("bad/big", {"bytes": 70_000_000})
        assert result.is_error
        assert "stopped during the call" in text(result)
        await found.until(lambda bad: bad["state"] == "up" and bad["starts"] == 2, "bad")


async def test_three_hundred_tools_that_change_all_the_time_are_listed_now_and_then(
    place: Place,
) -> None:
    place.plain("bad", "--storm", "--tools", "300")
    told: list[object] = []

    async def note(message: object) -> None:
        told.append(message)

    async with (
        gateway(place) as found,
        found.client(message_handler=note) as client,
        client.beating(),
    ):
        await found.up("bad")
        start = anyio.current_time()
        first = listings = int(await client.text("bad/listings"))
        with anyio.fail_after(60):
            while listings < first + 4:
                listings = int(await client.text("bad/listings"))
                await anyio.sleep(0.02)
        # About twenty changes a second, but at most one listing.
        assert listings - first <= anyio.current_time() - start + 2
        assert (await found.server("bad"))["tools"] >= 300
        assert told == []  # with the drawer closed, nothing changed for the client


async def test_a_flood_of_notifications_does_not_delay_the_others(place: Place) -> None:
    place.rude("bad")
    seen: list[float] = []
    changes: list[object] = []

    async def see(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        seen.append(progress)

    async def note(message: object) -> None:
        if isinstance(message, PromptListChangedNotification):
            changes.append(message)

    async with (
        gateway(place) as found,
        found.client(message_handler=note) as client,
        client.beating(),
    ):
        await found.up("bad")
        assert text(await client.call("bad/flood", progress_callback=see)) == "flooded"
        assert seen
        await eventually(lambda: changes)
        assert len(changes) < 1000  # it said so 5,000 times, and is told on five times a second


async def test_a_server_that_asks_and_never_listens_gets_few_answers_and_disturbs_nothing(
    place: Place,
) -> None:
    place.rude("bad")
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up("bad")
        # All answers together would not fit into its pipe: it writes all this before it reads.
        assert text(await client.call("bad/ping", {"times": 20_000})) == "pinged"


async def test_wrong_and_repeated_answers_are_ignored(place: Place) -> None:
    place.rude("bad")
    async with gateway(place) as found, found.client("auto") as client, client.beating():
        await found.up("bad")
        for _ in range(5):
            assert await client.text("bad/mistake") == "first"
        assert (await found.server("bad"))["starts"] == 1


async def test_a_server_that_never_answers_is_given_up(place: Place) -> None:
    place.rude("bad", timeout=5)
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up("bad")
        result = await client.call("bad/never")
        assert result.is_error
        assert "did not answer within 5 s and was told to stop" in text(result)
        assert (await client.call("bad/echo", {"a": 1})).structured_content == {"a": 1}


async def test_a_server_that_wants_a_password_finds_no_terminal_and_is_quoted(
    place: Place,
) -> None:
    place.rude("later")
    ask = "if input('Password: ') != 'x': print('wrong'); raise SystemExit(1)"
    place.program("first", "-c", ask)
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up("later")
        said = await client.text("later/prompt")
        assert said == "no terminal: No such device or address; False False False"
        await found.until(lambda server: server["error"], "first")
        assert "the first is 'Password: wrong'" in (await found.server("first"))["error"]
