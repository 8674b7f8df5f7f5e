"""The real clients of Anthropic and Google carry what the wires write, and bring what they read."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google.genai import Client

from tests.models.script import Call, Say, Search, Turn
from tests.models.server import ModelServer, scripted
from tests.requirements import requirement
from tests.wire.growing import grows
from tooldrawer import AssemblyPolicy, Config, Drawer, FunctionToolset, Session
from tooldrawer.wire import anthropic, gemini
from tooldrawer.wire.message import Answered, Message, Reply, Request, Returned, Said, Stream

pytestmark = pytest.mark.anyio

Ask = Callable[[Request], Awaitable[Answered]]
ON = Config(assembly=AssemblyPolicy(enabled="on"))
THOUGHTFUL = Turn(text="Let me look.", reasoning="Hm, notes.", calls=(Search("add a note"),))
PORTABLE = (
    THOUGHTFUL,
    Call("tool_call", {"name": "add_note", "arguments": {"title": "a"}}),
    Turn(
        calls=(
            Call("tool_call", {"name": "read_note", "arguments": {"title": "a"}}),
            Call("tool_call", {"name": "read_note", "arguments": {"title": "b"}}),
            Call("no_such_tool", blind=True),
        )
    ),
    Say("Done.", reasoning="That was it."),
)
NATIVE = (
    THOUGHTFUL,
    Call("add_note", {"title": "a"}),
    Search("read a note"),
    Turn(calls=(Call("read_note", {"title": "a"}), Call("add_note", {"title": "b"}))),
    Say("Done."),
)


@pytest.fixture
def anyio_backend() -> str:
    """asyncio only: the clients leave their streams' generators to the garbage collector."""
    return "asyncio"


def heard(stream: Stream, event: Any, pieces: list[str]) -> None:
    if text := stream.feed(event):
        pieces.append(text)


@asynccontextmanager
async def by_anthropic(server: ModelServer, how: str) -> AsyncGenerator[Ask]:
    async with AsyncAnthropic(base_url=server.url, api_key="key", max_retries=0) as client:
        messages: Any = client.messages

        async def ask(request: Request) -> Answered:
            body: Any = anthropic.body(request)
            if how == "whole":
                return anthropic.read((await messages.create(**body)).to_dict())
            stream, pieces = anthropic.AnthropicStream(), list[str]()
            if how == "events":
                async with await messages.create(**body, stream=True) as events:
                    async for event in events:
                        heard(stream, event.to_dict(), pieces)
            else:  # those of the SDK's own helper, which say everything twice
                async with messages.stream(**body) as events:
                    async for event in events:
                        heard(stream, event.to_dict(), pieces)
            answer = stream.answer()
            assert answer.text == "".join(pieces)
            return answer

        yield ask


@asynccontextmanager
async def by_gemini(server: ModelServer, how: str) -> AsyncGenerator[Ask]:
    client = Client(api_key="key", http_options={"base_url": server.url})
    models: Any = client.aio.models

    async def ask(request: Request) -> Answered:
        body: Any = gemini.body(request)
        given = {
            "model": request.model,
            "contents": body["contents"],
            "config": {
                "system_instruction": body["systemInstruction"],
                "tools": body["tools"],
                "automatic_function_calling": {"disable": True},
            },
        }
        if how == "whole":
            return gemini.read(_dumped(await models.generate_content(**given)))
        stream, pieces = gemini.GeminiStream(), list[str]()
        async for chunk in await models.generate_content_stream(**given):
            heard(stream, _dumped(chunk), pieces)
        answer = stream.answer()
        assert answer.text == "".join(pieces)
        return answer

    try:
        yield ask
    finally:
        await client.aio.aclose()
        client.close()


def _dumped(response: Any) -> Any:
    return response.model_dump(mode="json", by_alias=True, exclude_none=True)


async def conversation(
    session: Session, ask: Ask, between: Callable[[int], None] = lambda turn: None
) -> list[Message]:
    """The whole loop: ask, run the calls, ask again; something may happen before each turn."""
    messages: list[Message] = [Said(text="Put a note on my desk.")]
    while True:
        between(len(messages) // 2)
        assembly = await session.tools()
        request = Request(
            model="scripted",
            system="Be brief.",
            tools=assembly.tools,
            messages=tuple(messages),
            native=session.native,
        )
        answer = await ask(request)
        messages.append(answer)
        if not answer.calls:
            return messages
        results = await session.call_all(answer.calls)
        pairs = zip(answer.calls, results, strict=True)
        messages.append(Returned(replies=tuple(Reply(call=a, result=b) for a, b in pairs)))


@requirement("CACHE-3")
@pytest.mark.parametrize(
    ("client", "how"),
    [
        (by_anthropic, "whole"),
        (by_anthropic, "events"),
        (by_anthropic, "helper"),
        (by_gemini, "whole"),
        (by_gemini, "events"),
    ],
)
async def test_the_bridge_works_through_the_real_client(
    client: Any, how: str, desk: FunctionToolset, ran: list[str]
) -> None:
    drawer = Drawer([desk], config=ON)
    with scripted(*PORTABLE) as server:
        async with client(server, how) as ask, drawer.session() as session:
            *_, last = await conversation(session, ask)
    assert isinstance(last, Answered)
    assert (last.text, last.complete) == ("Done.", True)
    assert sorted(ran) == ["add a None 1", "read a", "read b"]
    assert server.refusals == []
    assert [result.is_error for result in server.seen[-1].results] == [False] * 4 + [True]
    assert 0 < last.usage.cached < last.usage.input
    grew = [seen.prompt for seen in server.seen]
    assert all(b.startswith(a[:-2]) for a, b in pairwise(grew))


@requirement("CACHE-2")
@pytest.mark.parametrize("how", ["whole", "events", "helper"])
async def test_anthropics_own_deferral_works_through_the_real_client(
    how: str, desk: FunctionToolset, ran: list[str]
) -> None:
    drawer = Drawer([desk], config=ON)
    with scripted(*NATIVE) as server:
        async with by_anthropic(server, how) as ask, drawer.session() as session:
            session.native = True
            messages = await conversation(session, ask)
    assert isinstance(messages[-1], Answered)
    assert messages[-1].text == "Done."
    assert sorted(ran) == ["add a None 1", "add b None 1", "read a"]
    assert server.refusals == []
    first, *_, last = [seen.json["tools"] for seen in server.seen]
    assert [tool["name"] for tool in first] == ["tool_search"]
    assert last[: len(first)] == first
    assert all(tool["defer_loading"] for tool in last[1:])
    # A found tool stands where the search referred to it, so the cached prompt stays what it was.
    grew = [seen.prompt for seen in server.seen]
    assert all(b.startswith(a[:-2]) for a, b in pairwise(grew))


@pytest.mark.parametrize("client", [by_anthropic, by_gemini])
async def test_calls_that_no_model_should_make_do_not_end_the_conversation(
    client: Any, desk: FunctionToolset
) -> None:
    drawer = Drawer([desk], config=ON)
    odd = Turn(calls=(Call(None, {}, blind=True), Call("tool call!", {"a": 1}, blind=True)))
    with scripted(odd, Say("Sorry.")) as server:
        async with client(server, "events") as ask, drawer.session() as session:
            *_, last = await conversation(session, ask)
    assert isinstance(last, Answered)
    assert last.text == "Sorry."
    assert server.refusals == []
    assert [result.is_error for result in server.seen[-1].results] == [True, True]


async def test_arguments_that_are_no_json_do_not_end_the_conversation(
    desk: FunctionToolset,
) -> None:
    drawer = Drawer([desk], config=ON)
    cut = Turn(calls=(Call("tool_call", raw='{"name": "add_no'),), truncated=True)
    with scripted(cut, Say("Sorry.")) as server:
        async with by_anthropic(server, "events") as ask, drawer.session() as session:
            messages = await conversation(session, ask)
    asked = messages[1]
    assert isinstance(asked, Answered)
    assert asked.calls[0].arguments == '{"name": "add_no'
    assert not asked.complete
    assert server.refusals == []


@requirement("CACHE-2")
@requirement("CACHE-3")
@pytest.mark.parametrize(
    ("client", "native"), [(by_anthropic, False), (by_anthropic, True), (by_gemini, False)]
)
async def test_twenty_turns_with_tools_that_come_and_go_only_ever_add_to_the_request(
    client: Any, native: bool, numbered: Callable[[str, int], FunctionToolset]
) -> None:
    drawer = Drawer([numbered("kitchen", 3)], config=ON)
    steps = [step for number in range(10) for step in _turns(number, native=native)]

    def change(turn: int) -> None:
        if turn % 3 == 0:
            drawer.registry.add(numbered(f"garden{turn}", 4))
        if turn % 3 == 2 and turn > 2:
            drawer.registry.remove(f"garden{turn - 2}")

    with scripted(*steps, Say("Done.")) as server:
        async with client(server, "whole") as ask, drawer.session() as session:
            session.native = native
            await conversation(session, ask, change)
    assert server.refusals == []
    assert len(server.requests) == 21
    key = "contents" if client is by_gemini else "messages"
    for one, other in pairwise(request.json for request in server.requests):
        assert grows(one.pop(key), other[key])
        assert grows(one.pop("tools"), other["tools"])
        assert one == {name: other[name] for name in one}
    for one, other in pairwise(seen.prompt for seen in server.seen):
        assert other.startswith(one[:-2])


def _turns(number: int, *, native: bool) -> list[Turn | Call]:
    name, arguments = f"kitchen_{number % 3}", {"text": "a"}
    call = (
        Call(name, arguments)
        if native
        else Call("tool_call", {"name": name, "arguments": arguments})
    )
    return [Turn(calls=(Search(f"task {number % 3} of kitchen"), Search("task of garden"))), call]
