"""Chat Completions, held against the types of OpenAI's own SDK, and what imitators make of it."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import APIConnectionError, OpenAI
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from tests.golden import conversations
from tests.golden.conversations import PIXEL
from tests.models.script import Call, Cut, Say, Turn
from tests.models.server import scripted
from tests.properties.strategies import json_objects, json_values, nested_in, quick
from tests.requirements import requirement
from tests.wire.checked import check
from tests.wire.growing import as_bytes, conversation, grows, request, steps
from tooldrawer.call import ToolResult, text_block
from tooldrawer.errors import AnswerCut, ContextFull, ModelFailed, ModelOverloaded, RequestRefused
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire import chat
from tooldrawer.wire.message import (
    Answered,
    Asked,
    Message,
    Reply,
    Request,
    Returned,
    Said,
    Summary,
    Usage,
)

PARAMS = TypeAdapter[Any](CompletionCreateParamsNonStreaming)
CALL = Asked(name="look", arguments={"a": 1}, id="call_1")
PICTURE: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def body(*messages: Message, **more: Any) -> Any:
    made = chat.body(Request(model="model-1", messages=messages, **more))
    assert json.loads(as_bytes(made)) == made
    check(PARAMS, made)
    return made


def sent(*messages: Message, **more: Any) -> Any:
    return body(*messages, **more)["messages"]


def returned(*results: ToolResult) -> Returned:
    calls = (Asked(name="look", id=f"call_{number}") for number in range(1, 9))
    pairs = zip(calls, results, strict=False)
    return Returned(replies=tuple(Reply(call=call, result=result) for call, result in pairs))


def response(finish: str = "stop", **message: Any) -> dict[str, Json]:
    said = {"role": "assistant", **({} if "content" in message else {"content": None}), **message}
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}


def called(name: Any, arguments: Any, call_id: Any = "call_1") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def answered(text: str, calls: Iterable[Asked]) -> JsonObject:
    """An answer as the API writes it."""
    rows = [called(call.name, json.dumps(call.arguments), call.id) for call in calls]
    return response(content=text, **({"tool_calls": rows} if rows else {}))


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(text: Any, *, index: int | None = 0, **more: Any) -> dict[str, Any]:
    name = {"name": more.pop("name")} if "name" in more else {}
    number = {} if index is None else {"index": index}
    return {**number, **more, "function": {**name, "arguments": text}}


def streamed(*events: JsonObject) -> tuple[chat.ChatStream, str]:
    stream = chat.ChatStream()
    return stream, "".join([stream.feed(event) for event in events])


# --- what is sent ---------------------------------------------------------------------------


@requirement("CACHE-1")
def test_a_conversation_has_the_bytes_that_were_written_down() -> None:
    now = conversations.written(chat.body)
    assert now == conversations.file("chat").read_bytes(), (
        "If the bytes were meant to change: python -m tests.golden.write_conversations"
    )
    check(PARAMS, json.loads(now))


@requirement("CACHE-3")
@quick(60)
@given(steps())
def test_a_request_begins_with_the_one_before_it(done: Any) -> None:
    bodies = [chat.body(request(each)) for each in conversation(done, answered, chat.read)]
    for one, other in zip(bodies, bodies[1:], strict=False):
        assert grows(one, other)
    for each in bodies:
        check(PARAMS, each)


@requirement("CACHE-2")
def test_what_was_found_changes_nothing_in_the_array() -> None:
    found = Reply(call=CALL, result=ToolResult(tools=(Tool(name="found"),)))
    said = Said(text="Hi")
    before = body(said, tools=(Tool(name="look"),))
    after = body(said, Returned(replies=(found,)), tools=(Tool(name="look"),))
    assert before["tools"] == after["tools"]


def test_without_tools_and_system_nothing_is_said_about_them() -> None:
    assert body(Said(text="Hi")) == {
        "model": "model-1",
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_what_grows_is_last() -> None:
    made = body(Said(text="Hi"), system="Be brief.", tools=(Tool(name="a"),), max_output=9)
    assert list(made) == ["model", "tools", "max_completion_tokens", "messages"]
    assert made["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_summary_is_said_by_the_user_and_its_tools_by_nobody() -> None:
    made = body(Summary(text="So far.", tools=(Tool(name="found"),)))
    assert made["messages"] == [{"role": "user", "content": "So far."}]
    assert "tools" not in made


@pytest.mark.parametrize(
    ("schema", "accepted"),
    [
        ({"type": "object"}, {"type": "object", "properties": {}}),
        (
            {"type": "object", "properties": {"a": {"type": "array"}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
        ),
        (
            {"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}]},
            {"type": "object", "properties": {"a": {"type": "string"}}},
        ),
        (
            {"type": "object", "properties": {"a": {"default": {"type": "array"}}, "b": "no"}},
            {"type": "object", "properties": {"a": {"default": {"type": "array"}}}},
        ),
    ],
)
def test_a_schema_that_would_be_refused_is_widened(schema: JsonObject, accepted: Json) -> None:
    (tool,) = body(Said(text="Hi"), tools=(Tool(name="a", parameters=schema),))["tools"]
    assert tool["function"]["parameters"] == accepted


def test_an_answer_of_another_wire_is_written_anew() -> None:
    search = Asked(name="tool_search", arguments={"query": "x"}, id="toolu_1", native=True)
    odd = Asked(name="", arguments="{", id="toolu_2")
    raw = ({"type": "text", "text": "theirs"},)
    (said,) = sent(
        Answered(text="Hm.", calls=(search, odd), wire="anthropic", raw=raw), search="find"
    )
    assert said == {
        "role": "assistant",
        "content": "Hm.",
        "tool_calls": [
            called("find", '{"query":"x"}', "toolu_1"),
            called("unnamed_tool", '{"_malformed":"{"}', "toolu_2"),
        ],
    }


# --- results --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult.of_text("done"), "done"),
        (ToolResult.of_text("no", is_error=True), "Error: no"),
        (ToolResult.of_text("Error 404", is_error=True), "Error 404"),
        (ToolResult(), "(no content)"),
        (ToolResult(structured={"a": [1, "ü"]}), '{"a":[1,"ü"]}'),
        (ToolResult(content=(text_block("one"),), structured={"a": 1}), "one"),
        (
            ToolResult(content=({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},)),
            "[audio, audio/wav, 3 bytes]",
        ),
        (
            ToolResult(content=({"type": "resource", "resource": {"uri": "a:b", "text": "in"}},)),
            "in",
        ),
        (
            ToolResult(
                content=(
                    {"type": "resource", "resource": {"uri": "a:b", "blob": "AAAA"}},
                    {"type": "resource_link", "uri": "a:c", "name": "c", "description": "C."},
                )
            ),
            "[resource, a:b, 3 bytes]\n[link: c, a:c, C.]",
        ),
        (
            ToolResult(content=({"type": "image", "data": "no base64!", "mimeType": "image/png"},)),
            "[image, image/png, not readable]",
        ),
        (ToolResult(content=({"type": "hologram"},)), "[hologram that cannot be shown here]"),
    ],
)
def test_a_result_is_text(result: ToolResult, text: str) -> None:
    assert sent(returned(result)) == [
        {"role": "tool", "tool_call_id": "call_1", "content": text},
    ]


def test_pictures_are_shown_after_all_results_with_the_call_they_belong_to() -> None:
    done = ToolResult.of_text("done")
    rows = sent(returned(ToolResult(content=(text_block("See:"), PICTURE)), done))
    assert [row["role"] for row in rows] == ["tool", "tool", "user"]
    assert rows[0]["content"] == "See:\n[image, shown after the results]"
    assert rows[2]["content"] == [
        {"type": "text", "text": "From look (call call_1):"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ]


def test_a_picture_is_called_what_it_is() -> None:
    wrong = {**PICTURE, "mimeType": "image/tiff"}
    assert sent(returned(ToolResult(content=(wrong,))))[1]["content"][1]["image_url"] == {
        "url": f"data:image/png;base64,{PIXEL}"
    }


def test_a_loop_of_ones_own_reads_calls_and_appends_results() -> None:
    (call,) = chat.calls(response(tool_calls=[called("look", '{"a":1}')]))
    assert call == CALL
    assert chat.results([Reply(call=call, result=ToolResult.of_text("done"))]) == [
        {"role": "tool", "tool_call_id": "call_1", "content": "done"}
    ]
    assert [tool["function"]["name"] for tool in chat.tools([Tool(name="a")])] == ["a"]  # pyright: ignore


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
    answer = chat.read(response(content="Hi", **refused, reasoning="Hm."))
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
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hi"}]
    assert chat.read(response(content=parts)).text == "Hi"


@pytest.mark.parametrize(
    ("finish", "complete"), [("stop", True), ("tool_calls", True), ("length", False)]
)
def test_an_answer_whose_length_ran_out_is_not_complete(finish: str, complete: bool) -> None:
    assert chat.read(response(finish, content="Hi")).complete is complete


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


def test_a_character_in_two_halves_is_one() -> None:
    stream, text = streamed(chunk(content="a\ud83d"), chunk(content="\ude00b"), chunk("stop"))
    assert text == stream.answer().text == "a😀b"


def test_a_stream_that_breaks_off_says_so_and_keeps_what_came() -> None:
    stream, _ = streamed(chunk(content="Let me"))
    with pytest.raises(AnswerCut) as cut:
        stream.answer()
    assert cut.value.text == "Let me"


# --- odd input ------------------------------------------------------------------------------

_ODD = json_values("function", "assistant", "text", leaves=6)
_MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        key: _ODD for key in ("role", "content", "refusal", "tool_calls", "function_call", "x")
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
    message = _MESSAGES | st.builds(lambda calls: {"tool_calls": calls}, st.lists(_CALLS))
    choice = st.fixed_dictionaries({key: message | _ODD, "finish_reason": _ODD})
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
    try:
        _sendable(chat.read(told))
    except ModelFailed:
        assert told.get("error") or any(c.get("error") for c in told["choices"][:1])


@quick(200)
@given(st.lists(_choices("delta") | json_objects(), max_size=5))
def test_any_chunks_are_taken_and_can_be_gone_on_from(told: Any) -> None:
    stream = chat.ChatStream()
    try:
        text = "".join([stream.feed(each) for each in told])
        answer = stream.answer()
    except ModelFailed as error:
        assert isinstance(error, AnswerCut) or any("error" in each for each in told)
    else:
        assert answer.text in text
        _sendable(answer)


def test_arguments_without_a_bottom_are_no_trouble() -> None:
    deep = nested_in(900, wrap=lambda inner: {"a": inner})
    for written in (deep, json.dumps(deep)):
        _sendable(chat.read(response(tool_calls=[called("look", written)])))


# --- the real client ------------------------------------------------------------------------


def _talk(client: OpenAI, messages: Sequence[Message], *, stream: bool) -> Answered:
    made: Any = chat.body(request(messages))
    if not stream:
        return chat.read(client.chat.completions.create(**made).model_dump())
    hearing = chat.ChatStream()
    options: Any = {"include_usage": True}
    for event in client.chat.completions.create(**made, stream=True, stream_options=options):
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
