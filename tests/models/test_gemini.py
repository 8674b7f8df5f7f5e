"""What the scripted Gemini takes, and what it refuses."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from google.genai import Client
from google.genai.types import (
    Content,
    FunctionDeclaration,
    GenerateContentConfig,
    GenerateContentResponse,
    Part,
    Tool,
)

from tests.models.script import Call, Say, Turn
from tests.models.server import ModelServer, scripted

HEADERS = {"x-goog-api-key": "key"}
USER = {"role": "user", "parts": [{"text": "hello"}]}
ADD = {"name": "add", "parametersJsonSchema": {"type": "object"}}


def asked(*names: str, **fields: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {}
    parts = [{"functionCall": {"name": name, "args": nothing}, **fields} for name in names]
    return {"role": "model", "parts": parts}


def told(*names: str, response: Any = None) -> dict[str, Any]:
    given = {"output": "3"} if response is None else response
    parts = [{"functionResponse": {"name": name, "response": given}} for name in names]
    return {"role": "user", "parts": parts}


@pytest.fixture(scope="module")
def silent() -> Iterator[ModelServer]:
    with scripted() as server:
        yield server


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown field", {"messages": []}, 'Unknown name "messages"'),
    ("no contents", {"contents": []}, "contents is not specified"),
    ("a strange role", {"contents": [{**USER, "role": "assistant"}]}, "use a valid role"),
    ("no parts", {"contents": [{"role": "user", "parts": []}]}, "parts must not be empty"),
    ("an unknown part", {"contents": [{"parts": [{"type": "text"}]}]}, 'Unknown name "type"'),
    (
        "a bad name",
        {"tools": [{"functionDeclarations": [{"name": "1 a"}]}]},
        "Invalid function name",
    ),
    (
        "two functions of one name",
        {"tools": [{"functionDeclarations": [ADD, ADD]}]},
        "Duplicate function declaration found: add",
    ),
    (
        "deferral",
        {"tools": [{"functionDeclarations": [{**ADD, "defer_loading": True}]}]},
        "Unknown name \"deferLoading\" at 'tools[0].function_declarations[0]'",
    ),
    ("a call left open", {"contents": [USER, asked("add")]}, "followed by a function response"),
    (
        "one answer too few",
        {"contents": [USER, asked("add", "add"), told("add")]},
        "number of function response parts is equal",
    ),
    ("an answer to nothing", {"contents": [USER, told("add")]}, "number of function response"),
    (
        "an answer as text",
        {"contents": [USER, asked("add"), told("add", response="3")]},
        "must be an object",
    ),
    (
        "a signature of nobody",
        {"contents": [USER, asked("add", thoughtSignature="x"), told("add")]},
        "Thought signature is not valid",
    ),
    (
        "a call without a signature",
        {"contents": [USER, asked("add"), told("add")]},
        "missing a thought_signature",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_gemini_refuses_is_refused(
    silent: ModelServer, change: dict[str, Any], message: str
) -> None:
    answer = httpx2.post(
        f"{silent.url}/v1beta/models/gemini-3-pro:generateContent",
        json={"contents": [USER], "tools": [{"functionDeclarations": [ADD]}], **change},
        headers=HEADERS,
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert message in error["message"]


async def converse(server: ModelServer, *, streamed: bool) -> list[GenerateContentResponse]:
    """Answer each turn's calls with a 3, and send everything back."""
    config = GenerateContentConfig(
        tools=[
            Tool(
                function_declarations=[
                    FunctionDeclaration(name="add", parameters_json_schema={"type": "object"})
                ]
            )
        ]
    )
    client = Client(api_key="key", http_options={"base_url": server.url})
    models: Any = client.aio.models
    contents = [Content(role="user", parts=[Part(text="hello")])]
    heard: list[GenerateContentResponse] = []
    for _ in range(2):
        question = {"model": "gemini-3-pro", "contents": contents, "config": config}
        chunks: list[GenerateContentResponse] = []
        if streamed:
            stream = await models.generate_content_stream(**question)
            chunks += [chunk async for chunk in stream]
        else:
            chunks.append(await models.generate_content(**question))
        heard += chunks
        parts = [part for chunk in chunks for part in chunk.parts or ()]
        answers = [
            Part.from_function_response(name=part.function_call.name or "", response={"output": 3})
            for part in parts
            if part.function_call
        ]
        contents += [Content(role="model", parts=parts), Content(role="user", parts=answers)]
    await client.aio.aclose()
    client.close()
    return heard


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
async def test_parts_of_the_library_can_be_sent_back_as_they_are(streamed: bool) -> None:
    turn = Turn("I look.", [Call("add", {"a": "é"}), Call("add")], reasoning="sums")
    with scripted(turn, Say("3")) as server:
        heard = await converse(server, streamed=streamed)
    assert not server.refusals
    assert heard[-1].candidates is not None
    assert heard[-1].candidates[0].finish_reason == "STOP"
    assert [result.text for result in server.seen[-1].results] == ["3", "3"]
    assert heard[-1].usage_metadata is not None
    assert (heard[-1].usage_metadata.cached_content_token_count or 0) > 10


@pytest.mark.anyio
@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent"])
async def test_gemini_keeps_malformed_calls_for_itself(method: str) -> None:
    body = {"contents": [USER], "tools": [{"functionDeclarations": [ADD]}]}
    with scripted(Call("add", raw='{"a": ')) as server:
        answer = httpx2.post(
            f"{server.url}/v1/models/gemini-3-pro:{method}?alt=sse", json=body, headers=HEADERS
        )
    assert '"finishReason":"MALFORMED_FUNCTION_CALL"' in answer.text
    assert "functionCall" not in answer.text
