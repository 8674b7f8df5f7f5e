"""Gemini's generateContent, held against its own SDK's types."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from tests.golden import conversations
from tests.golden.conversations import PIXEL
from tests.models.gemini import GeminiWire
from tests.models.request import Options
from tests.models.request import Request as HttpRequest
from tests.properties.strategies import nested_in, quick
from tests.requirements import requirement
from tests.wire.growing import as_bytes, conversation, grows, odd, request, steps
from tooldrawer.call import ToolResult, text_block
from tooldrawer.errors import AnswerCut, ModelFailed, ModelOverloaded, RequestRefused
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire import gemini
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

CALL = Asked(name="look", arguments={"a": 1}, id="call_1")
UNSIGNED = "skip_thought_signature_validator"
PICTURE: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def checked(made: Any) -> Any:
    """The body, after the SDK's types have taken it as it is on the wire."""
    sent = json.loads(as_bytes(made))
    for content in sent["contents"]:
        types.Content.model_validate(content)
        assert content["parts"]
    for tool in sent.get("tools", ()):
        types.Tool.model_validate(tool)
    types.Content.model_validate(sent.get("systemInstruction", {}))
    types.GenerationConfig.model_validate(sent.get("generationConfig", {}))
    return sent


def body(*messages: Message, model: str = "gemini-4-pro", **more: Any) -> Any:
    return checked(gemini.body(Request(model=model, messages=messages, **more)))


def parts(*messages: Message, **more: Any) -> Any:
    return body(*messages, **more)["contents"][-1]["parts"]


def returned(result: ToolResult, call: Asked = CALL) -> Returned:
    return Returned(replies=(Reply(call=call, result=result),))


def chunk(*given: JsonObject, finish: str | None = None, **more: Json) -> dict[str, Json]:
    candidate: dict[str, Json] = {"content": {"role": "model", "parts": given}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"responseId": "r1", "candidates": [candidate], **more}


def answered(text: str, calls: Sequence[Asked]) -> JsonObject:
    """An answer as the API writes it."""
    rows: list[JsonObject] = [
        {"functionCall": {"name": call.name, "args": call.arguments}, "thoughtSignature": UNSIGNED}
        for call in calls
    ]
    return chunk({"text": "Hm.", "thought": True}, {"text": text}, *rows, finish="STOP")


@requirement("CACHE-1")
def test_a_conversation_has_the_bytes_that_were_written_down() -> None:
    bytes_now = conversations.written(gemini.body)
    assert bytes_now == conversations.file("gemini").read_bytes()
    checked(json.loads(bytes_now))


@requirement("CACHE-3")
@quick(40)
@given(steps())
def test_a_request_begins_with_the_one_before_it(done: Any) -> None:
    bodies = [gemini.body(request(each)) for each in conversation(done, answered, gemini.read)]
    assert all(grows(one, other) for one, other in pairwise(bodies))


@quick(50)
@given(steps())
def test_no_conversation_makes_a_request_that_the_api_refuses(done: Any) -> None:
    for messages in conversation(done, answered, gemini.read):
        sent = as_bytes(gemini.body(request(messages)))
        came = HttpRequest(
            wire="gemini",
            path="/v1beta/models/gemini-3-pro:generateContent",
            query={},
            headers={"x-goog-api-key": "key"},
            body=sent,
            json=json.loads(sent),
        )
        GeminiWire().read(came, Options())


@requirement("CACHE-2")
def test_there_is_no_native_deferral_and_asking_for_it_changes_nothing() -> None:
    found = returned(ToolResult(content=(text_block("{}"),), tools=(Tool(name="found"),)))
    asked = (Said(text="Hi"), Answered(calls=(CALL,)), found)
    tools = (Tool(name="look"),)
    assert body(*asked, tools=tools, native=True) == body(*asked, tools=tools)


def test_the_parts_of_a_request_are_in_one_order_and_left_out_when_empty() -> None:
    tool = Tool(name="look", description="Look.", parameters={"properties": {"a": {}}})
    made = body(Said(text="Hi"), system="Be brief.", tools=(tool,), max_output=5)
    assert made == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "look",
                        "description": "Look.",
                        "parametersJsonSchema": {"properties": {"a": {}}, "type": "object"},
                    }
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 5},
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
    }
    assert list(made) == ["systemInstruction", "tools", "generationConfig", "contents"]
    assert list(body(Said(text="Hi"))) == ["contents"]


@pytest.mark.parametrize("name", ["3d", "_3d", "__3d", "-a", "_-a", "a", "_a", "__a", "_"])
def test_every_name_is_taken_and_comes_back_as_it_was(name: str) -> None:
    declared = cast("Any", gemini.tools([Tool(name=name)]))[0]["functionDeclarations"]
    (entry,) = declared
    assert entry["name"][0] in "_a"
    (call,) = gemini.calls(chunk({"functionCall": {"name": entry["name"]}}))
    assert call.name == name
    (sent,) = parts(Said(text="Hi"), Answered(calls=(call,)), returned(ToolResult(), call))
    assert sent["functionResponse"]["name"] == entry["name"]


def test_results_keep_their_order_and_their_kind() -> None:
    calls = tuple(Asked(name=name, id=f"id_{name}") for name in ("a", "b", "c", "d"))
    results = (
        ToolResult.of_text("text"),
        ToolResult.of_text("No.", is_error=True),
        ToolResult.of_json({"x": [1]}, structured=True),
        ToolResult(),
    )
    replies = tuple(Reply(call=a, result=b) for a, b in zip(calls, results, strict=True))
    sent = parts(Said(text="Hi"), Answered(calls=calls), Returned(replies=replies))
    given_back = [part["functionResponse"] for part in sent]
    assert [each["id"] for each in given_back] == ["id_a", "id_b", "id_c", "id_d"]
    assert [each["response"] for each in given_back] == [
        {"output": "text"},
        {"error": "No."},
        {"output": {"x": [1]}},
        {"output": "(no content)"},
    ]


@pytest.mark.parametrize(
    ("model", "is_inside"),
    [("gemini-4-pro", True), ("gemini-3-flash", True), ("models/gemini-2.5-pro", False)],
)
def test_pictures_are_in_the_response_or_beside_it_as_the_model_takes_them(
    model: str, is_inside: bool
) -> None:
    odd: JsonObject = {"type": "image", "data": "AAAA", "mimeType": "image/tiff"}
    result = ToolResult(content=(text_block("Here:"), PICTURE, odd))
    asked = (Said(text="Hi"), Answered(calls=(CALL,)), returned(result))
    response, *beside = parts(*asked, model=model)
    inline = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    inside = response["functionResponse"].get("parts", [])
    assert (inside, beside) == (([inline], []) if is_inside else ([], [inline]))
    output = response["functionResponse"]["response"]["output"]
    assert output.startswith("Here:\n[image, attached]\n[image, image/tiff")


def test_an_answer_goes_back_as_it_came() -> None:
    raw: tuple[JsonObject, ...] = (
        {"text": "Hm.", "thought": True},
        {"text": "Let me.", "thoughtSignature": "YQ=="},
        {"text": "", "thoughtSignature": "Yg=="},
        {"functionCall": {"id": "c1", "name": "look", "args": {"a": 1}}, "thoughtSignature": "Yw"},
        {"functionCall": {"name": "look", "args": {"a": 2}}},
        {"executableCode": {"code": "1", "language": "PYTHON"}},
    )
    read = gemini.read(chunk(*raw, finish="STOP"))
    assert read.text == "Let me."
    assert [(call.name, call.arguments) for call in read.calls] == [
        ("look", {"a": 1}),
        ("look", {"a": 2}),
    ]
    assert read.complete
    replies = tuple(Reply(call=call, result=ToolResult.of_text("x")) for call in read.calls)
    made = body(Said(text="Hi"), read, Returned(replies=replies))
    assert made["contents"][1] == {"role": "model", "parts": list(raw)}
    ids = [part["functionResponse"].get("id") for part in made["contents"][2]["parts"]]
    assert ids == ["c1", None]


def test_a_call_without_an_id_has_always_the_same_one_and_no_other_has_it() -> None:
    twice: JsonObject = {"functionCall": {"name": "look", "args": {}}}
    first, again = (gemini.read(chunk(twice, twice)).calls for _ in range(2))
    later = gemini.read({**chunk(twice), "responseId": "r2"}).calls
    assert first == again
    assert len({call.id for call in (*first, *later)}) == 3


def test_calls_that_would_be_refused_are_mended_and_not_passed_off_as_signed() -> None:
    broken: JsonObject = {
        "functionCall": {"name": "", "args": "no"},
        "thoughtSignature": "YQ==",
    }
    sent = parts(Said(text="Hi"), gemini.read(chunk(broken)))
    assert sent == [
        {
            "functionCall": {"name": "unnamed_tool", "args": {"_malformed": "no"}},
            "thoughtSignature": "skip_thought_signature_validator",
        }
    ]


def test_calls_of_another_wire_are_signed_as_such_where_signatures_are_wanted() -> None:
    search = Asked(name="tool_search_call", arguments={}, id="b", native=True)
    other = Answered(text="Let me.", calls=(CALL, search), wire="responses", raw=({"x": 1},))
    text, first, second = parts(Said(text="Hi"), other, search="find")
    assert text == {"text": "Let me."}
    assert first["functionCall"] == {"id": "call_1", "name": "look", "args": {"a": 1}}
    assert first["thoughtSignature"] == "skip_thought_signature_validator"
    assert second == {"functionCall": {"id": "b", "name": "find", "args": {}}}
    old = parts(Said(text="Hi"), other, model="gemini-2.5-flash")
    assert "thoughtSignature" not in json.dumps(old)


def test_nothing_is_sent_without_content() -> None:
    made = body(
        Said(text=""),
        Answered(),
        Summary(text=""),
        gemini.read(chunk({"text": ""})),
        Returned(replies=()),
    )
    texts = [part["text"] for content in made["contents"] for part in content["parts"]]
    assert all(texts)


@pytest.mark.parametrize(
    ("reason", "complete"),
    [("STOP", True), ("MAX_TOKENS", False), ("MALFORMED_FUNCTION_CALL", False), ("SAFETY", False)],
)
def test_only_the_models_own_end_is_complete(reason: str, complete: bool) -> None:
    candidate = {"finishReason": reason, "finishMessage": "print(default_api)"}
    answer = gemini.read({"candidates": [candidate]})
    assert answer.complete is complete
    assert (reason in answer.text) is not complete


def test_a_prompt_that_was_blocked_says_so() -> None:
    stream = gemini.GeminiStream()
    stream.feed({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    answer = stream.answer()
    assert not answer.complete
    assert "PROHIBITED_CONTENT" in answer.text


def test_thoughts_count_as_output() -> None:
    told: JsonObject = {
        "promptTokenCount": 100,
        "toolUsePromptTokenCount": 5,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 30,
    }
    read = gemini.read(chunk({"text": "Hi"}, usageMetadata=told))
    assert read.usage == Usage(input=105, cached=60, output=37)


def test_a_stream_gives_what_the_whole_response_gives() -> None:
    call: JsonObject = {"functionCall": {"id": "c", "name": "look", "args": {}}}
    usage: JsonObject = {"promptTokenCount": 9, "candidatesTokenCount": 3}
    stream = gemini.GeminiStream()
    chunks = (
        chunk({"text": "H", "thought": True}),
        chunk({"text": "m.", "thought": True}, usageMetadata={"promptTokenCount": 9}),
        chunk({"text": "Hello \ud83c"}),
        chunk({"text": "\udfd4!"}),
        chunk({"text": "", "thoughtSignature": "YQ=="}),
        chunk({**call, "text": None}),
        {"responseId": "r1", "candidates": [{"finishReason": "STOP"}], "usageMetadata": usage},
    )
    assert "".join([stream.feed(each) for each in chunks]) == "Hello 🏔!"
    whole = chunk(
        {"text": "Hm.", "thought": True},
        {"text": "Hello 🏔!"},
        {"text": "", "thoughtSignature": "YQ=="},
        call,
        finish="STOP",
        usageMetadata=usage,
    )
    assert stream.answer() == gemini.read(whole)


def test_a_stream_that_ends_too_early_keeps_its_text() -> None:
    stream = gemini.GeminiStream()
    stream.feed(chunk({"text": "Half a"}))
    with pytest.raises(AnswerCut) as cut:
        stream.answer()
    assert cut.value.text == "Half a"


@pytest.mark.parametrize(("code", "error"), [(503, ModelOverloaded), (400, RequestRefused)])
def test_an_error_in_the_stream_is_raised(code: int, error: type[Exception]) -> None:
    event: JsonObject = {"error": {"code": code, "message": "It went wrong.", "status": "X"}}
    with pytest.raises(error, match=r"It went wrong\."):
        gemini.GeminiStream().feed(event)


KEYS = (
    "candidates", "content", "parts", "text", "thought", "functionCall", "name", "args", "id",
    "finishReason", "finishMessage", "usageMetadata", "promptFeedback", "promptTokenCount",
)  # fmt: skip
PARTS = st.lists(odd(KEYS, "STOP"), max_size=3)
ODD = odd(KEYS, "STOP") | PARTS.map(lambda parts: chunk(*parts))


@quick(100)
@given(ODD, st.lists(ODD, max_size=4))
def test_whatever_comes_is_read_and_can_be_sent_back(whole: JsonObject, events: Any) -> None:
    stream = gemini.GeminiStream()
    answers: list[Answered] = []
    try:
        answers.append(gemini.read(whole))
        for event in events:
            stream.feed(event).encode()
        answers.append(stream.answer())
    except ModelFailed:
        pass
    for answer in answers:
        answer.text.encode()
        as_bytes(gemini.body(Request(model="m", messages=(Said(text="Hi"), answer))))


def test_arguments_nested_too_deeply_do_not_break_what_follows() -> None:
    deep = nested_in(600, wrap=lambda value: {"a": value})
    answer = gemini.read(chunk({"functionCall": {"name": "look", "args": deep}}))
    (sent,) = parts(Said(text="Hi"), answer)
    assert list(sent["functionCall"]["args"]) == ["_malformed"]
