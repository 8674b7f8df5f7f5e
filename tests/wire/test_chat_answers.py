"""What Chat Completions answers, and what imitators make of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.wire.completions import (
    CALL,
    called,
    chunk,
    piece,
    response,
    sent,
    streamed,
)
from tests.wire.growing import as_bytes
from tooldrawer.errors import AnswerCut, ContextFull, ModelOverloaded, RequestRefused
from tooldrawer.tool import Json
from tooldrawer.wire import chat
from tooldrawer.wire.message import (
    Asked,
    Usage,
)

# --- answers --------------------------------------------------------------------------------


def test_a_whole_answer_goes_back_as_it_came() -> None:
    message = {
        "role": "assistant",
        "reasoning_content": "Hm.",
        "content": None,
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}],
        "tool_calls": [
            {**called("look", '{ "a" : 1 }'), "extra_content": {"google": {"signature": "s"}}}
        ],
    }
    answer = chat.read(response("tool_calls", **message))
    assert answer.calls == (CALL,)
    assert as_bytes(sent(answer)) == as_bytes([message])


def test_what_endpoints_refuse_does_not_go_back() -> None:
    refused = dict.fromkeys(("refusal", "annotations", "audio", "function_call", "tool_calls"))
    answer = chat.read(response(content="Hi", **refused, images=[]))
    assert sent(answer) == [{"role": "assistant", "content": "Hi"}]


def test_an_answer_of_nothing_can_go_back() -> None:
    assert sent(chat.read(response())) == [{"role": "assistant", "content": ""}]


@pytest.mark.parametrize(
    ("written", "read", "back"),
    [
        ("", "", "{}"),
        (None, None, "{}"),
        ("null", None, "{}"),
        ('{"a":1}', {"a": 1}, '{"a":1}'),
        ({"a": 1}, {"a": 1}, '{"a":1}'),
        ('{"a":"x\ny"}', {"a": "x\ny"}, '{"a":"x\\ny"}'),
        ('"{\\"a\\":1}"', '{"a":1}', '{"a":1}'),
        ('{"a": ', '{"a": ', '{"_malformed":"{\\"a\\": "}'),
        ('{"a": NaN}', '{"a": NaN}', '{"_malformed":"{\\"a\\": NaN}"}'),
        ("[1]", [1], '{"_malformed":"[1]"}'),
        ('{"a":"\\ud800"}', {"a": "\ufffd"}, '{"a":"\ufffd"}'),
    ],
)
def test_arguments_are_read_as_they_are_and_sent_back_as_an_object(
    written: Json, read: Json, back: str
) -> None:
    answer = chat.read(response(tool_calls=[called("look", written)]))
    assert answer.calls[0].arguments == read
    assert sent(answer)[0]["tool_calls"] == [called("look", back)]


def test_a_megabyte_of_rubbish_is_not_carried_along() -> None:
    answer = chat.read(response(tool_calls=[called("look", "{" * 1_000_000)]))
    assert len(as_bytes(sent(answer))) < 5000
    assert answer.calls[0].arguments == "{" * 1_000_000


def test_calls_without_name_or_id_can_be_answered() -> None:
    rows = [called("", "{}", ""), called(None, "{}", None), called("a b", "{}", "x"), {}]
    rows.append(called("again", "{}", "x"))
    answer = chat.read(response(tool_calls=rows))
    assert [call.name for call in answer.calls] == ["", "", "a b", "", "again"]
    ids = [call.id for call in answer.calls]
    assert len(set(ids)) == len(ids) == 5
    assert all(ids)
    assert answer == chat.read(response(tool_calls=rows))
    back = sent(answer)[0]["tool_calls"]
    assert [row["id"] for row in back] == ids
    unnamed = "unnamed_tool"
    assert [row["function"]["name"] for row in back] == [unnamed, unnamed, "a_b", unnamed, "again"]


def test_a_call_in_the_old_form_is_a_call() -> None:
    answer = chat.read(response(function_call={"name": "look", "arguments": "{}"}))
    assert [call.name for call in answer.calls] == ["look"]
    assert sent(answer)[0]["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}


def test_a_refusal_is_what_the_model_said() -> None:
    answer = chat.read(response(refusal="I must not."))
    assert answer.text == "I must not."
    assert sent(answer)[0]["refusal"] == "I must not."


def test_content_in_parts_is_read() -> None:
    parts: Any = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hi"}]
    assert chat.read(response(content=parts)).text == "Hi"


@pytest.mark.parametrize(
    ("finish", "complete"),
    [
        ("stop", True),
        ("tool_calls", True),
        ("eos_token", True),
        ("length", False),
        ("content_filter", False),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", False),
    ],
)
def test_an_answer_that_the_model_did_not_end_is_not_complete(finish: str, complete: bool) -> None:
    assert chat.read(response(finish, content="Hi")).complete is complete
    assert (finish in chat.read(response(finish)).text) is not complete


def test_tokens_are_counted_with_those_from_the_cache() -> None:
    usage: Json = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 2},
    }
    expected = Usage(input=10, cached=7, written=2, output=3)
    assert chat.read({**response(content="Hi"), "usage": usage}).usage == expected
    stream, _ = streamed(chunk(content="Hi"), chunk("stop"), {"choices": [], "usage": usage})
    assert stream.answer().usage == expected


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ({"message": "Slow down.", "code": "rate_limit_exceeded"}, ModelOverloaded),
        ({"message": "Bad gateway", "code": 502}, ModelOverloaded),
        ({"message": "Too long.", "code": "context_length_exceeded"}, ContextFull),
        ({"message": "No.", "type": "invalid_request_error"}, RequestRefused),
        ("No.", RequestRefused),
    ],
)
def test_an_error_in_place_of_an_answer_is_raised(error: Json, raised: type[Exception]) -> None:
    with pytest.raises(raised):
        chat.read({"error": error})
    with pytest.raises(raised):
        chat.ChatStream().feed({"id": "c", "error": error, "choices": []})


# --- streams --------------------------------------------------------------------------------


def test_a_stream_gives_text_as_it_comes_and_the_whole_at_the_end() -> None:
    stream, text = streamed(
        chunk(role="assistant", content=""),
        chunk(reasoning_content="H"),
        chunk(reasoning_content="m."),
        chunk(content="Let "),
        chunk(content="me.", refusal=None),
        chunk("stop"),
    )
    assert text == stream.answer().text == "Let me."
    assert stream.answer().raw == (
        {"role": "assistant", "content": "Let me.", "reasoning_content": "Hm."},
    )


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [
                [piece("", name="a", id="1")],
                [piece('{"x":')],
                [piece("1}"), piece("", index=1, name="b", id="2")],
                [piece("{}", index=1)],
            ],
            id="as OpenAI does",
        ),
        pytest.param(
            [[piece('{"x":1}', name="a", id="1", index=None), piece("{}", name="b", id="2")]],
            id="whole calls, not numbered",
        ),
        pytest.param(
            [[piece({"x": 1}, name="a", id="1")], [piece({}, name="b", id="2")]],
            id="every call has the number 0, arguments are objects",
        ),
        pytest.param(
            [
                [piece('{"x"', name="a", id="1")],
                [piece(":1}", name="a", id="1")],
                [piece("{", name="b", id="2", index=1)],
                [piece("}", name="b", id="2", index=1)],
            ],
            id="id and name are repeated",
        ),
        pytest.param(
            [
                [piece('{"x":1}', name="a", id="1")],
                [piece('{"x":1}', name="a", id="1"), piece("{}", name="b", id="2", index=1)],
            ],
            id="a whole call comes twice",
        ),
        pytest.param(
            [
                [piece('{"x"', name="a", id="1", index=None)],
                [piece(":1}", index=None)],
                [piece("", name="b", id="2", index=None)],
                [piece("{}", index=None)],
            ],
            id="pieces, not numbered",
        ),
    ],
)
def test_calls_are_put_together_however_they_come(deltas: Sequence[Any]) -> None:
    stream, _ = streamed(*(chunk(tool_calls=each) for each in deltas), chunk("tool_calls"))
    answer = stream.answer()
    assert answer.calls == (
        Asked(name="a", arguments={"x": 1}, id="1"),
        Asked(name="b", arguments={}, id="2"),
    )
    assert sent(answer)[0]["tool_calls"] == [called("a", '{"x":1}', "1"), called("b", "{}", "2")]


def test_whole_calls_without_ids_stay_apart() -> None:
    calls = [piece("{}", name="a"), piece("{}", name="a"), piece("{}", name="b")]
    stream, _ = streamed(chunk("tool_calls", tool_calls=calls))
    answer = stream.answer()
    assert [call.name for call in answer.calls] == ["a", "a", "b"]
    assert len({call.id for call in answer.calls}) == 3


def test_a_signature_beside_a_call_comes_back() -> None:
    extra = {"google": {"thought_signature": "s"}}
    delta = {**piece("{}", name="a", id="1"), "extra_content": extra}
    stream, _ = streamed(chunk("tool_calls", tool_calls=[delta]))
    assert sent(stream.answer())[0]["tool_calls"][0]["extra_content"] == extra


def test_reasoning_that_was_signed_in_pieces_comes_back_whole() -> None:
    kind = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
    encrypted = {"type": "reasoning.encrypted", "data": "x", "index": 1}
    stream, _ = streamed(
        chunk(reasoning="Let", reasoning_details=[{**kind, "text": "Let", "signature": None}]),
        chunk(reasoning=" me.", reasoning_details=[{**kind, "text": " me."}]),
        chunk(reasoning_details=[{**kind, "signature": "s1"}]),
        chunk(reasoning_details=[{**kind, "text": "Or not.", "signature": "s2"}]),
        chunk(reasoning_details=[encrypted, encrypted]),
        chunk("stop", content="Hi"),
    )
    back = sent(stream.answer())[0]
    assert back["reasoning_details"] == [
        {**kind, "text": "Let me.", "signature": "s1"},
        {**kind, "text": "Or not.", "signature": "s2"},
        encrypted,
        encrypted,
    ]
    assert back["reasoning"] == "Let me."


def test_a_character_in_two_halves_is_one() -> None:
    stream, text = streamed(chunk(content="a\ud83d"), chunk(content="\ude00b"), chunk("stop"))
    assert text == stream.answer().text == "a😀b"


def test_a_stream_that_breaks_off_says_so_and_keeps_what_came() -> None:
    stream, _ = streamed(chunk(content="Let me"))
    with pytest.raises(AnswerCut) as cut:
        stream.answer()
    assert cut.value.text == "Let me"
