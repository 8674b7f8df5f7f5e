"""The scripted model, heard through each provider's own client library."""

import json
import threading
from typing import Any

import anthropic
import anyio
import httpx2
import openai
import pytest
from google.genai import errors as gemini_errors

from tests.models.script import (
    Call,
    Cut,
    Endless,
    Fail,
    Hold,
    Huge,
    InvalidUtf8,
    Repeat,
    Say,
    Script,
    Search,
    Step,
    Turn,
)
from tests.models.server import scripted
from tests.models.talk import Heard, Talk, talking

pytestmark = pytest.mark.anyio

WIRES = ("chat", "responses", "anthropic", "gemini")
every_wire = pytest.mark.parametrize("wire", WIRES)
both_ways = pytest.mark.parametrize("way", ["whole", "streamed"])
STATUS_ERRORS = (openai.APIStatusError, anthropic.APIStatusError, gemini_errors.APIError)
LOST = (
    openai.APIConnectionError,
    anthropic.APIConnectionError,
    httpx2.RemoteProtocolError,
    httpx2.ReadError,
)
ARGUMENTS = {"title": 'söme "quoted"\nC:\\path 😀'}


async def ask(talk: Talk, way: str, text: str = "hello") -> Heard:
    return await (talk.whole(text) if way == "whole" else talk.streamed(text))


def status_of(error: Any) -> int:
    return error.code if isinstance(error, gemini_errors.APIError) else error.status_code


def arguments_of(heard: Heard) -> list[Any]:
    return [json.loads(args) if isinstance(args, str) else args for _, args in heard.calls]


@every_wire
@both_ways
async def test_text_and_calls_arrive_as_they_were_scripted(wire: str, way: str) -> None:
    turn = Turn("Héllo wörld, shall I?", [Call("read_note", ARGUMENTS), Search("notes")])
    with scripted(turn) as server:
        async with talking(wire, server.url) as talk:
            heard = await ask(talk, way)
    assert heard.text == "Héllo wörld, shall I?"
    assert [name for name, _ in heard.calls] == ["read_note", "tool_search"]
    assert arguments_of(heard) == [ARGUMENTS, {"query": "notes"}]
    assert heard.input > 20
    assert not server.refusals


@every_wire
async def test_text_is_streamed_in_small_pieces(wire: str) -> None:
    with scripted(Say("one two three four five")) as server:
        async with talking(wire, server.url) as talk:
            assert (await talk.streamed("count")).pieces >= 3


@every_wire
@both_ways
async def test_a_megabyte_of_arguments_arrives(wire: str, way: str) -> None:
    with scripted(Huge(1_000_000)) as server:
        async with talking(wire, server.url) as talk:
            heard = await ask(talk, way)
    assert len(arguments_of(heard)[0]["text"]) == 1_000_000


@every_wire
@both_ways
async def test_failures_have_the_provider_s_shape(wire: str, way: str) -> None:
    statuses = [400, 401, 404, 429, 500, 503]
    fails = [Fail(s, "too much at once", headers={"retry-after": "7"}) for s in statuses]
    told: list[int] = []
    with scripted(*fails, Say("again")) as server:
        async with talking(wire, server.url) as talk:
            for _ in statuses:
                with pytest.raises(STATUS_ERRORS, match="too much at once") as caught:
                    await ask(talk, way)
                told.append(status_of(caught.value))
                if wire != "gemini":
                    error: Any = caught.value
                    assert error.response.headers["retry-after"] == "7"
            assert (await ask(talk, way)).text == "again"
    assert told == statuses


@every_wire
async def test_a_stream_can_fail_after_it_began(wire: str) -> None:
    said: list[str] = []
    with scripted(Fail(529, "overloaded", after="So far so")) as server:
        async with talking(wire, server.url) as talk:
            with pytest.raises(Exception, match="overloaded"):
                await talk.streamed("go", said.append)
    assert "".join(said) == "So far so"


@every_wire
@both_ways
async def test_a_cut_answer_is_a_lost_connection(wire: str, way: str) -> None:
    with scripted(Cut(Say("never heard to the end of it")), Say("again")) as server:
        async with talking(wire, server.url) as talk:
            with pytest.raises(LOST):
                await ask(talk, way)
            assert (await ask(talk, way)).text == "again"


@every_wire
async def test_an_endless_stream_ends_when_the_client_goes_away(wire: str) -> None:
    said: list[str] = []

    def enough(piece: str) -> None:
        said.append(piece)
        if len(said) == 50:
            raise InterruptedError

    with scripted(Endless()) as server:
        async with talking(wire, server.url) as talk:
            with pytest.raises(InterruptedError):
                await talk.streamed("tell me a story", enough)
        server.wait_for_disconnects(1)
    assert server.disconnects == server.requests


@every_wire
async def test_an_endless_stream_may_have_a_bound(wire: str) -> None:
    said: list[str] = []
    with scripted(Endless("on ", limit=30)) as server:
        async with talking(wire, server.url) as talk:
            await talk.streamed("go", said.append)
    assert "".join(said) == "on " * 30


@every_wire
@both_ways
async def test_bytes_that_are_no_utf8_reach_the_client(wire: str, way: str) -> None:
    with scripted(InvalidUtf8(), Say("again")) as server:
        async with talking(wire, server.url) as talk:
            try:
                heard = await ask(talk, way)
            except UnicodeDecodeError:
                pass
            else:
                assert "\ufffd" in heard.text
            assert (await ask(talk, way)).text == "again"


@every_wire
async def test_a_held_answer_waits_for_its_release(wire: str) -> None:
    release = threading.Event()
    heard: list[str] = []

    async def question(talk: Talk) -> None:
        heard.append((await talk.whole("well?")).text)

    with scripted(Hold(release, Say("at last"))) as server:
        async with talking(wire, server.url) as talk, anyio.create_task_group() as tasks:
            tasks.start_soon(question, talk)
            await anyio.to_thread.run_sync(server.wait_for, 1)
            assert not heard
            release.set()
    assert heard == ["at last"]


@every_wire
async def test_a_client_may_leave_a_held_answer(wire: str) -> None:
    with scripted(Hold(threading.Event(), Say("never"))) as server:
        async with talking(wire, server.url) as talk, anyio.create_task_group() as tasks:
            tasks.start_soon(talk.whole, "well?")
            await anyio.to_thread.run_sync(server.wait_for, 1)
            tasks.cancel_scope.cancel()
        server.wait_for_disconnects(1)


@every_wire
async def test_a_key_is_needed_and_wrong_is_wrong(wire: str) -> None:
    with scripted() as server:
        async with talking(wire, server.url, "wrong") as talk:
            with pytest.raises(STATUS_ERRORS) as caught:
                await talk.whole("hello")
        async with httpx2.AsyncClient() as bare:
            answer = await bare.post(f"{server.url}{server.requests[0].path}", json={"a": 1})
    assert (status_of(caught.value), answer.status_code) == (401, 401)
    assert [refusal.status for refusal in server.refusals] == [401, 401]


@every_wire
async def test_a_local_endpoint_needs_no_key(wire: str) -> None:
    with scripted(Say("hello"), auth=False) as server:
        async with talking(wire, server.url) as talk:
            assert (await talk.whole("hello")).text == "hello"


@every_wire
async def test_an_unknown_model_is_not_found(wire: str) -> None:
    with scripted(known_models={"another"}) as server:
        async with talking(wire, server.url) as talk:
            with pytest.raises(STATUS_ERRORS, match="scripted") as caught:
                await talk.whole("hello")
    assert status_of(caught.value) == 404
    assert not server.seen


@every_wire
async def test_the_same_prefix_is_cached(wire: str) -> None:
    with scripted(Repeat(Say("yes"), times=3)) as server:
        async with talking(wire, server.url) as talk:
            first = await talk.whole("a question " * 100)
            longer = await talk.whole("a question " * 100 + "and one more")
            other = await talk.whole("b question " * 100)
    assert first.cached == 0
    assert first.input - 8 <= longer.cached < longer.input
    assert 0 < other.cached < other.input / 2


@every_wire
async def test_a_step_may_depend_on_what_the_model_sees(wire: str) -> None:
    with scripted(lambda seen: Say(f"{seen.last_user}: {len(seen.names)} tools")) as server:
        async with talking(wire, server.url) as talk:
            assert (await talk.whole("look")).text == "look: 3 tools"


@every_wire
async def test_scripts_are_chosen_by_the_first_user_message(wire: str) -> None:
    scripts = (
        Script([Say("child 1"), Say("child 2")], first="subtask"),
        Script([Say("odd")], when=lambda seen: seen.last_user == "odd one"),
        Say("parent"),
    )
    with scripted(*scripts) as server:
        async with talking(wire, server.url) as talk:
            asked = ("a subtask", "task", "odd one", "a subtask")
            answers = [(await talk.whole(text)).text for text in asked]
    assert answers == ["child 1", "parent", "odd", "child 2"]


async def until_a_mistake(wire: str, *steps: Step, last: Step | None = None) -> None:
    with scripted(*steps, *([] if last is None else [last])) as server:
        async with talking(wire, server.url) as talk:
            for _ in steps:
                await talk.whole("hello")
            with pytest.raises(STATUS_ERRORS, match="mistake in the test"):
                await talk.whole("hello")


@every_wire
@pytest.mark.parametrize("step", [Call("unheard_of"), Cut(Call("unheard_of"))])
async def test_calling_what_was_not_shown_is_a_mistake_of_the_test(wire: str, step: Step) -> None:
    with pytest.raises(AssertionError, match="calls 'unheard_of', but the model was shown huge"):
        await until_a_mistake(wire, last=step)


@every_wire
async def test_a_blind_model_may_call_anything(wire: str) -> None:
    with scripted(Call("unheard_of", blind=True)) as server:
        async with talking(wire, server.url) as talk:
            assert (await talk.whole("hello")).calls[0][0] == "unheard_of"


@every_wire
@both_ways
@pytest.mark.parametrize("name", ["", None])
async def test_a_call_may_have_no_name(wire: str, way: str, name: str | None) -> None:
    with scripted(Call(name, {"a": 1})) as server:
        async with talking(wire, server.url) as talk:
            assert not (await ask(talk, way)).calls[0][0]


@every_wire
async def test_a_script_that_is_over_is_a_mistake_of_the_test(wire: str) -> None:
    with pytest.raises(AssertionError, match="over after 1 steps"):
        await until_a_mistake(wire, Say("only this"))


@every_wire
async def test_requests_are_kept_byte_by_byte(wire: str) -> None:
    with scripted(Say("yes")) as server:
        async with talking(wire, server.url) as talk:
            await talk.whole("hällo")
    (request,) = server.requests
    assert request.wire == wire
    assert len(request.body) == int(request.headers["content-length"])
    assert request.json == json.loads(request.body)
    assert request.headers["content-type"] == "application/json"


@pytest.mark.parametrize("wire", ["chat", "responses"])
@both_ways
async def test_malformed_arguments_arrive_as_they_are(wire: str, way: str) -> None:
    with scripted(Call("read_note", raw='{"title": ')) as server:
        async with talking(wire, server.url) as talk:
            assert (await ask(talk, way)).calls == [("read_note", '{"title": ')]
