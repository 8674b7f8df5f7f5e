"""Responses that nobody would write, and the real client that carries them."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI

from tests.models.script import Call, Fail, Say, Search, Turn
from tests.models.server import scripted
from tests.properties.strategies import json_objects, json_values, quick
from tests.wire.growing import FOUND, request
from tests.wire.items import (
    PICTURE,
)
from tooldrawer.call import ToolResult
from tooldrawer.errors import ModelFailed, ModelOverloaded
from tooldrawer.tool import JsonObject
from tooldrawer.wire import responses
from tooldrawer.wire.message import (
    Answered,
    Message,
    Reply,
    Request,
    Returned,
    Said,
)

# --- odd input ------------------------------------------------------------------------------

_ODD = json_values("message", "function_call", "tool_search_call", "reasoning", "text", leaves=5)
_KINDS = st.sampled_from(("message", "function_call", "tool_search_call", "reasoning", "?")) | _ODD
_FIELDS = ("id", "call_id", "name", "arguments", "content", "execution", "encrypted_content")
_ITEMS = st.fixed_dictionaries({"type": _KINDS}, optional=dict.fromkeys(_FIELDS, _ODD))
_RESPONSES = st.fixed_dictionaries(
    {"output": st.lists(_ITEMS, max_size=4) | _ODD},
    optional={"id": _ODD, "status": _ODD, "usage": _ODD},
)
_EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            (
                "response.output_text.delta",
                "response.output_item.done",
                "response.completed",
                "response.incomplete",
            )
        )
        | _ODD
    },
    optional={"delta": _ODD, "output_index": _ODD, "item": _ITEMS | _ODD, "response": _RESPONSES},
)


def _sendable(answer: Answered) -> None:
    replies = [Reply(call=call, result=ToolResult(tools=FOUND)) for call in answer.calls]
    messages = (answer, Returned(replies=tuple(replies)))
    for native in (False, True):
        made = responses.body(Request(model="m", messages=messages, native=native))
        json.dumps(made, ensure_ascii=False, allow_nan=False).encode()


@quick(200)
@given(_RESPONSES | json_objects())
def test_any_response_is_read_and_can_be_gone_on_from(told: Any) -> None:
    with suppress(ModelFailed):
        _sendable(responses.read(told))


@quick(200)
@given(st.lists(_EVENTS | json_objects(), max_size=5))
def test_any_events_are_taken_and_can_be_gone_on_from(told: Any) -> None:
    stream = responses.ResponsesStream()
    with suppress(ModelFailed):
        for event in told:
            stream.feed(event)
        _sendable(stream.answer())


# --- the real client ------------------------------------------------------------------------


def _talk(client: OpenAI, asked: Request, *, stream: bool) -> Answered:
    made: Any = responses.body(asked)
    create: Any = client.responses.create
    if not stream:
        return responses.read(create(**made).model_dump())
    hearing = responses.ResponsesStream()
    for event in create(**made, stream=True):
        hearing.feed(event.model_dump())
    return hearing.answer()


@pytest.mark.parametrize("stream", [False, True])
def test_the_real_client_carries_a_search_and_a_call_of_what_was_found(stream: bool) -> None:
    script = (
        Turn(calls=(Search("x"), Call("look", raw='{"a": ')), reasoning="Why?"),
        Turn(text="There.", calls=(Call("found_0", {"b": 2}), Search("y"))),
        Say("Done. 😀"),
    )
    with (
        scripted(*script) as server,
        OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as client,
    ):
        messages: list[Message] = [Said(text="Look at it.")]
        first = _talk(client, request(messages, native=True), stream=stream)
        assert [call.native for call in first.calls] == [True, False]
        messages += [first, _replied(first, ToolResult(tools=FOUND), PICTURE)]
        second = _talk(client, request(messages, native=True), stream=stream)
        assert [call.name for call in second.calls] == ["found_0", "tool_search"]
        messages += [second, _replied(second, ToolResult.of_text("nothing"), PICTURE)]
        last = _talk(client, request(messages, native=True), stream=stream)
        assert last.text == "Done. 😀"
        assert last.usage.cached > 0
    assert not server.refusals
    # The same conversation goes on where searches are calls of the bridge.
    with (
        scripted(Say("Still here."), native=False) as server,
        OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as client,
    ):
        messages += [last, Said(text="And here?")]
        assert _talk(client, request(messages), stream=stream).text == "Still here."
    assert not server.refusals


def _replied(answer: Answered, found: ToolResult, *content: JsonObject) -> Returned:
    other = ToolResult(content=content)
    return Returned(
        replies=tuple(
            Reply(call=call, result=found if call.native else other) for call in answer.calls
        )
    )


def test_the_real_client_hears_an_error_in_the_middle() -> None:
    fail = Fail(500, "Sorry.", code="server_error", after="One two")
    with (
        scripted(fail) as server,
        OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as client,
        pytest.raises(ModelOverloaded, match="Sorry"),
    ):
        _talk(client, request([Said(text="Hi")]), stream=True)
