"""What the scripted Messages API takes, and what it refuses."""

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.models.script import Call, Say, Search, Turn
from tests.models.server import ModelServer, scripted

SCHEMA = {"type": "object"}
TOOLS = [{"name": "tool_search", "input_schema": SCHEMA}, {"name": "add", "input_schema": SCHEMA}]
DEFERRED = [TOOLS[0], {**TOOLS[1], "defer_loading": True}]
HEADERS = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
USER = {"role": "user", "content": "hello"}
SPOT = {"cache_control": {"type": "ephemeral"}}
SOME = {"type": "text", "text": "well"}


def asked(*ids: str, name: str = "add", given: Any = None) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": one, "name": name, "input": {} if given is None else given}
            for one in ids
        ],
    }


def told(*ids: str, content: Any = "3") -> dict[str, Any]:
    results = [{"type": "tool_result", "tool_use_id": one, "content": content} for one in ids]
    return {"role": "user", "content": results}


def found(*names: str) -> list[dict[str, Any]]:
    return [{"type": "tool_reference", "tool_name": name} for name in names]


@pytest.fixture(scope="module")
def silent() -> Iterator[ModelServer]:
    with scripted() as server:
        yield server


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown field", {"max_token": 3}, "max_token: Extra inputs are not permitted"),
    ("no room to answer", {"max_tokens": 0}, "max_tokens: Input should be greater"),
    ("no messages", {"messages": []}, "messages: at least one message is required"),
    ("an answer first", {"messages": [asked("a"), told("a")]}, 'must use the "user" role'),
    (
        "an answer last",
        {"messages": [USER, {"role": "assistant", "content": "I"}]},
        "must end with a user message",
    ),
    ("a tool role", {"messages": [{"role": "tool", "content": "a"}]}, "messages.0.role"),
    (
        "empty text",
        {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]},
        "text content blocks must be non-empty",
    ),
    ("empty content", {"messages": [{"role": "user", "content": []}]}, "non-empty content"),
    (
        "a call left open",
        {"messages": [USER, asked("a", "b"), told("a")]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b",
    ),
    (
        "a call answered after other words",
        {
            "messages": [
                USER,
                asked("a"),
                {"role": "user", "content": [SOME, *told("a")["content"]]},
            ]
        },
        "without `tool_result` blocks immediately after: a",
    ),
    (
        "an answer to nothing",
        {"messages": [USER, asked("a"), told("a", "b")]},
        "unexpected `tool_use_id` found in `tool_result` blocks: b",
    ),
    ("one id twice", {"messages": [USER, asked("a", "a"), told("a")]}, "ids must be unique"),
    (
        "a bad name",
        {"messages": [USER, asked("a", name="a.b"), told("a")]},
        "messages.1.content.0.tool_use.name: String should match pattern",
    ),
    (
        "input as text",
        {"messages": [USER, asked("a", given="{}"), told("a")]},
        "tool_use.input: Input should be a valid dictionary",
    ),
    (
        "an unknown field in a block",
        {"messages": [{"role": "user", "content": [{**SOME, "parsed_output": None}]}]},
        "messages.0.content.0.text.parsed_output: Extra inputs are not permitted",
    ),
    ("a choice without tools", {"tool_choice": {"type": "auto"}, "tools": None}, "tool_choice"),
    ("a tool without a schema", {"tools": [{"name": "a"}]}, "input_schema: Field required"),
    (
        "a tool with a bad name",
        {"tools": [{"name": "a b", "input_schema": SCHEMA}]},
        "tools.0.custom.name: String should match pattern",
    ),
    ("two tools of one name", {"tools": [TOOLS[0], TOOLS[0]]}, "Tool names must be unique"),
    (
        "a choice at the top of a schema",
        {"tools": [{"name": "a", "input_schema": {"type": "object", "anyOf": []}}]},
        "does not support oneOf, allOf, or anyOf at the top level",
    ),
    ("everything deferred", {"tools": DEFERRED[1:]}, "At least one tool must have defer_loading"),
    (
        "a breakpoint on a deferred tool",
        {"tools": [DEFERRED[0], {**DEFERRED[1], **SPOT}]},
        "Tool 'add' cannot have both defer_loading=true and cache_control set",
    ),
    (
        "a reference to nothing",
        {"messages": [USER, asked("a"), told("a", content=found("sub"))], "tools": DEFERRED},
        "Tool reference 'sub' not found in available tools",
    ),
    (
        "five breakpoints",
        {"messages": [{"role": "user", "content": [{**SOME, **SPOT}] * 5}]},
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_anthropic_refuses_is_refused(
    silent: ModelServer, change: dict[str, Any], message: str
) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [USER], "tools": TOOLS, **change}
    answer = httpx2.post(f"{silent.url}/v1/messages", json=body, headers=HEADERS)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert message in error["message"]


def test_the_version_header_is_needed(silent: ModelServer) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [USER]}
    answer = httpx2.post(f"{silent.url}/v1/messages", json=body, headers={"x-api-key": "key"})
    assert answer.status_code == 400
    assert "anthropic-version" in answer.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tools": DEFERRED}, "tools.1.custom.defer_loading: Extra inputs are not permitted"),
        (
            {"messages": [USER, asked("a"), told("a", content=found("add"))]},
            "Input tag 'tool_reference' found using 'type' does not match",
        ),
    ],
)
def test_an_older_endpoint_refuses_deferral(change: dict[str, Any], message: str) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [USER], "tools": TOOLS, **change}
    with scripted(native=False) as server:
        answer = httpx2.post(f"{server.url}/v1/messages", json=body, headers=HEADERS)
    assert answer.status_code == 400
    assert message in server.refusals[0].message


async def converse(
    server: ModelServer, replies: list[Any], *, streamed: bool = False
) -> list[dict[str, Any]]:
    """Answer each turn's calls with the next of the replies, and send everything back."""
    tools: Any = DEFERRED
    messages: list[Any] = [{"role": "user", "content": [{**SOME, **SPOT}]}]
    usage: list[dict[str, Any]] = []
    async with AsyncAnthropic(base_url=server.url, api_key="key") as client:
        api: Any = client.messages
        for reply in [*replies, None]:
            asked = {"model": "m", "max_tokens": 9, "messages": messages, "tools": tools}
            if streamed:
                async with api.stream(**asked) as stream:
                    answer = await stream.get_final_message()
            else:
                answer = await api.create(**asked)
            usage.append(answer.usage.model_dump())
            uses = [block.id for block in answer.content if block.type == "tool_use"]
            blocks = [block.model_dump(exclude_none=True) for block in answer.content]
            messages += [{"role": "assistant", "content": blocks}, told(*uses, content=reply)]
    return usage


NATIVE = [
    Turn("Let me look.", [Search("sums")], reasoning="which tool is it?"),
    Turn(calls=[Call("add", {"a": 1}), Call("add", {"a": 2})], reasoning="this one"),
    Say("3"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_deferred_tool_can_be_called_after_a_reference_to_it(streamed: bool) -> None:
    with scripted(*NATIVE) as server:
        usage = await converse(server, [found("add"), "1"], streamed=streamed)
    assert not server.refusals
    assert [sorted(seen.names) for seen in server.seen] == [
        ["tool_search"],
        ["add", "tool_search"],
        ["add", "tool_search"],
    ]
    assert [result.text for result in server.seen[-1].results] == ["add", "1", "1"]
    thoughts = server.seen[-1].json["messages"][1]["content"][0]
    assert thoughts["thinking"] == "which tool is it?"
    read = [one["cache_read_input_tokens"] for one in usage]
    assert read[0] == 0
    assert read[1] < read[2]


@pytest.mark.anyio
async def test_a_deferred_tool_cannot_be_called_before() -> None:
    with scripted(Call("add")) as server:
        with pytest.raises(anthropic.BadRequestError, match="the model was shown tool_search"):
            await converse(server, [])
        server.mistakes.clear()


def test_a_thought_must_come_back_as_it_was() -> None:
    headers = {**HEADERS, "content-type": "application/json"}
    body: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [USER], "tools": TOOLS}
    with scripted(Turn(calls=[Call("add", id="a")], reasoning="so")) as server:
        content = httpx2.post(f"{server.url}/v1/messages", json=body, headers=headers).json()
        content["content"][0]["thinking"] += "!"
        body["messages"] += [{"role": "assistant", "content": content["content"]}, told("a")]
        answer = httpx2.post(f"{server.url}/v1/messages", json=body, headers=headers)
    assert answer.status_code == 400
    assert "Invalid `signature` in `thinking` block" in answer.text


@pytest.mark.anyio
async def test_nothing_is_cached_where_no_breakpoint_asks_for_it() -> None:
    with scripted(Say("yes"), Say("yes")) as server:
        async with AsyncAnthropic(base_url=server.url, api_key="key") as client:
            answers = [
                await client.messages.create(
                    model="m", max_tokens=9, messages=[{"role": "user", "content": "hello"}]
                )
                for _ in range(2)
            ]
    assert [answer.usage.cache_read_input_tokens for answer in answers] == [0, 0]


@pytest.mark.anyio
async def test_malformed_arguments_are_streamed_as_they_are() -> None:
    with scripted(Call("add", raw='{"a": [1, ')) as server:
        async with AsyncAnthropic(base_url=server.url, api_key="key") as client:
            tools: Any = TOOLS
            messages: Any = [USER]
            stream = await client.messages.create(
                model="m", max_tokens=9, messages=messages, tools=tools, stream=True
            )
            parts = [
                event.delta.partial_json
                async for event in stream
                if event.type == "content_block_delta" and event.delta.type == "input_json_delta"
            ]
    assert "".join(parts) == '{"a": [1, '


@pytest.mark.anyio
async def test_models_are_listed() -> None:
    with scripted(known_models={"small", "big"}) as server:
        async with AsyncAnthropic(base_url=server.url, api_key="key") as client:
            assert [model.id async for model in client.models.list()] == ["big", "small"]
