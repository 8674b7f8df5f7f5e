"""What is sent to the Responses API, held against the types of OpenAI's own SDK."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from tests.golden import conversations
from tests.golden.conversations import PIXEL
from tests.properties.strategies import quick
from tests.requirements import requirement
from tests.wire.checked import check
from tests.wire.growing import FOUND, conversation, grows, request, steps
from tests.wire.items import (
    CALL,
    FUNCTION,
    MESSAGE,
    NAMES,
    PARAMS,
    PICTURE,
    REASONING,
    SEARCH,
    SEARCHING,
    TOOL,
    answered,
    body,
    response,
    returned,
    sent,
)
from tooldrawer.bridge.schemas import BridgeNames, bridge_tools, native_search
from tooldrawer.call import ToolResult, text_block
from tooldrawer.tool import Json, Tool
from tooldrawer.wire import responses
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
@pytest.mark.parametrize("native", [False, True])
def test_a_conversation_has_the_bytes_that_were_written_down(native: bool) -> None:
    now = conversations.written(responses.body, native=native)
    name = "responses-native" if native else "responses"
    assert now == conversations.file(name).read_bytes(), (
        "If the bytes were meant to change: python -m tests.golden.write_conversations"
    )
    check(PARAMS, json.loads(now))


@requirement("CACHE-3")
@pytest.mark.parametrize("native", [False, True])
@quick(60)
@given(done=steps())
def test_a_request_begins_with_the_one_before_it(done: Any, native: bool) -> None:
    bodies = [
        responses.body(request(each, native=native))
        for each in conversation(done, answered, responses.read)
    ]
    for one, other in pairwise(bodies):
        assert grows(one, other)
    for each in bodies:
        check(PARAMS, each)


@requirement("CACHE-2")
def test_what_searches_find_leaves_the_array_as_it_is() -> None:
    tools = (Tool(name="look"), native_search(NAMES))
    result = returned(ToolResult(tools=FOUND), SEARCH)
    before = body(Said(text="Hi"), tools=tools, native=True)
    after = body(Said(text="Hi"), Answered(calls=(SEARCH,)), result, tools=tools, native=True)
    assert before["tools"] == after["tools"]


def test_nothing_is_kept_by_the_provider_and_what_grows_is_last() -> None:
    made = body(Said(text="Hi"), system="Be brief.", tools=(TOOL,), max_output=9)
    assert list(made) == [
        "model", "store", "include", "max_output_tokens", "tools", "instructions", "input",
    ]  # fmt: skip
    assert made["store"] is False
    assert made["include"] == ["reasoning.encrypted_content"]
    assert made["instructions"] == "Be brief."
    assert made["input"] == [{"role": "user", "content": "Hi"}]


def test_without_tools_and_system_nothing_is_said_about_them() -> None:
    assert list(body(Said(text="Hi"))) == ["model", "store", "include", "input"]


def test_a_tool_is_flat_and_strict_only_when_it_says_so_itself() -> None:
    strict = Tool.from_openai({"type": "function", "name": "s", "parameters": {}, "strict": True})
    assert responses.tools([TOOL, strict]) == [
        {
            "type": "function",
            "name": "found",
            "description": "Found.",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
        {
            "type": "function",
            "name": "s",
            "parameters": {"type": "object", "properties": {}},
            "strict": True,
        },
    ]


def test_native_search_is_the_providers_own_kind() -> None:
    names = BridgeNames(search="find")
    rows: Any = responses.tools(
        [TOOL, native_search(names)], native=True, learned=[TOOL, FOUND[0]], search="find"
    )
    assert [row["type"] for row in rows] == ["function", "tool_search", "function"]
    assert rows[1] == {
        "type": "tool_search",
        "execution": "client",
        "description": native_search(names).description,
        "parameters": native_search(names).parameters,
    }
    assert rows[2]["name"] == FOUND[0].name
    assert "defer_loading" not in rows[2]


@pytest.mark.parametrize("native", [False, True])
def test_what_a_summary_carries_is_in_the_array_only_when_native(native: bool) -> None:
    bridge = (native_search(NAMES),) if native else bridge_tools(NAMES)
    made = body(Summary(text="So far.", tools=(TOOL,)), tools=bridge, native=native)
    assert (made["tools"][-1].get("name") == "found") is native
    assert made["input"] == [{"role": "user", "content": "So far."}]


# --- searches -------------------------------------------------------------------------------


def test_a_search_is_answered_with_definitions() -> None:
    answer = responses.read(response(REASONING, SEARCHING))
    assert answer.calls == (SEARCH,)
    found = ToolResult(content=(text_block('{"matches":[{"name":"found"}]}'),), tools=(TOOL,))
    items = sent(answer, returned(found, SEARCH), native=True)
    assert items[:2] == [REASONING, SEARCHING]
    assert items[2:] == [
        {
            "type": "tool_search_output",
            "call_id": "call_s",
            "execution": "client",
            "status": "completed",
            "tools": [{**_row(TOOL), "defer_loading": True}],
        }
    ]


def _row(tool: Tool) -> Any:
    (row,) = responses.tools([tool])
    return row


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (ToolResult.of_json({"matches": [], "hint": "Ask anew."}), "Ask anew."),
        (ToolResult.of_text("No more results.", is_error=True), "Error: No more results."),
        (
            replace(ToolResult.of_json({"matches": [1], "advice": "Call one."}), tools=(TOOL,)),
            'Reply to the search {"query":"x"}: Call one.',
        ),
    ],
)
def test_what_a_search_says_comes_after_all_outputs(result: ToolResult, told: str) -> None:
    replies = (Reply(call=SEARCH, result=result), Reply(call=CALL, result=ToolResult.of_text("a")))
    answer = responses.read(response(SEARCHING, FUNCTION))
    items = sent(answer, Returned(replies=replies), native=True)
    assert [item.get("type") for item in items[2:4]] == [
        "tool_search_output",
        "function_call_output",
    ]
    assert items[4]["role"] == "developer"
    assert told in items[4]["content"]
    assert items[2]["tools"] == [{**_row(tool), "defer_loading": True} for tool in result.tools]


def test_a_tool_that_is_there_already_is_not_loaded_again() -> None:
    result = ToolResult(tools=(TOOL, FOUND[0]))
    answer = responses.read(response(SEARCHING))
    items = sent(answer, returned(result, SEARCH), tools=(TOOL,), native=True)
    assert [tool["name"] for tool in items[1]["tools"]] == [FOUND[0].name]
    assert "found" in items[2]["content"]


def test_a_native_search_becomes_a_call_of_the_bridge_elsewhere() -> None:
    answer = responses.read(response(REASONING, MESSAGE, SEARCHING))
    items = sent(answer, returned(ToolResult.of_text("{}"), SEARCH), search="find")
    assert items == [
        {"role": "assistant", "content": "Hi"},
        {
            "type": "function_call",
            "call_id": "call_s",
            "name": "find",
            "arguments": '{"query":"x"}',
        },
        {"type": "function_call_output", "call_id": "call_s", "output": "{}"},
    ]


def test_a_search_of_another_wire_that_found_tools_becomes_the_providers_own() -> None:
    search = replace(SEARCH, native=False)
    use = Asked(name="found", arguments={}, id="call_f")
    items = sent(
        Answered(calls=(search,), wire="anthropic"),
        returned(ToolResult(tools=(TOOL,)), search),
        Answered(calls=(use,), wire="anthropic"),
        native=True,
    )
    assert [item["type"] for item in items] == [
        "tool_search_call",
        "tool_search_output",
        "function_call",
    ]
    assert items[2]["namespace"] == "found"


def test_a_namespace_goes_back_where_it_is_known_and_nowhere_else() -> None:
    answer = responses.read(response({**FUNCTION, "namespace": "look"}))
    assert sent(answer, native=True)[0]["namespace"] == "look"
    assert sent(answer) == [FUNCTION]


def test_an_older_call_of_a_tool_that_is_loaded_now_says_where_it_is() -> None:
    called = responses.read(response({**FUNCTION, "name": "found"}))
    result = returned(ToolResult.of_text("Done."))
    loaded = (Answered(calls=(SEARCH,)), returned(ToolResult(tools=(TOOL,)), SEARCH))
    assert "namespace" not in sent(called, result, native=True)[0]
    assert sent(called, result, *loaded, native=True)[0]["namespace"] == "found"


def test_a_tool_that_is_in_the_array_is_called_in_no_namespace() -> None:
    called = responses.read(response({**FUNCTION, "name": "found", "namespace": "found"}))
    summary = Summary(text="So far.", tools=(TOOL,))
    assert "namespace" not in sent(summary, called, native=True)[1]
    assert "namespace" not in sent(called, native=True, tools=(TOOL,))[0]


def test_a_search_that_the_provider_ran_itself_is_no_call() -> None:
    item = {**SEARCHING, "execution": "server", "call_id": None}
    answer = responses.read(response(item, MESSAGE))
    assert answer.calls == ()
    assert len(answer.raw) == 2


# --- results --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (ToolResult.of_text("done"), "done"),
        (ToolResult.of_text("no", is_error=True), "Error: no"),
        (ToolResult(structured={"a": 1}), '{"a":1}'),
        (ToolResult(), "(no content)"),
        (
            ToolResult(content=(text_block("See:"), PICTURE)),
            [
                {"type": "input_text", "text": "See:"},
                {
                    "type": "input_image",
                    "image_url": f"data:image/png;base64,{PIXEL}",
                    "detail": "auto",
                },
            ],
        ),
        (
            ToolResult(
                content=(
                    {
                        "type": "resource",
                        "resource": {"uri": "file:///a/b.pdf", "blob": "JVBERi0xLjQK"},
                    },
                    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                ),
                is_error=True,
            ),
            [
                {"type": "input_text", "text": "Error:"},
                {
                    "type": "input_file",
                    "filename": "b.pdf",
                    "file_data": "data:application/pdf;base64,JVBERi0xLjQK",
                },
                {"type": "input_text", "text": "[audio, audio/wav, 3 bytes]"},
            ],
        ),
    ],
)
def test_a_result_is_text_or_parts(result: ToolResult, output: Json) -> None:
    expected = {"type": "function_call_output", "call_id": "call_1", "output": output}
    assert sent(returned(result)) == [expected]
    assert responses.results([Reply(call=CALL, result=result)]) == [expected]


def test_a_loop_of_ones_own_answers_searches_in_their_kind() -> None:
    (call,) = responses.calls(response(SEARCHING))
    rows = responses.results([Reply(call=call, result=ToolResult(tools=(TOOL,)))])
    assert [row["type"] for row in rows] == ["tool_search_output"]


def test_results_may_be_given_one_by_one() -> None:
    replies = [Reply(call=call, result=ToolResult.of_text("x")) for call in (CALL, SEARCH)]
    assert responses.results(iter(replies)) == responses.results(replies) != []


def test_calls_of_others_get_ids_that_are_taken() -> None:
    long = replace(CALL, id="call_" + "x" * 100)
    own = responses.read(response({**FUNCTION, "call_id": "call_1"}))
    items = sent(
        Said(text="Look."),
        *(Answered(calls=(CALL,)), returned(ToolResult.of_text("one"))),
        *(Answered(calls=(long,)), returned(ToolResult.of_text("two"), long)),
        *(own, returned(ToolResult.of_text("three"), own.calls[0])),
    )
    asked = [item["call_id"] for item in items if item.get("type") == "function_call"]
    given = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert asked == given == ["call_1", asked[1], "call_1_2"]
    assert len(asked[1]) <= 64
