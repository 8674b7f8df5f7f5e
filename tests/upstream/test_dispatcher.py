"""Our dispatcher in front of another one: ours, or the SDK's."""

import logging
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, REQUEST_TIMEOUT

from tests.upstream.ends import OTHERS, Make, paired

pytestmark = pytest.mark.anyio
FACING = pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """What handlers raise on purpose here is no news."""
    caplog.set_level(logging.CRITICAL, "mcp.shared.jsonrpc_dispatcher")


@FACING
async def test_both_sides_ask_each_other_at_the_same_time(make: Make) -> None:
    answers: dict[str, Any] = {}
    async with paired(make) as pair, anyio.create_task_group() as tasks:

        async def ask(dispatcher: Any, who: str, n: int) -> None:
            found = await dispatcher.send_raw_request("echo", {"n": n})
            answers[f"{who} {n}"] = found["params"]

        for n in range(20):
            tasks.start_soon(ask, pair.ours, "ours", n)
            tasks.start_soon(ask, pair.theirs, "theirs", n)
    assert answers == {f"{who} {n}": {"n": n} for who in ("ours", "theirs") for n in range(20)}


@FACING
async def test_a_request_is_asked_back_about_while_it_waits(make: Make) -> None:
    async with paired(make) as pair:
        for asker, other in ((pair.ours, pair.our_desk), (pair.theirs, pair.their_desk)):
            answer = await asker.send_raw_request("ask", {"about": "echo"})
            assert answer["params"] == {"back": True}
            await other.until(lambda other=other: ("asking", {"n": 1}) in other.told)


@FACING
async def test_a_refusal_arrives_whole(make: Make) -> None:
    async with paired(make) as pair:
        for asker in (pair.ours, pair.theirs):
            for why in (None, "", {"a": [1, None]}):
                with pytest.raises(MCPError) as caught:
                    await asker.send_raw_request("refuse", {"why": why})
                error = caught.value
                assert (error.code, error.message, error.data) == (-32042, "No.", why)


@FACING
async def test_what_goes_wrong_inside_is_not_told(make: Make) -> None:
    async with paired(make) as pair:
        for method in ("fail", "mumble"):
            with pytest.raises(MCPError) as caught:
                await pair.theirs.send_raw_request(method, None)
            assert caught.value.code == INTERNAL_ERROR
            assert caught.value.message == "Internal server error"
        assert (await pair.theirs.send_raw_request("echo", None))["params"] == {}


@FACING
async def test_a_caller_that_gives_up_ends_the_work_on_the_other_side(make: Make) -> None:
    async with paired(make) as pair:
        for asker, desk in ((pair.ours, pair.their_desk), (pair.theirs, pair.our_desk)):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(asker.send_raw_request, "hang", None)
                await desk.until(lambda desk=desk: "hang" in desk.began)
                tasks.cancel_scope.cancel()
            await desk.until(lambda desk=desk: desk.given_up == 1)
            assert desk.contexts[0].cancel_requested.is_set()
            await asker.send_raw_request("echo", None)


@FACING
async def test_a_time_limit_ends_the_work_on_the_other_side(make: Make) -> None:
    async with paired(make) as pair:
        for asker, desk in ((pair.ours, pair.their_desk), (pair.theirs, pair.our_desk)):
            with pytest.raises(MCPError) as caught:
                await asker.send_raw_request("hang", None, {"timeout": 0.1})
            assert caught.value.code == REQUEST_TIMEOUT
            await desk.until(lambda desk=desk: desk.given_up == 1)


@FACING
async def test_steps_are_shown_to_whoever_asked(make: Make, anyio_backend_name: str) -> None:
    async with paired(make) as pair:
        for asker in (pair.ours, pair.theirs):
            steps: list[tuple[float, float | None, str | None]] = []
            third = anyio.Event()

            async def show(progress: float, total: float | None, message: str | None) -> None:
                steps.append((progress, total, message))  # noqa: B023
                if len(steps) == 3:  # noqa: B023
                    third.set()  # noqa: B023
                raise RuntimeError("nobody minds")

            await asker.send_raw_request("climb", {"_meta": {"a": 1}}, {"on_progress": show})
            await third.wait()
            expected = [(1, None, None), (2, 3, None), (3, 3, "there")]
            # Trio begins tasks in any order, with the SDK's dispatcher too.
            assert (steps if anyio_backend_name == "asyncio" else sorted(steps)) == expected


@FACING
async def test_what_is_told_arrives_and_a_failure_over_it_is_contained(make: Make) -> None:
    async with paired(make) as pair:
        for teller, desk in ((pair.ours, pair.their_desk), (pair.theirs, pair.our_desk)):
            await teller.notify("bad news", None)
            await teller.notify("news", {"a": 1})
            await desk.until(lambda desk=desk: len(desk.told) == 2)
            assert sorted(desk.told) == [("bad news", None), ("news", {"a": 1})]


@FACING
async def test_when_our_side_closes_the_other_one_is_not_left_waiting(make: Make) -> None:
    async with paired(make) as pair:

        async def wait() -> None:
            with pytest.raises(MCPError) as caught:
                await pair.theirs.send_raw_request("hang", None)
            assert caught.value.code == CONNECTION_CLOSED

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(wait)
            await pair.our_desk.until(lambda: pair.our_desk.began == ["hang", "hang"])
            pair.our_end.cancel()
    assert pair.our_desk.given_up == 2


@FACING
async def test_when_the_other_side_closes_whoever_waits_is_told(make: Make) -> None:
    async with paired(make) as pair:

        async def wait() -> None:
            with pytest.raises(MCPError) as caught:
                await pair.ours.send_raw_request("linger", None)
            assert caught.value.code == CONNECTION_CLOSED

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await pair.their_desk.until(lambda: pair.their_desk.began == ["linger"])
            pair.their_end.cancel()
            pair.their_desk.go_on.set()
        await pair.ours.ended.wait()
        with pytest.raises(MCPError) as caught:
            await pair.ours.send_raw_request("echo", None)
        assert caught.value.code == CONNECTION_CLOSED
        await pair.ours.notify("nobody hears it", None)
