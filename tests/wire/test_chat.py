"""What is sent to Chat Completions, held against the types of OpenAI's own SDK."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from tests.golden import conversations
from tests.golden.conversations import PIXEL
from tests.properties.strategies import quick
from tests.requirements import requirement
from tests.wire.checked import check
from tests.wire.completions import (
    CALL,
    PARAMS,
    PICTURE,
    answered,
    body,
    called,
    response,
    returned,
    sent,
)
from tests.wire.growing import conversation, grows, request, steps
from tooldrawer.call import ToolResult, text_block
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire import chat
from tooldrawer.wire.message import (
    Answered,
    Asked,
    Reply,
    Returned,
    Said,
    Summary,
)

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
    for one, other in pairwise(bodies):
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
    rows: Any = chat.tools([Tool(name="a")])
    assert rows[0]["function"]["name"] == "a"
