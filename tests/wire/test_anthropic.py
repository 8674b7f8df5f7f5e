"""What is sent to Anthropic's Messages API, held against its own SDK's types."""

import json
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden import conversations
from tests.golden.conversations import PIXEL
from tests.properties.strategies import quick
from tests.requirements import requirement
from tests.wire.anthropic_bodies import (
    CALL,
    PARAMS,
    SEARCH,
    TOOL,
    assert_taken,
    body,
    content,
    response,
    returned,
    used,
)
from tests.wire.checked import check
from tests.wire.growing import as_bytes, conversation, grows, request, steps
from tooldrawer.call import ToolResult, text_block
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire import anthropic
from tooldrawer.wire.message import Answered, Reply, Returned, Said, Summary


@requirement("CACHE-1")
@pytest.mark.parametrize("native", [False, True])
def test_a_conversation_has_the_bytes_that_were_written_down(native: bool) -> None:
    name = "anthropic-native" if native else "anthropic"
    bytes_now = conversations.written(anthropic.body, native=native)
    assert bytes_now == conversations.file(name).read_bytes()
    check(PARAMS, json.loads(bytes_now))


@requirement("CACHE-3")
@quick(40)
@given(steps())
def test_a_request_begins_with_the_one_before_it(done: Any) -> None:
    bodies = [anthropic.body(request(each)) for each in conversation(done, used, anthropic.read)]
    assert all(grows(one, other) for one, other in pairwise(bodies))


@requirement("CACHE-2")
@quick(40)
@given(steps())
def test_found_tools_are_added_at_the_end_and_change_nothing_before_them(done: Any) -> None:
    bodies: list[Any] = [
        anthropic.body(request(each, native=True))
        for each in conversation(done, used, anthropic.read)
    ]
    for one, other in pairwise(bodies):
        assert grows(one["messages"], other["messages"])
        assert grows(one["tools"], other["tools"])
        assert _prompt(one) == _prompt(other)
    for each in bodies:
        names = [tool["name"] for tool in each["tools"]]
        assert len(set(names)) == len(names)
        assert set(_references(each)) <= set(names)


@quick(50)
@given(steps(), st.booleans())
def test_no_conversation_makes_a_request_that_the_api_refuses(done: Any, native: bool) -> None:
    for messages in conversation(done, used, anthropic.read):
        made: Any = anthropic.body(request(messages, native=native))
        assert_taken(made)


def _prompt(made: Any) -> Json:
    """What the model is shown before the first message."""
    shown = [tool for tool in made["tools"] if not tool.get("defer_loading")]
    rest = {key: value for key, value in made.items() if key not in ("tools", "messages")}
    return [shown, rest]


def _references(made: Any) -> list[str]:
    found = json.loads(as_bytes(made["messages"]))
    return [
        part["tool_name"]
        for message in found
        for block in message["content"]
        if block["type"] == "tool_result"
        for part in block["content"]
        if part["type"] == "tool_reference"
    ]


def test_the_marks_for_the_cache_stand_where_nothing_moves() -> None:
    made = body(Said(text="Hi"), tools=(TOOL,), system="Be brief.")
    assert list(made) == ["model", "max_tokens", "cache_control", "tools", "system", "messages"]
    mark = {"type": "ephemeral"}
    assert made["cache_control"] == mark
    assert made["system"] == [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    assert as_bytes(made).count(b"cache_control") == 2


def test_without_tools_and_system_there_is_no_such_field() -> None:
    assert body(Said(text="Hi"), max_output=5) == {
        "model": "model-1",
        "max_tokens": 5,
        "cache_control": {"type": "ephemeral"},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }


def test_a_tool_stays_as_it_was_found_first() -> None:
    older, newer = (Tool(name="found", description=text) for text in ("Old.", "New."))
    turns = [
        message
        for tool in (older, newer)
        for message in (
            Answered(calls=(SEARCH,)),
            returned(ToolResult(content=(text_block('{"matches":[]}'),), tools=(tool,)), SEARCH),
        )
    ]
    made = body(Said(text="Hi"), *turns, tools=(TOOL,), native=True)
    assert [tool["description"] for tool in made["tools"]] == ["Found."]
    made = body(Said(text="Hi"), *turns, tools=(Tool(name="tool_search"),), native=True)
    assert [tool.get("description") for tool in made["tools"]] == ["", "Old."]
    assert made["tools"][1]["defer_loading"] is True


def test_tools_of_a_summary_are_shown_in_full_before_those_found_since() -> None:
    found = returned(ToolResult.of_text("{}"), SEARCH)
    more = returned(ToolResult(tools=(Tool(name="new"), TOOL)), SEARCH)
    made = body(
        Summary(text="Before.", tools=(TOOL,)),
        Answered(calls=(SEARCH,)),
        found,
        Answered(calls=(SEARCH,)),
        more,
        tools=(Tool(name="tool_search"),),
        native=True,
    )
    shown = [(tool["name"], tool.get("defer_loading", False)) for tool in made["tools"]]
    assert shown == [("tool_search", False), ("found", False), ("new", True)]


def test_a_direct_tool_is_shown_once_and_as_it_is_now() -> None:
    now, then = (Tool(name="found", description=text) for text in ("Now.", "Then."))
    search = returned(ToolResult(tools=(then,)), SEARCH)
    talk = (Summary(text="Before.", tools=(then,)), Answered(calls=(SEARCH,)), search)
    made = body(*talk, tools=(now,), native=True)
    assert [tool["description"] for tool in made["tools"]] == ["Now."]


def test_an_array_is_never_deferred_whole() -> None:
    assert anthropic.tools((), native=True, learned=(TOOL,)) == [anthropic.render(TOOL)]


def test_a_deferred_tool_loses_its_mark_for_the_cache() -> None:
    marked = Tool.from_anthropic(
        {"name": "m", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
    )
    direct, deferred = (
        anthropic.tools((TOOL, marked)),
        anthropic.tools((TOOL,), native=True, learned=(marked,)),
    )
    assert "cache_control" in cast("JsonObject", direct[1])
    assert deferred[1] == {"name": "m", "input_schema": {"type": "object"}, "defer_loading": True}


def test_what_a_search_says_besides_is_said_after_all_results() -> None:
    reply: JsonObject = {
        "results": [
            {"matches": [], "hint": "Other words."},
            {"matches": [], "note": "One is down."},
        ],
        "advice": "Call something.",
    }
    result = ToolResult(
        content=(text_block(json.dumps(reply)), text_block("A hook's word.")), tools=(TOOL,)
    )
    message = Returned(
        replies=(
            Reply(call=SEARCH, result=result),
            Reply(call=CALL, result=ToolResult.of_text("done")),
        )
    )
    asked = Answered(calls=(SEARCH, CALL))
    sent = content(Said(text="Hi"), asked, message, tools=(TOOL,), native=True)
    assert [block["type"] for block in sent] == ["tool_result", "tool_result", "text"]
    assert sent[0]["content"] == [{"type": "tool_reference", "tool_name": "found"}]
    assert sent[2]["text"].splitlines() == [
        "Other words.",
        "One is down.",
        "Call something.",
        "A hook's word.",
    ]


def test_a_search_is_its_text_where_nothing_is_found_or_nothing_is_native() -> None:
    text = '{"matches":[],"hint":"Other words."}'
    nothing = returned(ToolResult.of_text(text), SEARCH)
    something = returned(ToolResult(content=(text_block(text),), tools=(TOOL,)), SEARCH)
    asked = (Said(text="Hi"), Answered(calls=(SEARCH,)))
    for message, native in ((nothing, True), (something, False)):
        (sent,) = content(*asked, message, tools=(TOOL,), native=native)
        assert sent["content"] == [{"type": "text", "text": text}]
    made = body(*asked, something, tools=(TOOL,), native=False)
    assert "defer_loading" not in json.dumps(made)


def test_messages_of_the_person_in_a_row_are_not_put_together() -> None:
    made = body(Said(text="One"), Said(text="Two"))
    assert [message["content"][0]["text"] for message in made["messages"]] == ["One", "Two"]


def test_a_result_keeps_its_pictures_and_documents() -> None:
    result = ToolResult(
        content=(
            text_block("Here:"),
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            {"type": "image", "data": "AAAA", "mimeType": "image/tiff"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "JVBERi0x"}},
        )
    )
    (sent,) = content(Said(text="Hi"), Answered(calls=(CALL,)), returned(result))
    kinds = [part["type"] for part in sent["content"]]
    assert kinds == ["text", "image", "text", "text", "document"]
    assert sent["content"][1]["source"]["data"] == PIXEL
    assert "image/tiff" in sent["content"][2]["text"]
    assert "is_error" not in sent


def test_an_error_holds_text_only_and_its_picture_follows() -> None:
    picture: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    result = ToolResult(content=(text_block("No."), picture), is_error=True)
    sent = content(Said(text="Hi"), Answered(calls=(CALL,)), returned(result))
    assert [block["type"] for block in sent] == ["tool_result", "image"]
    assert sent[0]["is_error"] is True
    assert {part["type"] for part in sent[0]["content"]} == {"text"}


def test_a_picture_that_is_too_large_is_named_instead() -> None:
    data = "iVBORw0KGgoA" + "AAAA" * (5 * 1024 * 1024 // 4)
    result = ToolResult(content=({"type": "image", "data": data, "mimeType": "image/png"},))
    (sent,) = content(Said(text="Hi"), Answered(calls=(CALL,)), returned(result))
    assert sent["content"][0]["type"] == "text"


def test_nothing_is_sent_without_content() -> None:
    made = body(
        Said(text=" "),
        Answered(),
        Said(text=""),
        anthropic.read(response({"type": "text", "text": ""})),
        Summary(text=""),
        Answered(calls=(CALL,)),
        returned(ToolResult()),
        Answered(),
        Returned(replies=()),
    )
    for message in made["messages"]:
        for block in message["content"]:
            texts = [block] if block["type"] == "text" else block.get("content", [])
            assert all(part["text"].strip() for part in texts)


def test_a_schema_that_would_be_refused_is_loosened() -> None:
    choices: JsonObject = {
        "anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}],
        "required": ["StartTime<"],
        "properties": {"StartTime<": {"type": "string"}},
        "additionalProperties": False,
    }
    (entry,) = cast("list[Any]", anthropic.tools([Tool(name="t", parameters=choices)]))
    assert entry["input_schema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {}},
        "required": [],
        "description": "Takes these parameters too: StartTime<.",
    }
