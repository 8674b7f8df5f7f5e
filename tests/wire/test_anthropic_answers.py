"""What Anthropic's Messages API answers, whole and in events, and how it is sent back."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import nested_in, quick
from tests.wire.anthropic_bodies import (
    CALL,
    assert_taken,
    body,
    content,
    response,
    returned,
    used,
)
from tests.wire.growing import as_bytes, odd
from tooldrawer.call import ToolResult
from tooldrawer.errors import AnswerCut, ContextFull, ModelFailed, ModelOverloaded, RequestRefused
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire import anthropic
from tooldrawer.wire.message import Answered, Asked, Reply, Request, Returned, Said, Usage


def streamed(*events: JsonObject) -> tuple[anthropic.AnthropicStream, str]:
    stream = anthropic.AnthropicStream()
    return stream, "".join([stream.feed(event) for event in events])


def block_events(index: int, start: JsonObject, *deltas: JsonObject) -> list[JsonObject]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def test_an_answer_goes_back_as_it_came() -> None:
    blocks: tuple[JsonObject, ...] = (
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "text", "text": "Let me look.", "citations": None},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": 1}},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": 1}, "caller": None},
    )
    read = anthropic.read(response(*blocks, stop="tool_use"))
    assert (read.text, read.calls, read.complete) == ("Let me look.", (CALL,), True)
    sent = content(Said(text="Hi"), read)
    without_null = [{k: v for k, v in block.items() if v is not None} for block in blocks]
    assert sent == without_null


@pytest.mark.parametrize(
    ("partial", "arguments", "sent"),
    [
        ('{"a": [1]}', {"a": [1]}, {"a": [1]}),
        ("", {}, {}),
        ('{"a": ', '{"a": ', {"_malformed": '{"a": '}),
        ("[1]", [1], {"_malformed": "[1]"}),
        ('{"a": NaN}', '{"a": NaN}', {"_malformed": '{"a": NaN}'}),
    ],
)
def test_arguments_are_read_as_far_as_they_can_be(
    partial: str, arguments: Json, sent: Json
) -> None:
    start: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    delta: JsonObject = {"type": "input_json_delta", "partial_json": partial}
    stream, _ = streamed(*block_events(0, start, delta), {"type": "message_stop"})
    answer = stream.answer()
    assert [call.arguments for call in answer.calls] == [arguments]
    assert content(Said(text="Hi"), answer) == [{**start, "input": sent}]


def test_calls_that_the_api_would_not_take_back_are_mended_together_with_their_results() -> None:
    answer = anthropic.read(
        response(
            {"type": "tool_use", "id": "bad id!", "name": "", "input": "no"},
            {"type": "tool_use", "id": "same", "name": "look", "input": {}},
            {"type": "tool_use", "id": "same", "name": "a b", "input": None},
            {"type": "tool_use"},
        )
    )
    result = ToolResult.of_text("done")
    back = Returned(replies=tuple(Reply(call=call, result=result) for call in answer.calls))
    made = body(Said(text="Hi"), answer, back)
    uses, given_back = (message["content"] for message in made["messages"][1:])
    ids = [use["id"] for use in uses]
    assert len(set(ids)) == 4
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", each) for each in ids)
    assert [block["tool_use_id"] for block in given_back] == ids
    assert [use["name"] for use in uses] == ["unnamed_tool", "look", "a_b", "unnamed_tool"]
    assert all(isinstance(use["input"], dict) for use in uses)


def test_an_answer_over_another_wire_is_told_in_these_words() -> None:
    call = Asked(name="tool_search_call", arguments='{"query": "x"}', id="a:b", native=True)
    other = Answered(text="Let me.", calls=(call,), wire="responses", raw=({"type": "reasoning"},))
    text, use = content(Said(text="Hi"), other, search="find")
    assert text == {"type": "text", "text": "Let me."}
    assert (use["name"], use["input"]) == ("find", {"query": "x"})
    assert use["id"].isascii()


def test_thought_that_was_cut_off_is_not_sent_back() -> None:
    signed: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    for block, expected in ((signed, 2), ({**signed, "signature": ""}, 1)):
        answer = anthropic.read(response(block, stop="max_tokens"))
        assert not answer.complete
        sent = content(Said(text="Hi"), answer)
        assert len(sent) == expected
        assert sent[-1]["type"] == "text"


@pytest.mark.parametrize(
    ("stop", "complete"),
    [("end_turn", True), ("tool_use", True), ("stop_sequence", True), ("max_tokens", False),
     ("model_context_window_exceeded", False), ("refusal", False), ("pause_turn", False)],
)  # fmt: skip
def test_only_the_models_own_end_is_complete(stop: str, complete: bool) -> None:
    answer = anthropic.read(response(stop=stop))
    assert answer.complete is complete
    assert bool(answer.text) is not complete


def test_usage_counts_the_cache_as_input() -> None:
    read = anthropic.read(
        response(
            input_tokens=3,
            cache_read_input_tokens=20,
            cache_creation_input_tokens=100,
            output_tokens=7,
        )
    )
    assert read.usage == Usage(input=123, cached=20, written=100, output=7)


def test_a_stream_gives_what_the_whole_response_gives() -> None:
    whole = response(
        {"type": "thinking", "thinking": "Hm. So.", "signature": "c2ln"},
        {"type": "text", "text": "Hello 🏔!"},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": 1}},
        stop="tool_use",
        input_tokens=5,
        cache_read_input_tokens=7,
        output_tokens=9,
    )
    begun = {"id": "msg_1", "usage": {"input_tokens": 5, "output_tokens": 1}}
    stream, text = streamed(
        {"type": "message_start", "message": begun},
        {"type": "ping"},
        *block_events(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Hm. "},
            {"type": "thinking_delta", "thinking": "So."},
            {"type": "signature_delta", "signature": "c2ln"},
        ),
        *block_events(
            1,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "Hello \ud83c"},
            {"type": "text_delta", "text": "\udfd4!"},
            {"type": "citations_delta", "citation": {}},
        ),
        {"type": "text", "text": "Hello", "snapshot": "Hello"},
        *block_events(
            2,
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"a"'},
            {"type": "input_json_delta", "partial_json": ": 1}"},
        ),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 9, "cache_read_input_tokens": 7, "input_tokens": None},
        },
        {"type": "message_stop"},
    )
    assert text == "Hello 🏔!"
    assert stream.answer() == anthropic.read(whole)


def test_a_stream_that_ends_too_early_keeps_its_text() -> None:
    start: JsonObject = {"type": "text", "text": ""}
    stream, _ = streamed(*block_events(0, start, {"type": "text_delta", "text": "Half a"}))
    with pytest.raises(AnswerCut) as cut:
        stream.answer()
    assert cut.value.text == "Half a"
    with pytest.raises(AnswerCut):
        anthropic.AnthropicStream().answer()


@pytest.mark.parametrize(
    ("kind", "message", "error"),
    [
        ("overloaded_error", "Overloaded", ModelOverloaded),
        ("rate_limit_error", "Slow down", ModelOverloaded),
        ("invalid_request_error", "messages: wrong", RequestRefused),
        ("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum", ContextFull),
    ],
)
def test_an_error_in_the_stream_is_raised(kind: str, message: str, error: type[Exception]) -> None:
    event: JsonObject = {"type": "error", "error": {"type": kind, "message": message}}
    with pytest.raises(error, match=message.split(":")[0]):
        streamed(event)
    with pytest.raises(error):
        anthropic.read(event)


KINDS = (
    "message_start", "content_block_start", "content_block_delta", "content_block_stop",
    "message_delta", "message_stop", "error", "text", "text_delta", "input_json_delta", "tool_use",
    "thinking", "thinking_delta", "signature_delta", "server_tool_use", "max_tokens",
)  # fmt: skip
KEYS = (
    "type", "index", "delta", "content_block", "message", "usage", "content", "text", "id",
    "name", "input", "partial_json", "stop_reason", "error", "input_tokens", "signature",
)  # fmt: skip


@quick(100)
@given(odd(KEYS, *KINDS), st.lists(odd(KEYS, *KINDS), max_size=6))
def test_whatever_comes_is_read_and_can_be_sent_back(whole: JsonObject, events: Any) -> None:
    stream = anthropic.AnthropicStream()
    answers: list[Answered] = []
    try:
        answers.append(anthropic.read(whole))
        for event in events:
            stream.feed(event).encode()
        answers.append(stream.answer())
    except ModelFailed:
        pass
    for answer in answers:
        answer.text.encode()
        as_bytes(anthropic.body(Request(model="m", messages=(Said(text="Hi"), answer))))


def test_arguments_nested_too_deeply_do_not_break_what_follows() -> None:
    deep = nested_in(600, wrap=lambda value: {"a": value})
    answer = anthropic.read(
        response({"type": "tool_use", "id": "t", "name": "look", "input": deep})
    )
    (use,) = content(Said(text="Hi"), answer)
    assert list(use["input"]) == ["_malformed"]


def test_calls_that_have_one_id_in_two_answers_are_told_apart() -> None:
    call = Asked(name="look", arguments={}, id="call_0")
    taken = Asked(name="look", arguments={}, id="call_0_2")
    own = anthropic.read(used("Hm.", [call]))
    made = body(
        Said(text="Look."),
        *(Answered(calls=(call,)), returned(ToolResult.of_text("one"), call)),
        *(Answered(calls=(taken,)), returned(ToolResult.of_text("two"), taken)),
        *(own, returned(ToolResult.of_text("three"), call)),
    )
    assert_taken(made)
    results = [message["content"][0] for message in made["messages"] if message["role"] == "user"]
    assert [each["tool_use_id"] for each in results[1:]] == ["call_0", "call_0_2", "call_0_3"]
