"""Chat Completions that nobody would write, and the real client that carries them."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import APIConnectionError, OpenAI

from tests.models.script import Call, Cut, Say, Turn
from tests.models.server import scripted
from tests.properties.strategies import json_objects, json_values, nested_in, quick
from tests.wire.completions import (
    PICTURE,
    called,
    response,
)
from tests.wire.growing import request
from tooldrawer.call import ToolResult, text_block
from tooldrawer.errors import AnswerCut, ModelFailed
from tooldrawer.wire import chat
from tooldrawer.wire.message import (
    Answered,
    Message,
    Reply,
    Request,
    Returned,
    Said,
)

# --- odd input ------------------------------------------------------------------------------

_ODD = json_values("function", "assistant", "text", leaves=6)
_MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": _ODD,
        "content": _ODD,
        "refusal": _ODD,
        "tool_calls": _ODD,
        "function_call": _ODD,
        "annotations": _ODD,
    },
)
_CALLS = st.fixed_dictionaries(
    {},
    optional={
        "index": _ODD,
        "id": _ODD,
        "type": _ODD,
        "function": _ODD | st.fixed_dictionaries({"name": _ODD, "arguments": _ODD}),
        "custom": _ODD,
    },
)


def _choices(key: str) -> st.SearchStrategy[Any]:
    calling = st.fixed_dictionaries({"tool_calls": st.lists(_CALLS)})
    message: st.SearchStrategy[Any] = _MESSAGES | calling
    choice: st.SearchStrategy[Any] = st.fixed_dictionaries(
        {key: message | _ODD, "finish_reason": _ODD}
    )
    return st.fixed_dictionaries(
        {"choices": st.lists(choice, max_size=2) | _ODD}, optional={"id": _ODD, "usage": _ODD}
    )


def _sendable(answer: Answered) -> None:
    replies = [Reply(call=call, result=ToolResult.of_text("x")) for call in answer.calls]
    made = chat.body(Request(model="m", messages=(answer, Returned(replies=tuple(replies)))))
    json.dumps(made, ensure_ascii=False, allow_nan=False).encode()


@quick(200)
@given(_choices("message") | json_objects())
def test_any_response_is_read_and_can_be_gone_on_from(told: Any) -> None:
    with suppress(ModelFailed):
        _sendable(chat.read(told))


@quick(200)
@given(st.lists(_choices("delta") | json_objects(), max_size=5))
def test_any_chunks_are_taken_and_can_be_gone_on_from(told: Any) -> None:
    stream = chat.ChatStream()
    with suppress(ModelFailed):
        text = "".join([stream.feed(each) for each in told])
        answer = stream.answer()
        assert len(answer.text) <= len(text)
        _sendable(answer)


def test_arguments_without_a_bottom_are_no_trouble() -> None:
    deep = nested_in(900, wrap=lambda inner: {"a": inner})
    for written in (deep, json.dumps(deep)):
        _sendable(chat.read(response(tool_calls=[called("look", written)])))


# --- the real client ------------------------------------------------------------------------


def _talk(client: OpenAI, messages: Sequence[Message], *, stream: bool) -> Answered:
    made: Any = chat.body(request(messages))
    create: Any = client.chat.completions.create
    if not stream:
        return chat.read(create(**made).model_dump())
    hearing = chat.ChatStream()
    options: Any = {"include_usage": True}
    for event in create(**made, stream=True, stream_options=options):
        hearing.feed(event.model_dump())
    return hearing.answer()


@pytest.mark.parametrize("stream", [False, True])
def test_the_real_client_carries_a_conversation_with_broken_calls(stream: bool) -> None:
    broken = (Call("look", raw='{"a": '), Call(None, {"a": 1}, blind=True), Call("look", {"b": 2}))
    with (
        scripted(Turn(text="Hm.", calls=broken, reasoning="Why?"), Say("Done. 😀")) as server,
        OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as client,
    ):
        said = Said(text="Look at it.")
        first = _talk(client, [said], stream=stream)
        assert first.text == "Hm."
        assert [call.name for call in first.calls] == ["look", "", "look"]
        result = ToolResult(content=(text_block("One."), PICTURE))
        replies = tuple(Reply(call=call, result=result) for call in first.calls)
        last = _talk(client, [said, first, Returned(replies=replies)], stream=stream)
        assert last.text == "Done. 😀"
        assert last.usage.input > 0
        assert last.usage.cached > 0
        assert [each.call_id for each in server.seen[-1].results] == [c.id for c in first.calls]
    assert not server.refusals


def test_the_real_client_tells_when_a_stream_is_cut() -> None:
    with (
        scripted(Cut(Say("One two three four five six"), after=4)) as server,
        OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as client,
        pytest.raises((AnswerCut, APIConnectionError)),
    ):
        _talk(client, [Said(text="Hi")], stream=True)
