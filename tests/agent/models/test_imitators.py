"""Endpoints that imitate OpenAI and take less than it does: the conversation goes on all the same.

The words of the refusals are those that people reported of each one.
"""

import json
from typing import Any

import pytest

from tests.agent.models.asking import ask, failure
from tests.agent.models.fakes import response, sending
from tests.golden.conversations import PIXEL
from tests.models.script import Fail, Repeat, Say
from tests.models.server import scripted
from tooldrawer.call import ToolResult, text_block
from tooldrawer.errors import AnswerCut, ContextFull, ModelUnknown, RequestRefused
from tooldrawer.tool import JsonObject
from tooldrawer.wire.message import (
    Answered,
    Asked,
    Message,
    Reply,
    Request,
    Returned,
    Said,
    Summary,
)

pytestmark = pytest.mark.anyio
CALLS = (
    Asked(name="look", arguments={"at": "it"}, id="toolu_01A09q90qw90lq917835lq9"),
    Asked(name="look", arguments={}, id="D681PevKs"),
)
OWN: JsonObject = {
    "role": "assistant",
    "content": None,
    "reasoning_content": "Hm.",
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "look", "arguments": "{}"},
            "provider_specific_fields": {"x": 1},
        }
    ],
}
PICTURE: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def _returned(*calls: Asked, content: JsonObject | None = None) -> Returned:
    result = ToolResult(content=(content or text_block("Seen."),))
    return Returned(replies=tuple(Reply(call=call, result=result) for call in calls))


def _conversation(*more: Message) -> Request:
    """Calls of another provider, and those of an imitator; the last were interrupted."""
    call = Asked(name="look", arguments={}, id="call_1")
    return Request(
        model="scripted",
        system="Be brief.",
        messages=(
            Summary(text="Until now."),
            Said(text="Look."),
            Answered(calls=CALLS),
            _returned(*CALLS),
            Answered(text="It is there."),
            Said(text="Again."),
            Answered(calls=(call,), wire="chat", raw=(OWN,)),
            _returned(call),
            Said(text="Stop."),
            *more,
        ),
    )


async def _after(words: str, asked: Request, *, status: int = 400) -> list[dict[str, Any]]:
    """The messages of the request that follows a refusal, and of the one after that."""
    with scripted(Fail(status, words), Repeat(Say("Fine."))) as server:
        answered, _ = await ask("chat", server, asked)
    assert answered.text == "Fine."
    assert not server.refusals
    assert len(server.requests) == 2
    return server.requests[1].json["messages"]


def _assistant(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["role"] == "assistant"]


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_ids_of_nine_letters_are_given_to_who_wants_them(status: int) -> None:
    words = (
        "Tool call id was toolu_01A09q90qw90lq917835lq9 but must be a-z, A-Z, 0-9, with a "
        "length of 9."
    )
    rows = await _after(words, _conversation(), status=status)
    asked = [call["id"] for row in _assistant(rows) for call in row.get("tool_calls", ())]
    given = [row["tool_call_id"] for row in rows if row["role"] == "tool"]
    assert asked == given
    assert asked[1] == "D681PevKs"
    assert all(len(each) == 9 and each.isalnum() for each in asked)
    assert len(set(asked)) == 3


async def test_a_person_who_interrupts_a_call_is_heard_where_the_model_must_speak_first() -> None:
    rows = await _after("Unexpected role 'user' after role 'tool'", _conversation())
    assert [row["role"] for row in rows[-4:]] == ["assistant", "tool", "assistant", "user"]
    assert rows[-1]["content"] == "Stop."


async def test_pictures_are_shown_where_the_model_must_speak_first() -> None:
    asked = _conversation(Answered(calls=CALLS), _returned(*CALLS, content=PICTURE))
    rows = await _after("Unexpected role 'user' after role 'tool'", asked)
    assert [row["role"] for row in rows[-4:]] == ["tool", "tool", "assistant", "user"]
    assert PIXEL in json.dumps(rows[-1])


@pytest.mark.parametrize("status", [400, 500])
async def test_what_a_person_said_in_a_row_is_one_message_where_roles_must_alternate(
    status: int,
) -> None:
    words = (
        "\n------------\nWhile executing CallExpression at line 19, column 27 in source:\n"
        "Error: Jinja Exception: Conversation roles must alternate user/assistant/..."
    )
    rows = await _after(words, _conversation(Said(text="And go.")), status=status)
    spoken = [row["role"] for row in rows if row["role"] != "tool" and "tool_calls" not in row]
    assert spoken == ["system", *["user", "assistant"] * 2, "user"]
    assert rows[1]["content"] == "Until now.\n\nLook."
    assert rows[-1]["content"] == "Stop.\n\nAnd go."


async def test_pictures_and_words_in_a_row_are_one_message_where_roles_must_alternate() -> None:
    more = (Answered(calls=CALLS), _returned(*CALLS, content=PICTURE), Said(text="Well?"))
    rows = await _after("Conversation roles must alternate", _conversation(*more))
    assert [part["type"] for part in rows[-1]["content"]] == [
        *("text", "image_url") * 2,
        "text",
    ]


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (  # Groq
            "'messages.6' : for 'role:assistant' the following must be satisfied[('messages.6' : "
            "property 'reasoning_content' is unsupported)]",
            "reasoning_content",
        ),
        (  # Cerebras
            "messages.6.assistant.reasoning_content: property "
            "'messages.6.assistant.reasoning_content' is unsupported",
            "reasoning_content",
        ),
        (  # Fireworks
            "Extra inputs are not permitted, field: "
            "'messages[6].tool_calls[0].provider_specific_fields'",
            "provider_specific_fields",
        ),
    ],
)
async def test_a_field_of_another_endpoint_that_is_refused_is_left_out(
    words: str, field: str
) -> None:
    rows = await _after(words, _conversation())
    kept = {"reasoning_content", "provider_specific_fields"} - {field}
    assert field not in json.dumps(rows)
    assert all(name in json.dumps(rows) for name in kept)


@pytest.mark.parametrize(
    "words",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "Missing `reasoning_content` field in the assistant message at message index 3.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message",
    ],
)
async def test_who_must_have_the_reasoning_gets_some_with_every_answer(words: str) -> None:
    rows = _assistant(await _after(words, _conversation()))
    assert all(row["reasoning_content"] for row in rows)
    assert rows[-1]["reasoning_content"] == "Hm."


async def test_calls_of_others_are_signed_for_gemini() -> None:
    words = "Function call is missing a thought_signature in functionCall parts."
    rows = await _after(words, _conversation())
    calls = [row["tool_calls"] for row in _assistant(rows) if "tool_calls" in row]
    google = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert [call[0]["extra_content"] for call in calls] == [google, google]
    assert "extra_content" not in calls[0][1]


@pytest.mark.parametrize(
    "words",
    [
        "Invalid 'content': 'content' field must be a string or an array of objects.",
        "invalid message content type: <nil>",
    ],
)
async def test_no_content_is_empty_content_where_null_is_refused(words: str) -> None:
    rows = await _after(words, _conversation())
    assert all(isinstance(row["content"], str) for row in rows)


async def test_one_refusal_after_the_other_is_heeded() -> None:
    steps = (
        Fail(400, "stream_options: Extra inputs are not permitted"),
        Fail(400, "Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9."),
        Fail(400, "Unexpected role 'user' after role 'tool'"),
        Say("Fine."),
    )
    with scripted(*steps) as server:
        answered, _ = await ask("chat", server, _conversation())
    assert answered.text == "Fine."


async def test_a_refusal_that_stays_is_told_after_one_more_try() -> None:
    words = "Unexpected role 'user' after role 'tool'"
    with scripted(Repeat(Fail(400, words))) as server:
        assert isinstance(await failure("chat", server, _conversation()), RequestRefused)
    assert len(server.requests) == 2


# --- OpenRouter -------------------------------------------------------------------------------


def _behind(said: str, *, code: int = 400) -> bytes:
    """How OpenRouter tells what a provider behind it said."""
    error = {"message": "Provider returned error", "code": code, "metadata": {"raw": said}}
    return response(
        json.dumps({"error": error}).encode(), status=f"{code} No", kind="application/json"
    )


@pytest.mark.parametrize("is_json", [True, False])
async def test_what_a_provider_behind_openrouter_said_is_told(*, is_json: bool) -> None:
    said = "prompt is too long: 250000 tokens"
    raw = json.dumps({"type": "error", "error": {"message": said}}) if is_json else said
    with sending(_behind(raw)) as url:
        failed = await failure("chat", url)
    assert isinstance(failed, ContextFull)
    assert f"Provider returned error: {said}" in str(failed)


async def test_a_thought_that_a_provider_behind_openrouter_did_not_sign_is_left_out() -> None:
    raw = {**OWN, "reasoning_details": [{"type": "reasoning.text", "text": "Hm", "signature": "s"}]}
    call = Asked(name="look", arguments={}, id="call_1")
    asked = _conversation(Answered(calls=(call,), wire="chat", raw=(raw,)), _returned(call))
    words = "messages.3.content.0: Invalid `signature` in `thinking` block"
    rows = await _after(words, asked)
    assert "reasoning_details" not in json.dumps(rows)


# --- streams ----------------------------------------------------------------------------------


def _events(*events: Any, done: bool = True) -> bytes:
    told = [": OPENROUTER PROCESSING", *(f"data: {json.dumps(event)}" for event in events)]
    return "".join(f"{line}\n\n" for line in (*told, *["data: [DONE]"] * done)).encode()


def _chunk(finish: str | None = None, **delta: Any) -> JsonObject:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


CALLED = {"index": 0, "id": "1", "function": {"name": "look", "arguments": '{"at":"it"}'}}


@pytest.mark.parametrize(
    ("delta", "text", "calls"),
    [({"content": "hello"}, "hello", 0), ({"tool_calls": [CALLED]}, "", 1)],
)
async def test_a_stream_that_is_done_without_a_reason_is_an_answer(
    delta: Any, text: str, calls: int
) -> None:
    with sending(response(_events(_chunk(**delta)))) as url:
        answered, _ = await ask("chat", url)
    assert (answered.text, len(answered.calls)) == (text, calls)
    assert answered.complete


async def test_a_stream_that_is_done_with_nothing_is_cut() -> None:
    with sending(response(_events(_chunk(role="assistant")))) as url:
        assert isinstance(await failure("chat", url), AnswerCut)


async def test_a_stream_without_done_is_an_answer_once_its_reason_came() -> None:
    with sending(response(_events(_chunk(content="hello"), _chunk("stop"), done=False))) as url:
        assert (await ask("chat", url))[0].text == "hello"


async def test_a_connection_that_is_lost_after_the_reason_is_an_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"
    with sending(head + _events(_chunk("stop", content="hello"), done=False)) as url:
        assert (await ask("chat", url))[0].text == "hello"


async def test_a_connection_that_is_lost_before_the_reason_is_a_cut_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"
    with sending(head + _events(_chunk(content="hello"), done=False)) as url:
        failed = await failure("chat", url)
    assert isinstance(failed, AnswerCut)
    assert failed.text == "hello"


async def test_an_error_in_a_stream_is_found_without_the_word_error_around_it() -> None:
    event = {"object": "error", "message": "The model `x` does not exist.", "code": 404}
    with sending(response(_events(event))) as url:
        assert isinstance(await failure("chat", url), ModelUnknown)


async def test_a_call_that_the_endpoint_cannot_read_is_worth_asking_again() -> None:
    words = "Failed to call a function. Please adjust your prompt. See 'failed_generation'."
    with scripted(Fail(400, words, code="tool_use_failed")) as server:
        failed = await failure("chat", server)
    assert isinstance(failed, AnswerCut)
    assert "Failed to call a function" in str(failed)


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
        "The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
        "The input (9000 tokens) is longer than the model's context length (4096 tokens).",
        "You passed 9000 input tokens. However, the model's context length is only 4096 tokens.",
        "The model is loaded with context length of only 4096 tokens, which is not enough.",
        "The number of tokens to keep from the prompt is greater than the context length.",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "This model's maximum context length is 4096 tokens.",
        "the request exceeds the available context size, try increasing it",
    ],
)
async def test_a_conversation_that_is_too_long_is_known_by_any_server_s_words(words: str) -> None:
    with scripted(Fail(400, words)) as server:
        assert isinstance(await failure("chat", server), ContextFull)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Model Not Exist", "type": "invalid_request_error"},
        {"message": "Invalid model: scripted", "type": "invalid_model", "code": "1500"},
        {"message": "The requested model 'scripted' does not exist.", "code": "model_not_found"},
    ],
)
async def test_a_model_that_is_not_there_is_known_by_any_server_s_words(error: Any) -> None:
    said = json.dumps({"error": error}).encode()
    with sending(response(said, status="400 Bad", kind="application/json")) as url:
        assert isinstance(await failure("chat", url), ModelUnknown)
