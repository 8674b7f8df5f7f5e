"""The real SDKs against a model behind a real socket."""

import json
import logging
import threading
from dataclasses import replace
from typing import get_args

import anyio
import pytest

from tests.agent.models.asking import ask, failure, spec_of
from tests.agent.models.fakes import KEY, READ_NOTE, Waits, request, unheard
from tests.models.request import JsonObject
from tests.models.script import (
    Call,
    Cut,
    Endless,
    Fail,
    Hold,
    Huge,
    InvalidUtf8,
    Say,
    Search,
    Turn,
)
from tests.models.server import scripted
from tests.requirements import requirement
from tooldrawer.agent.connection import connected
from tooldrawer.agent.retrying import Retrying
from tooldrawer.agent.spec import ModelSpec, WireName
from tooldrawer.agent.streamed import MOST_TEXT, encoded
from tooldrawer.call import ToolResult
from tooldrawer.errors import (
    AnswerCut,
    ConfigError,
    ContextFull,
    KeyRefused,
    ModelFailed,
    ModelOverloaded,
    ModelUnknown,
    ModelUnreachable,
    NativeRefused,
    RequestRefused,
)
from tooldrawer.tool import Tool
from tooldrawer.wire.message import Reply, Returned
from tooldrawer.wire.wires import WIRES

pytestmark = pytest.mark.anyio

every_wire = pytest.mark.parametrize("wire", get_args(WireName))
NO_CREDIT = "insufficient_quota"
TOO_LONG = "context_length_exceeded"
EXTRA: dict[str, JsonObject] = {
    "chat": {"stream": True, "stream_options": {"include_usage": True}},
    "responses": {"stream": True},
    "anthropic": {"stream": True},
}


@every_wire
async def test_an_answer_is_heard_while_it_comes(wire: WireName) -> None:
    arguments = {"title": 'söme "quoted"\nC:\\path 😀'}
    with scripted(Turn("Héllo wörld, shall I?", [Call("read_note", arguments)])) as server:
        answered, heard = await ask(wire, server)
    assert answered.text == "".join(heard) == "Héllo wörld, shall I?"
    assert len(heard) > 2
    assert [(call.name, call.arguments) for call in answered.calls] == [("read_note", arguments)]
    assert answered.usage.input > 0
    assert answered.usage.output > 0
    assert answered.wire == wire
    assert answered.complete


@every_wire
@requirement("CACHE-1")
async def test_the_bytes_on_the_wire_are_those_of_the_body(wire: WireName) -> None:
    asked = request("Grüße 😀 \ud800 </script>")
    with scripted(Say("one"), Say("two")) as server:
        async with connected(spec_of(wire, server.url)) as model:
            await model.answer(asked, unheard)
            await model.answer(asked, unheard)
    expected = encoded({**WIRES[wire].body(asked), **EXTRA[wire]})
    assert [sent.body for sent in server.requests] == [expected, expected]
    assert list(json.loads(expected)) == [*WIRES[wire].body(asked), *EXTRA[wire]]
    assert not server.refusals


@every_wire
async def test_a_key_that_is_refused_names_the_variable_and_not_the_key(wire: WireName) -> None:
    said = f"Incorrect API key provided: {KEY[:14]}, or was it {KEY}?"
    with scripted(Fail(401, said, type="authentication_error")) as server:
        failed = await failure(wire, server)
    assert isinstance(failed, KeyRefused)
    assert "SOME_KEY" in str(failed)
    assert server.url.removeprefix("http://") in str(failed)
    assert KEY[:14] not in str(failed)
    assert "Incorrect API key provided" in str(failed)


@every_wire
async def test_an_unknown_model_is_named_with_the_nearest_that_there_are(wire: WireName) -> None:
    with scripted(known_models=["qwen3:8b", "qwen3:32b", "llama3"]) as server:
        failed = await failure(wire, server, request(model="qwen"), name="qwen")
    assert isinstance(failed, ModelUnknown)
    assert "'qwen'" in str(failed)
    assert "qwen3:8b" in str(failed)


@every_wire
async def test_a_busy_endpoint_is_asked_again_and_the_answer_heard_once(wire: WireName) -> None:
    busy = Fail(429, "slow down", type="rate_limit_error", headers={"retry-after": "3"})
    waits, heard = Waits(), list[str]()
    with scripted(busy, Fail(529, "overloaded", type="overloaded_error"), Say("hi")) as server:
        async with connected(spec_of(wire, server.url)) as model:
            retrying = Retrying(model, waits.told, sleep=waits.sleep, chance=lambda: 1.0)
            answered = await retrying.answer(request(), heard.append)
    assert answered.text == "".join(heard) == "hi"
    assert waits.slept == [3, 2]
    assert "slow down" in str(waits.seen[0][1])
    assert len(server.requests) == 3  # the SDK did not try on its own


@every_wire
@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        (Fail(403, "not in your country"), KeyRefused),
        (Fail(402, "pay first"), RequestRefused),
        (Fail(429, "pay first", type=NO_CREDIT, code=NO_CREDIT), RequestRefused),
        (Fail(500, "oops"), ModelOverloaded),
        (Fail(502, "bad gateway"), ModelOverloaded),
        (Fail(503, "not now"), ModelOverloaded),
        (Fail(400, "prompt is too long: 200001 tokens > 200000 maximum"), ContextFull),
        (Fail(400, "too much", code=TOO_LONG, type=TOO_LONG), ContextFull),
        (Fail(400, "This model's maximum context length is 8192 tokens."), ContextFull),
        (Fail(413, "too large", type="request_too_large", code="request_too_large"), ContextFull),
        (Fail(400, "tool_search is no word that we like"), RequestRefused),
        (Fail(418, "a teapot"), RequestRefused),
    ],
    ids=lambda value: f"{value.status}-{value.message[:12]}" if isinstance(value, Fail) else "",
)
async def test_each_refusal_is_told_as_what_it_is(
    wire: WireName, fail: Fail, kind: type[ModelFailed]
) -> None:
    with scripted(fail) as server:
        failed = await failure(wire, server)
    assert type(failed) is kind
    assert fail.message.rstrip(".") in str(failed)


@pytest.mark.parametrize("wire", ["responses", "anthropic"])
async def test_an_endpoint_without_deferral_is_told_from_other_refusals(wire: WireName) -> None:
    search = Tool(name="tool_search", description="Find tools.")
    found = ToolResult(tools=(READ_NOTE,))
    with scripted(Search("notes")) as server:
        answered, _ = await ask(wire, server, request(tools=(search,)))
    returned = Returned(replies=(Reply(call=answered.calls[0], result=found),))
    asked = request(tools=(search,))
    native = replace(asked, messages=[*asked.messages, answered, returned], native=True)
    with scripted(native=False) as server:
        failed = await failure(wire, server, native)
    assert isinstance(failed, NativeRefused)
    assert server.url.removeprefix("http://") in str(failed)


@every_wire
async def test_a_cut_stream_keeps_what_had_come(wire: WireName) -> None:
    with scripted(Cut(Say("one two three four five six seven"), after=6)) as server:
        failed = await failure(wire, server)
    assert isinstance(failed, AnswerCut)
    assert failed.text.startswith("one ")
    assert "broke off" in str(failed)
    assert "connection" in str(failed)


@every_wire
async def test_a_stream_that_is_cut_before_any_text_is_asked_again(wire: WireName) -> None:
    waits = Waits()
    with scripted(Cut(Say("hello"), after=0), Say("hello")) as server:
        async with connected(spec_of(wire, server.url)) as model:
            retrying = Retrying(model, waits.told, sleep=waits.sleep)
            answered = await retrying.answer(request(), unheard)
    assert answered.text == "hello"
    assert isinstance(waits.seen[0][1], ModelUnreachable)


@every_wire
async def test_an_endless_answer_is_stopped(wire: WireName) -> None:
    with scripted(Endless("and then " * 2000)) as server:
        failed = await failure(wire, server)
    assert isinstance(failed, AnswerCut)
    assert MOST_TEXT < len(failed.text) < 2 * MOST_TEXT
    assert "does not come to an end" in str(failed)


@every_wire
async def test_bytes_that_are_not_utf8_are_said_to_be_none(wire: WireName) -> None:
    with scripted(InvalidUtf8("caf")) as server:
        failed = await failure(wire, server)
    assert isinstance(failed, AnswerCut)
    assert "UTF-8" in str(failed)


@every_wire
async def test_arguments_that_are_no_json_do_not_lose_the_answer(wire: WireName) -> None:
    call = Call("read_note", raw='{"title": "a", ')
    with scripted(Turn("Let me see.", [call])) as server:
        answered, _ = await ask(wire, server)
    assert answered.text == "Let me see."
    assert [call.name for call in answered.calls] == ["read_note"]


@every_wire
async def test_a_megabyte_of_arguments_arrives(wire: WireName) -> None:
    with scripted(Huge(1_000_000, name="read_note", field="title")) as server:
        answered, _ = await ask(wire, server)
    assert answered.calls[0].arguments == {"title": "x" * 1_000_000}


@every_wire
async def test_an_error_in_the_middle_is_a_cut_answer(wire: WireName) -> None:
    busy = Fail(529, "we are overloaded", type="overloaded_error", after="Once upon a time")
    with scripted(busy) as server:
        failed = await failure(wire, server)
    assert isinstance(failed, AnswerCut)
    assert failed.text == "Once upon a time"
    assert "we are overloaded" in str(failed)


@every_wire
async def test_an_error_before_any_text_is_what_it_would_be_without_a_stream(
    wire: WireName,
) -> None:
    busy = Fail(500, "we are lost", type="api_error", code="server_error", after="")
    with scripted(busy) as server:
        failed = await failure(wire, server)
    assert isinstance(failed, ModelOverloaded)


@every_wire
async def test_a_silent_endpoint_is_given_up(wire: WireName) -> None:
    with scripted(Hold(threading.Event(), Say("never"))) as server:
        failed = await failure(wire, server, timeout=0.2)
    assert isinstance(failed, ModelUnreachable)
    assert "0.2 seconds" in str(failed)


@every_wire
async def test_a_person_who_does_not_want_to_wait_ends_the_request(wire: WireName) -> None:
    with scripted(Hold(threading.Event(), Say("never"))) as server:
        with anyio.fail_after(60):
            async with (
                connected(spec_of(wire, server.url)) as model,
                anyio.create_task_group() as group,
            ):
                group.start_soon(model.answer, request(), unheard)
                await anyio.to_thread.run_sync(server.wait_for, 1)
                group.cancel_scope.cancel()
            while not server.disconnects:
                await anyio.lowlevel.checkpoint()
    assert len(server.disconnects) == 1


@every_wire
async def test_a_key_is_in_no_log(wire: WireName, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), scripted(Say("hello"), Fail(401, "no")) as server:
        await ask(wire, server)
        await failure(wire, server)
    assert caplog.records
    assert KEY not in caplog.text
    assert not any(KEY in repr(record.args) for record in caplog.records)


@every_wire
async def test_a_search_is_heard_as_a_call(wire: WireName) -> None:
    search = Tool(name="tool_search", description="Find tools.")
    with scripted(Search("notes")) as server:
        answered, _ = await ask(wire, server, request(tools=(READ_NOTE, search)))
    assert [call.name for call in answered.calls] == ["tool_search"]


async def test_a_spec_that_cannot_be_used_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError) as caught:
        async with connected(ModelSpec(name="m", wire="chat", api_key="two words")):
            pass
    assert "two words" not in str(caught.value)
