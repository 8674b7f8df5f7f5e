"""What the Responses API answers."""

import pytest

from tests.wire.growing import as_bytes
from tests.wire.items import (
    CALL,
    FUNCTION,
    MESSAGE,
    REASONING,
    SEARCH,
    SEARCHING,
    delta,
    response,
    sent,
    streamed,
)
from tooldrawer.errors import AnswerCut, ContextFull, ModelOverloaded, RequestRefused
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire import responses
from tooldrawer.wire.message import (
    Usage,
)

# --- answers --------------------------------------------------------------------------------


def test_a_whole_answer_goes_back_as_it_came() -> None:
    output = (REASONING, {**MESSAGE, "phase": "commentary"}, FUNCTION, SEARCHING)
    answer = responses.read(response(*output))
    assert answer.text == "Hi"
    assert answer.calls == (CALL, SEARCH)
    assert as_bytes(sent(answer, native=True)) == as_bytes(output)


def test_what_the_api_refuses_does_not_go_back() -> None:
    content: Json = [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": None}]
    given: tuple[JsonObject, ...] = (
        {**REASONING, "status": "completed", "content": None},
        {**MESSAGE, "content": content, "phase": None},
        {**FUNCTION, "parsed_arguments": {"a": 1}, "namespace": None, "async_": None},
        {**SEARCHING, "created_by": "somebody"},
    )
    answer = responses.read(response(*given))
    assert sent(answer, native=True) == [REASONING, MESSAGE, FUNCTION, SEARCHING]


def test_reasoning_that_led_to_nothing_does_not_go_back() -> None:
    unsealed = {**REASONING, "encrypted_content": None}
    answer = responses.read(response(unsealed, MESSAGE, REASONING, status="incomplete"))
    assert not answer.complete
    assert sent(answer) == [MESSAGE]


@pytest.mark.parametrize(
    ("item", "name", "arguments", "back"),
    [
        ({"arguments": '{"a": '}, "look", '{"a": ', {"arguments": '{"_malformed":"{\\"a\\": "}'}),
        ({"arguments": ""}, "look", "", {"arguments": "{}"}),
        ({"arguments": {"a": 1}}, "look", {"a": 1}, {"arguments": '{"a":1}'}),
        ({"name": None}, "", {"a": 1}, {"name": "unnamed_tool"}),
        ({"name": "a b"}, "a b", {"a": 1}, {"name": "a_b"}),
    ],
)
def test_a_broken_call_is_read_as_it_is_and_mended_for_the_way_back(
    item: JsonObject, name: str, arguments: Json, back: JsonObject
) -> None:
    answer = responses.read(response({**FUNCTION, **item}))
    assert answer.calls[0].name == name
    assert answer.calls[0].arguments == arguments
    assert sent(answer) == [{**FUNCTION, **back}]


def test_calls_without_ids_can_be_answered() -> None:
    answer = responses.read(response({**FUNCTION, "call_id": None}, FUNCTION, FUNCTION))
    ids = [call.id for call in answer.calls]
    assert len(set(ids)) == 3
    assert all(ids)
    assert [item["call_id"] for item in sent(answer)] == ids


def test_several_messages_are_apart_and_a_refusal_is_text() -> None:
    refusal = {**MESSAGE, "content": [{"type": "refusal", "refusal": "I must not."}]}
    assert responses.read(response(MESSAGE, refusal)).text == "Hi\n\nI must not."


def test_tokens_are_counted_with_those_from_the_cache() -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 2},
        "output_tokens": 3,
    }
    expected = Usage(input=10, cached=7, written=2, output=3)
    assert responses.read(response(MESSAGE, usage=usage)).usage == expected


# --- streams --------------------------------------------------------------------------------


def test_a_stream_gives_text_as_it_comes_and_the_whole_at_the_end() -> None:
    content: Json = [{"type": "output_text", "text": "😀", "annotations": []}]
    other = {**MESSAGE, "content": content}
    stream, text = streamed(
        {"type": "response.created", "response": response(status="in_progress")},
        {"type": "response.reasoning_summary_text.delta", "delta": "Hm."},
        delta("H"),
        delta("i"),
        delta("\ud83d", at=1),
        delta("\ude00", at=1),
        {"type": "response.completed", "response": response(MESSAGE, other, FUNCTION)},
    )
    assert text == stream.answer().text == "Hi\n\n😀"
    assert stream.answer().calls == (CALL,)


def test_items_count_when_the_last_event_has_none() -> None:
    stream, _ = streamed(
        {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
        {"type": "response.output_item.done", "output_index": 1, "item": FUNCTION},
        {"type": "response.incomplete", "response": response(status="incomplete")},
    )
    answer = stream.answer()
    assert answer.raw == (REASONING, FUNCTION)
    assert not answer.complete


def test_a_stream_that_breaks_off_says_so_and_keeps_what_came() -> None:
    stream, _ = streamed(delta("Let me"))
    with pytest.raises(AnswerCut) as cut:
        stream.answer()
    assert cut.value.text == "Let me"


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ({"code": "server_error", "message": "Sorry."}, ModelOverloaded),
        ({"code": "rate_limit_exceeded", "message": "Slow."}, ModelOverloaded),
        ({"code": "context_length_exceeded", "message": "Long."}, ContextFull),
        ({"code": "invalid_prompt", "message": "No."}, RequestRefused),
    ],
)
def test_a_failure_is_raised_wherever_it_comes(error: JsonObject, raised: type[Exception]) -> None:
    failed = response(status="failed", error=error)
    events: list[JsonObject] = [
        {"type": "response.failed", "response": failed},
        {"type": "error", **error},
        {"type": "error", "error": error},
        {"error": error},
    ]
    for event in events:
        with pytest.raises(raised, match=str(error["message"])):
            responses.ResponsesStream().feed(event)
    with pytest.raises(raised):
        responses.read(failed)
