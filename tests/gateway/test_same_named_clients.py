"""Clients of one name and one principal, which nothing tells apart, do not affect each other."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from tests.fakes import ScriptedToolset
from tests.gateway.rig import (
    HANDSHAKE,
    LONG,
    STATELESS,
    Document,
    Person,
    called,
    chosen,
    document,
    searched,
    text,
)
from tests.gateway.web import Site, served, tokens
from tests.gateway.wire import stateless
from tests.requirements import requirement
from tooldrawer import Tool

pytestmark = pytest.mark.anyio
NAME = "claude-code"
JSON = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def desk() -> ScriptedToolset:
    schema: Document = {"type": "object", "properties": {"title": {"type": "string"}}}
    tools = [Tool(name=name, parameters=schema) for name in ("read_note", "delete_note")]
    return ScriptedToolset("desk", tools)


@asynccontextmanager
async def sited(folder: Path, desk: ScriptedToolset, **sections: Any) -> AsyncGenerator[Site]:
    async with served(folder, document({}, **sections), toolsets=(desk,)) as site:
        yield site


@requirement("BR-11")
async def test_a_search_of_each_client_is_answered_without_advice(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    async with sited(tmp_path, desk, search={"max_searches_in_a_row": 3}) as site:
        for _ in range(10):
            async with site.visitor(STATELESS, name=NAME) as client:
                reply = await searched(client, "note")
                assert reply["matches"]
                assert "advice" not in reply


@requirement("GW-2")
async def test_a_thousand_clients_get_an_answer(tmp_path: Path, desk: ScriptedToolset) -> None:
    info = {"name": NAME, "version": "1"}
    params = stateless(
        name="tool_search",
        arguments={"query": "note"},
        _meta={"io.modelcontextprotocol/clientInfo": info},
    )
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        **JSON,
        "MCP-Protocol-Version": STATELESS,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "tool_search",
    }
    count, replies = 1000, list[Any]()
    async with sited(tmp_path, desk) as site:
        todo = iter(range(count))

        async def search() -> None:
            for _ in todo:
                response = await site.http.post("/mcp", json=request, headers=headers)
                replies.append(response.json()["result"])

        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(search)
    assert len(replies) == count
    assert not any(reply.get("isError") for reply in replies)
    assert {reply["content"][0]["text"] for reply in replies} == {replies[0]["content"][0]["text"]}


@requirement("DSP-6")
async def test_session_is_offered_only_where_it_is_known_what_belongs_to_it(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    asked: dict[str, Any] = {}
    async with sited(tmp_path, desk, approvals={"ask": ["*delete*"]}) as site:
        for era in (HANDSHAKE, STATELESS):
            person = Person(chosen("once"))
            async with site.visitor(era, person, name=NAME) as client:
                await called(client, "delete_note")
            (question,) = person.questions
            assert isinstance(question, types.ElicitRequestFormParams)
            schema: Any = question.requested_schema
            asked[era] = schema["properties"]["answer"]
    assert asked[HANDSHAKE]["enum"] == ["once", "session", "always", "no"]
    assert asked[STATELESS]["enum"] == ["once", "always", "no"]
    assert "session" not in asked[STATELESS]["description"]


@requirement("DSP-6")
async def test_a_yes_for_the_session_is_for_one_call_of_clients_that_cannot_be_told_apart(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    people = [Person(*[chosen("session")] * 2) for _ in range(2)]
    async with sited(tmp_path, desk, approvals={"ask": ["*delete*"]}) as site:
        for person in people:
            async with site.visitor(STATELESS, person, name=NAME) as client:
                for _ in range(2):
                    assert not (await called(client, "delete_note")).is_error
    assert [len(person.questions) for person in people] == [2, 2]


class Undecided(Person):
    """Answers when it is told to."""

    def __init__(self) -> None:
        super().__init__(chosen("once"))
        self.is_asked, self.go_on = anyio.Event(), anyio.Event()

    async def elicit(self, _: Any, params: types.ElicitRequestParams) -> Any:
        self.is_asked.set()
        await self.go_on.wait()
        return await super().elicit(_, params)


async def test_the_same_call_of_two_clients_is_asked_about_twice_at_the_same_time(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    people, results = [Undecided(), Undecided()], list[str]()
    async with sited(tmp_path, desk, approvals={"ask": ["*delete*"]}) as site:

        async def delete(person: Person) -> None:
            async with site.visitor(STATELESS, person, name=NAME) as client:
                results.append(text(await called(client, "delete_note", title="milk")))

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                for person in people:
                    tasks.start_soon(delete, person)
                    await person.is_asked.wait()
                for person in people:
                    person.go_on.set()
    assert len(desk.received) == 2
    assert results[0] == results[1]


async def test_the_same_call_of_several_clients_is_no_repetition(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    async with sited(tmp_path, desk, limits={"repeats": 2}) as site:
        for _ in range(5):
            async with site.visitor(STATELESS, name=NAME) as client:
                assert not (await called(client, "read_note")).is_error
        async with site.visitor(HANDSHAKE, name=NAME) as client:
            results = [await called(client, "read_note") for _ in range(3)]
    assert [result.is_error for result in results] == [False, False, True]


@requirement("GW-2")
@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
async def test_a_rate_limit_counts_all_clients_of_a_principal_and_none_of_another(
    tmp_path: Path, era: str, desk: ScriptedToolset
) -> None:
    ann, bob = (tokens(tmp_path).create()[1] for _ in range(2))
    errors: dict[str, list[bool | None]] = {ann: [], bob: []}
    async with sited(tmp_path, desk, limits={"rate": {"calls": 2, "seconds": 3600}}) as site:
        for secret in (ann, bob):
            for number in range(3):
                async with site.visitor(era, secret=secret, name=f"client {number}") as client:
                    errors[secret].append((await called(client, "read_note")).is_error)
    assert errors == {ann: [False, False, True], bob: [False, False, True]}
