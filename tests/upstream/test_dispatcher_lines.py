"""What our dispatcher says and hears, line by line."""

import gc
from collections import deque
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError

from tests.upstream.ends import line
from tooldrawer.upstream.inbound import Inbound

pytestmark = pytest.mark.anyio


async def test_an_id_comes_back_as_it_came() -> None:
    async with line() as end:
        for number in (0, "0", "7", 7, -1, "a", 2**70):
            end.ask(number, "echo")
            answer = await end.hear()
            assert answer["id"] == number
            assert type(answer["id"]) is type(number)


@pytest.mark.parametrize(("number", "cancelled"), [(7, "7"), ("7", 7), ("a", "a"), (0, 0)])
async def test_what_is_cancelled_is_not_answered(number: int | str, cancelled: int | str) -> None:
    async with line() as end:
        end.ask(number, "hang")
        await end.desk.until(lambda: end.desk.began)
        end.say(method="notifications/cancelled", params={"requestId": cancelled})
        await end.desk.until(lambda: end.desk.given_up)
        await end.alive()
        assert [method for method, _ in end.desk.told] == ["notifications/cancelled"]


async def test_what_is_cancelled_at_once_is_not_answered() -> None:
    async with line(most=1) as end:
        for _ in range(3):
            end.ask(1, "hang")
            end.say(method="notifications/cancelled", params={"requestId": 1})
        await end.alive()


async def test_what_is_cancelled_is_not_answered_either_when_it_ends_after_all() -> None:
    async with line() as end:
        end.ask(1, "linger")
        await end.desk.until(lambda: end.desk.began)
        end.say(method="notifications/cancelled", params={"requestId": 1})
        await end.desk.until(lambda: end.desk.told)
        end.desk.go_on.set()
        await end.alive()


async def test_what_is_cancelled_is_not_answered_either_when_our_side_closes() -> None:
    async with line() as end, anyio.create_task_group() as tasks:
        for number in (1, 2):
            end.ask(number, "dawdle")
        await end.desk.until(lambda: len(end.desk.began) == 2)
        end.say(method="notifications/cancelled", params={"requestId": 1})
        await end.desk.until(lambda: end.desk.told)
        end.hang_up()
        tasks.start_soon(_later, end.desk.go_on)
        assert await end.rest() == {"2 -32000": 1}


async def test_of_two_requests_with_one_id_the_later_one_can_be_cancelled() -> None:
    async with line() as end:
        end.ask(1, "linger")
        end.ask("1", "hang")
        await end.desk.until(lambda: len(end.desk.began) == 2)
        end.say(method="notifications/cancelled", params={"requestId": 1})
        await end.desk.until(lambda: end.desk.given_up)
        end.desk.go_on.set()
        assert (await end.hear())["result"] == {"at": "last"}


@pytest.mark.parametrize("token", ["", "a", 0, 5, "5"])
async def test_steps_carry_the_token_that_was_given(token: int | str) -> None:
    async with line() as end:
        end.ask(1, "climb", _meta={"progressToken": token})
        first = await end.hear()
        assert first["method"] == "notifications/progress"
        assert first["params"] == {"progressToken": token, "progress": 1}
        assert (await end.hear())["params"]["total"] == 3
        assert (await end.hear())["params"]["message"] == "there"
        assert (await end.hear())["id"] == 1


@pytest.mark.parametrize("token", [True, None, 1.5, [], {}])
async def test_a_token_that_is_none_is_not_used(token: object) -> None:
    async with line() as end:
        end.ask(1, "climb", _meta={"progressToken": token})
        assert (await end.hear())["id"] == 1


async def test_steps_that_make_no_sense_are_not_shown() -> None:
    steps: list[float] = []

    async def show(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        steps.append(progress)

    async with line() as end, anyio.create_task_group() as tasks:
        options: CallOptions = {"on_progress": show}
        tasks.start_soon(end.ours.send_raw_request, "m", None, options)
        assert (await end.hear())["params"] == {"_meta": {"progressToken": 1}}
        senseless: tuple[tuple[Any, Any], ...] = (
            (True, 1),
            (1, True),
            (1, "1"),
            (1, None),
            (1, 10**400),
            (2, 1),
            ({}, 1),
            ("1", 8.5),
        )
        for token, progress in senseless:
            params = {"progressToken": token, "progress": progress, "total": "x", "message": 5}
            end.say(method="notifications/progress", params=params)
        await end.desk.until(lambda: len(end.desk.told) == 8)
        await end.alive()
        end.say(id=1, result={})
    assert steps == [8.5]


async def test_the_first_answer_to_a_request_is_the_answer() -> None:
    async with line() as end:
        end.say(id=1, result={"too": "early"})
        end.say(id=None, error={"code": 1, "message": "whose?"})
        await end.alive()
        found: list[Mapping[str, Any]] = []

        async def ask() -> None:
            found.append(await end.ours.send_raw_request("m", None))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            assert await end.hear() == {"jsonrpc": "2.0", "id": 1, "method": "m"}
            end.say(id=2, result={"other": "one"})
            end.say(id="1", result={"a": 1}, error=None)
            end.say(id=1, result={"too": "late"})
        await end.alive()
    assert found == [{"a": 1}]


async def test_an_id_that_a_caller_chose_is_its_own() -> None:
    found: dict[str, Any] = {}
    async with line() as end, anyio.create_task_group() as tasks:

        async def ask(name: str, options: CallOptions | None = None) -> None:
            found[name] = await end.ours.send_raw_request(name, None, options)

        chosen: CallOptions = {"request_id": "1"}
        tasks.start_soon(ask, "chosen", chosen)
        assert (await end.hear())["id"] == "1"
        with pytest.raises(ValueError, match="already in flight"):
            await ask("same", {"request_id": 1})
        tasks.start_soon(ask, "minted")
        assert (await end.hear())["id"] == 2
        end.say(id=2, result={"n": 2})
        end.say(id=1, result={"n": 1})
    assert found == {"chosen": {"n": 1}, "minted": {"n": 2}}


async def test_whoever_gave_up_before_asks_nothing() -> None:
    async with line() as end:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await end.ours.send_raw_request("m", None)
        await end.alive()


async def test_some_requests_must_not_be_cancelled() -> None:
    async with line() as end:
        with pytest.raises(MCPError):
            await end.ours.send_raw_request("m", None, {"timeout": 0, "cancel_on_abandon": False})
        async with anyio.create_task_group() as tasks:
            options: CallOptions = {"cancel_on_abandon": False}
            tasks.start_soon(end.ours.send_raw_request, "m", None, options)
            while (await end.hear())["id"] != 2:
                pass
            tasks.cancel_scope.cancel()
        await end.alive()


@pytest.mark.parametrize("meta", [None, {}])
async def test_nothing_is_sent_that_says_nothing(meta: object) -> None:
    async with line() as end, anyio.create_task_group() as tasks:
        tasks.start_soon(end.ours.send_raw_request, "m", {"_meta": meta})
        assert await end.hear() == {"jsonrpc": "2.0", "id": 1, "method": "m"}
        end.say(id=1, result={})
        await end.ours.notify("n", None)
        assert await end.hear() == {"jsonrpc": "2.0", "method": "n"}


async def test_who_only_listens_after_asking_gets_an_error_for_each_open_request() -> None:
    async with line() as end:
        end.ask(1, "hang")
        end.ask(2, "ask", about="whatever")
        end.ask(3, "echo")
        await end.desk.until(lambda: len(end.desk.began) == 3)
        end.hang_up()
        # Nothing is said about our own question: its answer cannot come any more.
        assert await end.rest() == {
            "asking": 1,
            "whatever": 1,
            "3": 1,
            "1 -32000": 1,
            "2 -32000": 1,
        }


async def test_a_stream_that_our_side_closes_is_an_end_like_any_other() -> None:
    async with line() as end:
        end.ask(1, "hang")
        await end.desk.until(lambda: end.desk.began)
        await end.reader.aclose()
        assert await end.rest() == {"1 -32000": 1}
        await end.ours.ended.wait()


async def test_a_method_answered_inline_is_answered_before_the_next_message_is_read() -> None:
    async with line(inline=frozenset(("linger", "fail"))) as end:
        end.ask(1, "linger")
        end.ask(2, "echo")
        await end.desk.until(lambda: end.desk.began)
        await anyio.wait_all_tasks_blocked()
        assert end.desk.began == ["linger"]
        end.desk.go_on.set()
        assert [(await end.hear())["id"] for _ in range(2)] == [1, 2]
        end.ask(3, "fail")
        end.ask(4, "echo")
        assert [(await end.hear())["id"] for _ in range(2)] == [3, 4]


async def test_there_is_room_for_so_many_requests_however_the_others_ended() -> None:
    async with line(most=2) as end:
        for number, method in enumerate(("echo", "fail", "refuse", "mumble", "climb")):
            end.ask(number, method)
            assert (await end.hear())["id"] == number
        for _ in range(3):
            end.ask(1, "hang")
            end.say(method="notifications/cancelled", params={"requestId": 1})
        end.ask("first", "linger")
        end.ask("second", "linger")
        end.ask("third", "echo")
        await end.desk.until(lambda: end.desk.began.count("linger") == 2)
        await anyio.wait_all_tasks_blocked()
        assert end.desk.began[-1] == "linger"
        end.desk.go_on.set()
        assert {(await end.hear())["id"] for _ in range(3)} == {"first", "second", "third"}


async def test_what_waits_for_room_does_not_hold_up_the_end() -> None:
    async with line(most=1) as end:
        end.ask(1, "hang")
        end.ask(2, "hang")
        await end.desk.until(lambda: end.desk.began)
        await anyio.wait_all_tasks_blocked()


async def test_what_was_read_already_comes_first() -> None:
    lead = deque([{"jsonrpc": "2.0", "method": "early"}, {"id": 1, "method": "echo"}])
    async with line(lead=lead) as end:
        end.ask(2, "echo")
        assert {(await end.hear())["id"] for _ in range(2)} == {1, 2}
        await end.desk.until(lambda: end.desk.told == [("early", None)])
        assert not lead


async def test_a_side_that_may_not_ask_can_still_tell() -> None:
    async with line(can_ask=False) as end:
        end.ask(1, "ask", about="echo")
        assert (await end.hear())["method"] == "asking"
        refused = NoBackChannelError("echo").error
        assert (await end.hear())["error"]["code"] == refused.code
        assert not end.desk.contexts[0].transport.can_send_request


async def test_nothing_can_be_said_about_a_request_that_is_over() -> None:
    async with line() as end:
        end.ask(1, "echo", _meta={"progressToken": 1})
        await end.hear()
        ctx = end.desk.contexts[0]
        assert not ctx.can_send_request
        await ctx.notify("n", None)
        await ctx.progress(1)
        with pytest.raises(NoBackChannelError):
            await ctx.send_raw_request("m", None)
        await end.alive()


async def test_nothing_is_kept_of_requests_that_are_over() -> None:
    async with line() as end:
        for number in range(50):
            end.ask(number, "echo")
            end.ask(f"c{number}", "hang")
            end.say(method="notifications/cancelled", params={"requestId": f"c{number}"})
            await end.hear()
            with pytest.raises(MCPError):
                await end.ours.send_raw_request("m", None, {"timeout": 0})
        await end.desk.until(lambda: end.desk.given_up == 50)
        end.desk.contexts.clear()
        await anyio.wait_all_tasks_blocked()
        gc.collect()
        assert not [each for each in gc.get_objects() if isinstance(each, Inbound)]


async def _later(event: anyio.Event) -> None:
    await anyio.wait_all_tasks_blocked()
    event.set()
