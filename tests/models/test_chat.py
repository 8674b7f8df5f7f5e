"""What the scripted Chat Completions takes, and what it refuses."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI

from tests.models.script import Call, Say, Turn
from tests.models.server import ModelServer, scripted

TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
USER = {"role": "user", "content": "hello"}


def asked(*ids: str, arguments: Any = "{}", name: str = "add") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    calls = [{"id": one, "type": "function", "function": function} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(call_id: str, content: Any = "3") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.fixture(scope="module")
def silent() -> Iterator[ModelServer]:
    with scripted() as server:
        yield server


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown field", {"max_token": 3}, "Unknown parameter: 'max_token'."),
    ("no messages", {"messages": []}, "Invalid 'messages': empty array"),
    ("a strange role", {"messages": [{"role": "model", "content": "a"}]}, "Invalid value: 'model'"),
    ("no content", {"messages": [{"role": "user"}]}, "expected one of a string or array"),
    (
        "a picture in a tool message",
        {"messages": [USER, asked("a"), told("a", [{"type": "image_url", "image_url": {}}])]},
        "Invalid value: 'image_url'",
    ),
    ("options of a stream without it", {"stream_options": {}}, "only allowed when 'stream'"),
    ("a choice without tools", {"tool_choice": "auto", "tools": None}, "'tools' are specified"),
    ("an empty array", {"tools": []}, "[] is too short - 'tools'"),
    ("too many tools", {"tools": [TOOL] * 129}, "maximum length 128"),
    ("deferral", {"tools": [{**TOOL, "defer_loading": True}]}, "'tools[0].defer_loading'"),
    (
        "a bad name",
        {"tools": [{"type": "function", "function": {"name": "a.b"}}]},
        "Invalid 'tools[0].function.name': string does not match pattern",
    ),
    (
        "a long name",
        {"tools": [{"type": "function", "function": {"name": "a" * 65}}]},
        "string too long",
    ),
    (
        "a schema of no object",
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"a": 1}}}]},
        "Invalid schema for function 'a'",
    ),
    ("a call left open", {"messages": [USER, asked("a")]}, "did not have response messages: a"),
    (
        "a call answered too late",
        {"messages": [USER, asked("a", "b"), told("a"), USER, told("b")]},
        "did not have response messages: b",
    ),
    (
        "an answer to nothing",
        {"messages": [USER, told("a")]},
        "must be a response to a preceeding message",
    ),
    (
        "an answer twice",
        {"messages": [USER, asked("a"), told("a"), told("a")]},
        "must be a response to a preceeding message",
    ),
    (
        "arguments as an object",
        {"messages": [USER, asked("a", arguments={}), told("a")]},
        "arguments': expected a string, but got an object",
    ),
    (
        "a call without a name",
        {"messages": [USER, asked("a", name=""), told("a")]},
        "Missing required parameter: 'messages[1].tool_calls[0].function.name'",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_openai_refuses_is_refused(
    silent: ModelServer, change: dict[str, Any], message: str
) -> None:
    body = {"model": "m", "messages": [USER], "tools": [TOOL], **change}
    answer = httpx2.post(
        f"{silent.url}/v1/chat/completions", json=body, headers={"authorization": "Bearer key"}
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert message in error["message"]


def test_a_body_that_is_no_json_is_refused(silent: ModelServer) -> None:
    answer = httpx2.post(f"{silent.url}/v1/chat/completions", content=b"\xff{")
    assert answer.status_code == 400
    assert "could not parse the JSON body" in answer.text


@pytest.mark.anyio
async def test_messages_of_the_library_can_be_sent_back_as_they_are() -> None:
    steps = [Turn("I look.", [Call("add", {"a": "\\"}), Call("add")]), Say("3")]
    tools: Any = [TOOL]
    messages: list[Any] = [USER]
    with scripted(*steps) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key") as client:
            first = await client.chat.completions.create(model="m", messages=messages, tools=tools)
            message = first.choices[0].message
            messages += [message, *(told(call.id) for call in message.tool_calls or ())]
            last = await client.chat.completions.create(model="m", messages=messages, tools=tools)
    assert last.choices[0].message.content == "3"
    assert [result.text for result in server.seen[-1].results] == ["3", "3"]
    assert first.usage is not None
    assert last.usage is not None
    details = last.usage.prompt_tokens_details
    assert details is not None
    assert details.cached_tokens == first.usage.prompt_tokens


@pytest.mark.anyio
async def test_arguments_are_torn_inside_escapes() -> None:
    with scripted(Call("add", {"a": 'one\n"two"\\'})) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key") as client:
            messages: Any = [USER]
            tools: Any = [TOOL]
            stream = await client.chat.completions.create(
                model="m", messages=messages, tools=tools, stream=True
            )
            deltas = [chunk.choices[0].delta.tool_calls or [] async for chunk in stream]
    parts = [call.function.arguments for (call,) in filter(None, deltas) if call.function]
    assert any(part and part.endswith("\\") for part in parts)


@pytest.mark.anyio
async def test_models_are_listed() -> None:
    with scripted(known_models={"small", "big"}) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key") as client:
            assert [model.id async for model in client.models.list()] == ["big", "small"]
