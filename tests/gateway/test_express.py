"""Over pipes calls take a short way; nobody can tell it from the SDK's own by the answers."""

import logging
from collections.abc import Generator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from mcp.server.lowlevel import Server
from mcp_types import NotificationParams

from tests.gateway.conversations import (
    ABLE,
    ASKED,
    JOINED,
    KNOWN,
    call,
    conversations,
    enveloped,
    hello,
)
from tests.gateway.ways import Line, alike, lined, on_the_short_way, talking_to
from tests.gateway.wire import LONG, Message
from tooldrawer.gateway.express import Express
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.upstream.lines import LineReader, LineWriter

SERVER_INFO = "io.modelcontextprotocol/serverInfo"
ERAS = pytest.mark.parametrize("is_modern", [False, True], ids=["handshake", "stateless"])


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Generator[Line]:
    with lined(tmp_path_factory.mktemp("line")) as line:
        yield line


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """The SDK tells of every refusal."""
    caplog.set_level(logging.CRITICAL, "mcp")


@settings(max_examples=150, deadline=None)
@given(said=conversations())
def test_both_ways_any_conversation_is_answered_alike(line: Line, said: list[Message]) -> None:
    assert alike(line.short(*said)) == alike(line.long(*said))


@pytest.mark.parametrize("said", KNOWN.values(), ids=KNOWN)
def test_both_ways_a_known_conversation_is_answered_alike(line: Line, said: list[Message]) -> None:
    assert alike(line.short(*said)) == alike(line.long(*said))


def test_a_result_is_stamped_in_the_stateless_era_only(line: Line) -> None:
    _, old = line.short(hello(), call(1, "old_echo"))
    assert old["result"] == {"content": [], "structuredContent": {}}
    for new in line.short(*(enveloped(call(n, "old_echo")) for n in range(3))):
        assert new["result"]["resultType"] == "complete"
        assert new["result"]["_meta"][SERVER_INFO]["name"] == "tooldrawer"


def test_what_was_wrong_once_is_wrong_again(line: Line) -> None:
    wrong = (enveloped(call(n, "old_echo"), able={"elicitation": 5}) for n in range(3))
    assert [answer["error"]["code"] for answer in line.short(*wrong)] == [-32602] * 3


def test_a_server_hears_what_the_client_can_do_now(line: Line) -> None:
    said = [enveloped(call(n, "new_meta"), able=able) for n, able in enumerate(({}, ASKED) * 2)]
    heard = [answer["result"]["structuredContent"][ABLE] for answer in line.short(*said)]
    assert heard == [{}, ASKED] * 2


def test_a_request_may_follow_at_once_on_the_handshake(line: Line) -> None:
    async def hurried() -> list[Message]:
        async with talking_to(line.gateway, on_the_short_way) as talk:
            for message in (hello(), call(1, "old_echo"), JOINED, call("2", "old_echo")):
                talk.say(message)
            for number in ("hello", 1, "2"):
                await talk.answered(number)
        return talk.heard

    assert all("result" in message for message in line.portal.call(hurried))


@ERAS
@pytest.mark.parametrize("odd", [{}, {"odd": 1}])
def test_what_goes_wrong_inside_is_not_told(
    line: Line, monkeypatch: pytest.MonkeyPatch, odd: Message, *, is_modern: bool
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(line.gateway.sessions, "of", broken)
    began: list[Message] = [] if is_modern else [hello()]
    asked = [call(1, "old_echo", **odd), call(2, "old_echo", **odd)]
    answers = line.short(*began, *map(enveloped, asked) if is_modern else asked)
    for answer in answers[len(began) :]:
        assert answer["error"] == {"code": -32603, "message": "Internal server error"}


@ERAS
def test_a_call_that_is_cancelled_is_not_answered(line: Line, *, is_modern: bool) -> None:
    wrapped = enveloped if is_modern else dict[str, Any]

    async def cancelled() -> list[Message]:
        async with talking_to(line.gateway, on_the_short_way) as talk:
            for message in (*([] if is_modern else [hello()]), wrapped(call(0, "old_echo"))):
                talk.say(message)
                await talk.answered(message["id"])
            flights = line.gateway.handlers.in_flight
            for number in ("7", "c"):
                talk.say(wrapped(call(number, "new_hang")))
            with anyio.fail_after(LONG):
                while len(flights) < 2:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
            for number in (7, "c"):
                params = {"requestId": number}
                talk.say({"method": "notifications/cancelled", "params": params})
            with anyio.fail_after(LONG):
                await flights.none()
        return talk.heard

    heard = line.portal.call(cancelled)
    answered = [message["id"] for message in heard if "method" not in message]
    assert answered == ([0] if is_modern else ["hello", 0])


@ERAS
def test_a_client_that_stops_asking_is_told_of_calls_in_flight(
    line: Line, *, is_modern: bool
) -> None:
    wrapped = enveloped if is_modern else dict[str, Any]

    async def half_closed() -> list[Message]:
        async with talking_to(line.gateway, on_the_short_way) as talk:
            if not is_modern:
                talk.say(hello())
                await talk.answered("hello")
            talk.say(wrapped(call(1, "new_hang")))
            with anyio.fail_after(LONG):
                while not len(line.gateway.handlers.in_flight):  # noqa: ASYNC110
                    await anyio.sleep(0.01)
        return talk.heard

    errors = [
        message["error"]["code"] for message in line.portal.call(half_closed) if "error" in message
    ]
    assert errors == [-32000]


@pytest.mark.anyio
@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_what_waits_for_the_end_of_a_connection_sees_it(
    line: Line, *, is_cancelled: bool
) -> None:
    ended, begun = anyio.Event(), anyio.Event()

    async def at_the_end() -> None:
        await anyio.lowlevel.checkpoint()  # also when the connection is cancelled
        ended.set()

    async def joined(ctx: Any, _: NotificationParams) -> None:
        ctx.session._connection.exit_stack.push_async_callback(at_the_end)
        begun.set()

    server = Server("tester")
    server.add_notification_handler("notifications/initialized", NotificationParams, joined)

    async def serve(gateway: Gateway, reading: int, writing: int) -> None:
        async with LineReader(reading) as reader, LineWriter(writing) as writer:
            with anyio.CancelScope() as scope:
                scopes.append(scope)
                await Express(server, gateway.handlers, gateway.sealed).serve(reader, writer)

    scopes: list[anyio.CancelScope] = []
    with anyio.fail_after(LONG):
        async with talking_to(line.gateway, serve) as talk:
            talk.say(hello())
            talk.say(JOINED)
            await begun.wait()
            if is_cancelled:
                scopes[0].cancel()
        assert ended.is_set()
