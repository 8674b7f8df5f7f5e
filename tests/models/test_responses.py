"""What the scripted Responses API takes, and what it refuses."""

from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI

from tests.models.script import Call, Say, Search, Turn
from tests.models.server import ModelServer, scripted

SCHEMA = {"type": "object"}
ADD = {"type": "function", "name": "add", "parameters": SCHEMA, "strict": False}
LOADED = {**ADD, "defer_loading": True}
SEARCH = {
    "type": "tool_search",
    "execution": "client",
    "description": "Find tools.",
    "parameters": SCHEMA,
}
SPACE = {"type": "namespace", "name": "sums", "description": "Sums.", "tools": [LOADED]}
USER = {"role": "user", "content": "hello"}
HEADERS = {"authorization": "Bearer key"}


def asked(call_id: str, **fields: Any) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": call_id, "name": "add", "arguments": "{}"}
    return {**call, **fields}


def told(call_id: str, output: Any = "3") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def sought(call_id: str) -> dict[str, Any]:
    return {"type": "tool_search_call", "call_id": call_id, "execution": "client", "arguments": {}}


def found(call_id: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_search_output", "call_id": call_id, "tools": list(tools)}


@pytest.fixture(scope="module")
def silent() -> Iterator[ModelServer]:
    with scripted() as server:
        yield server


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown field", {"max_tokens": 3}, "Unknown parameter: 'max_tokens'."),
    ("no input", {"input": None}, "Invalid type for 'input'"),
    ("an unknown item", {"input": [{"type": "tool_call"}]}, "Invalid value: 'tool_call'"),
    ("a call left open", {"input": [USER, asked("a")]}, "No tool output found for function call a"),
    ("an answer to nothing", {"input": [USER, told("a")]}, "No tool call found for function call"),
    (
        "a search left open",
        {"input": [USER, sought("a")]},
        "No tool output found for tool search call a",
    ),
    (
        "a search answered under another id",
        {"input": [USER, sought("a"), found("b", LOADED)]},
        "No tool call found for tool search call output with call_id b",
    ),
    (
        "arguments as an object",
        {"input": [USER, asked("a", arguments={}), told("a")]},
        "Invalid type for 'input[1].arguments': expected a string",
    ),
    (
        "a call without a name",
        {"input": [USER, asked("a", name=""), told("a")]},
        "Missing required parameter: 'input[1].name'",
    ),
    (
        "an id of another kind",
        {"input": [USER, asked("a", id="call_1"), told("a")]},
        "Expected an ID that begins with 'fc'",
    ),
    (
        "words of the model as words of the user",
        {"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "a"}]}]},
        "Invalid value: 'input_text'",
    ),
    (
        "an output of another wire",
        {"input": [USER, asked("a"), told("a", [{"type": "text", "text": "3"}])]},
        "Invalid value: 'text'",
    ),
    (
        "a tool of another wire",
        {"tools": [{"type": "function", "function": {"name": "add"}}]},
        "Missing required parameter: 'tools[0].name'",
    ),
    ("deferral without a search", {"tools": [LOADED]}, "require a `tool_search` tool"),
    (
        "a search without a description",
        {"tools": [{"type": "tool_search", "execution": "client", "parameters": SCHEMA}]},
        "Missing required parameter: 'tools[0].description'",
    ),
    (
        "a loaded tool's call without its namespace",
        {
            "input": [USER, sought("s"), found("s", LOADED), asked("a"), told("a")],
            "tools": [SEARCH],
        },
        "Missing namespace for function_call 'add'",
    ),
    (
        "a thought that was sealed by nobody",
        {
            "input": [
                USER,
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
                asked("a"),
                told("a"),
            ]
        },
        "could not be verified",
    ),
    (
        "a thought without what it led to",
        {"input": [USER, {"type": "reasoning", "id": "rs_1", "summary": []}]},
        "without its required following item",
    ),
    (
        "an answer that was never given",
        {"previous_response_id": "resp_x"},
        "Previous response with id 'resp_x' not found",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_openai_refuses_is_refused(
    silent: ModelServer, change: dict[str, Any], message: str
) -> None:
    body = {"model": "m", "input": [USER], "tools": [ADD], **change}
    answer = httpx2.post(f"{silent.url}/v1/responses", json=body, headers=HEADERS)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert message in error["message"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tools": [SEARCH]}, "Invalid value: 'tool_search'"),
        ({"tools": [LOADED]}, "Unknown parameter: 'tools[0].defer_loading'"),
        ({"input": [USER, sought("a"), found("a")]}, "Invalid value: 'tool_search_call'"),
        ({"input": [asked("a", namespace="add"), told("a")]}, "'input[0].namespace'"),
    ],
)
def test_an_older_endpoint_refuses_deferral(change: dict[str, Any], message: str) -> None:
    body = {"model": "m", "input": [USER], **change}
    with scripted(native=False) as server:
        answer = httpx2.post(f"{server.url}/v1/responses", json=body, headers=HEADERS)
    assert answer.status_code == 400
    assert message in server.refusals[0].message


async def converse(
    server: ModelServer, loaded: dict[str, Any], *, streamed: bool = False
) -> list[Any]:
    """Answer searches with the tool and calls with a 3, and send everything back."""
    tools: Any = [SEARCH]
    items: list[Any] = [USER]
    responses: list[Any] = []
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key") as client:
        api: Any = client.responses
        for _ in range(3):
            asked = {"model": "m", "input": items, "tools": tools, "store": False}
            if streamed:
                async with api.stream(**asked) as stream:
                    answer = await stream.get_final_response()
            else:
                answer = await api.create(**asked)
            responses.append(answer)
            items += [
                item.model_dump(exclude_none=True, exclude={"parsed_arguments"})
                for item in answer.output
            ]
            for item in answer.output:
                if item.type == "tool_search_call":
                    items.append(found(item.call_id, loaded))
                elif item.type == "function_call":
                    items.append(told(item.call_id))
    return responses


NATIVE = [
    Turn("Let me look.", [Search("sums", limit=2)], reasoning="which tool is it?"),
    Turn(calls=[Call("add", {"a": 1}), Call("add", {"a": 2})], reasoning="this one"),
    Say("3"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("loaded", "namespace"), [(LOADED, "add"), (SPACE, "sums")])
async def test_a_tool_that_a_search_loaded_is_called_in_its_namespace(
    streamed: bool, loaded: dict[str, Any], namespace: str
) -> None:
    with scripted(*NATIVE) as server:
        first, second, last = await converse(server, loaded, streamed=streamed)
    assert not server.refusals
    search = first.output[-1]
    assert (search.type, search.execution) == ("tool_search_call", "client")
    assert search.arguments == {"query": "sums", "limit": 2}
    assert [call.namespace for call in second.output[1:]] == [namespace] * 2
    assert last.output_text == "3"
    assert [sorted(seen.names) for seen in server.seen] == [[], ["add"], ["add"]]
    assert server.seen[-1].json["input"][1]["encrypted_content"].startswith("gAAAA")
    cached = [one.usage.input_tokens_details.cached_tokens for one in (first, second, last)]
    assert cached[0] == 0
    assert cached[1:] == [first.usage.input_tokens, second.usage.input_tokens]


@pytest.mark.anyio
async def test_a_tool_cannot_be_called_before_it_is_loaded() -> None:
    with scripted(Call("add")) as server:
        with pytest.raises(openai.BadRequestError, match="the model was shown nothing"):
            await converse(server, LOADED)
        server.mistakes.clear()


@pytest.mark.anyio
async def test_a_conversation_may_be_kept_by_the_server() -> None:
    with scripted(Call("add", id="call_a"), Say("3")) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key") as client:
            tools: Any = [ADD]
            first = await client.responses.create(model="m", input="hello", tools=tools)
            last = await client.responses.create(
                model="m",
                input=[{"type": "function_call_output", "call_id": "call_a", "output": "3"}],
                tools=tools,
                previous_response_id=first.id,
            )
    assert last.output_text == "3"
    assert server.seen[-1].first_user == "hello"


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_may_be_cut_short_by_its_length(streamed: bool) -> None:
    with scripted(Turn("and so", truncated=True)) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key") as client:
            api: Any = client.responses
            answer = await api.create(model="m", input="hello", stream=streamed)
            if streamed:
                answer = [event async for event in answer][-1].response
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
