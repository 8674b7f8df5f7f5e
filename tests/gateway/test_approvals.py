"""A person is asked through the client; where that cannot be, a person is told where to answer."""

import json
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext

from tests.fakes import ScriptedToolset
from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    LONG,
    Document,
    Person,
    Rig,
    called,
    chosen,
    document,
    rigged,
    text,
)
from tests.gateway.web import served, tokens
from tests.requirements import requirement
from tooldrawer import Answer, Tool
from tooldrawer.activity import ApprovalAnswered

pytestmark = pytest.mark.anyio
ASK: Document = {"ask": ["*delete*"]}
SCHEMA: Document = {"type": "object", "properties": {"title": {"type": "string"}}}
RAN = '{"title":"milk"}'
DECLINED = types.ElicitResult(action="decline")
CLOSED = types.ElicitResult(action="cancel")


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["memory", "pipes"])
def pipes(request: pytest.FixtureRequest) -> bool:
    """Whether the client is there as over stdio."""
    return bool(request.param)


@pytest.fixture
def desk() -> ScriptedToolset:
    """One dangerous tool, which gives its arguments back."""
    tool = Tool(name="delete_note", description="Delete a note", parameters=SCHEMA, source="desk")
    return ScriptedToolset("desk", [tool])


async def delete(client: Client, title: str = "milk") -> str:
    return text(await called(client, "delete_note", title=title))


def ident(rig: Rig, said: str) -> str:
    """What a person has to type; the model is told that one must, and neither id nor command."""
    found = rig.gateway.pending.waiting()[-1].id
    assert "A person must approve it." in said
    assert not any(word in said for word in (found, "`", "--", "tooldrawer approve", "yaml"))
    return found


@requirement("DSP-6")
async def test_the_question_is_about_the_real_tool_and_its_exact_arguments(
    tmp_path: Path, era: str, desk: ScriptedToolset, *, pipes: bool
) -> None:
    person = Person(chosen("once"))
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(era, person, pipes=pipes) as client,
    ):
        assert await delete(client) == RAN
    (question,) = person.questions
    assert isinstance(question, types.ElicitRequestFormParams)
    assert "delete_note" in question.message
    assert "desk" in question.message
    assert '"title": "milk"' in question.message
    assert "tool_call" not in question.message
    schema: Any = question.requested_schema
    assert schema["properties"]["answer"]["enum"] == ["once", "session", "always", "no"]


@requirement("DSP-6")
@pytest.mark.parametrize(("answer", "asked"), [("once", 3), ("session", 2), ("always", 1)])
async def test_a_yes_holds_for_as_long_as_the_person_said(
    tmp_path: Path, era: str, desk: ScriptedToolset, answer: str, asked: int
) -> None:
    person = Person(*[chosen(answer)] * 3)
    settings = document({}, approvals=ASK)
    for results in ([RAN, RAN], [RAN]):  # of a process each
        async with (
            rigged(tmp_path, settings, toolsets=(desk,)) as rig,
            rig.client(era, person) as client,
        ):
            assert [await delete(client) for _ in results] == results
    assert len(person.questions) == asked


async def test_always_holds_for_the_next_gateway_too(
    tmp_path: Path, era: str, desk: ScriptedToolset
) -> None:
    person, settings = Person(chosen("always")), document({}, approvals=ASK)
    for _ in range(2):
        async with (
            rigged(tmp_path, settings, toolsets=(desk,)) as rig,
            rig.client(era, person) as client,
        ):
            assert await delete(client) == RAN
    assert len(person.questions) == 1


@requirement("DSP-6")
@pytest.mark.parametrize(
    "answer",
    [
        chosen("no"),
        chosen("yes, of course"),
        types.ElicitResult(action="accept"),
        types.ElicitResult(action="accept", content={"answer": ["always"]}),
    ],
    ids=["no", "something else", "nothing", "no text"],
)
async def test_whatever_is_not_a_yes_is_a_no(
    tmp_path: Path, era: str, desk: ScriptedToolset, answer: types.ElicitResult
) -> None:
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(era, Person(answer)) as client,
    ):
        result = await called(client, "delete_note", title="milk")
    assert result.is_error
    assert text(result).startswith("A person was asked and said no")
    assert desk.received == []


async def test_a_client_that_declines_may_not_have_asked_anybody(
    tmp_path: Path, era: str, desk: ScriptedToolset
) -> None:
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(era, Person(DECLINED)) as client,
    ):
        said = text(await called(client, "delete_note", title="milk"))
        assert "(it was declined)" in said
        assert "If the user declined it, do not try again; if they were not asked," in said
        assert "while this agent runs, up to 10 minutes" in said
        (waiting,) = rig.gateway.pending.waiting()
        assert ident(rig, said) == waiting.id
        assert desk.received == []
        rig.gateway.pending.answer(waiting.id, Answer.ONCE)
        assert await delete(client) == RAN


@requirement("DSP-6")
@pytest.mark.parametrize("is_asked", [False, True], ids=["cannot be asked", "closed"])
async def test_a_question_that_nobody_answers_waits_for_a_person_elsewhere(
    tmp_path: Path, era: str, desk: ScriptedToolset, *, is_asked: bool, pipes: bool
) -> None:
    person = Person(*[CLOSED] * 3) if is_asked else None
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(era, person, pipes=pipes) as client,
    ):
        result = await called(client, "delete_note", title="milk")
        assert result.is_error
        assert desk.received == []
        (waiting,) = rig.gateway.pending.waiting()
        assert ident(rig, text(result)) == waiting.id
        assert (waiting.tool, waiting.arguments) == ("delete_note", {"title": "milk"})
        rig.gateway.pending.answer(waiting.id, Answer.ONCE)
        other = await called(client, "delete_note", title="eggs")
        assert ident(rig, text(other)) != waiting.id
        assert await delete(client) == RAN
        again = await called(client, "delete_note", title="milk")
        assert again.is_error
    assert [call.arguments for call in desk.received] == [{"title": "milk"}]


async def test_a_no_from_elsewhere_is_a_no(tmp_path: Path, era: str, desk: ScriptedToolset) -> None:
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(era) as client,
    ):
        name = ident(rig, await delete(client))
        rig.gateway.pending.answer(name, Answer.NO)
        assert (await delete(client)).startswith("A person was asked and said no")


async def test_a_client_that_refuses_to_ask_leaves_the_question_to_a_person_elsewhere(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    refusal = types.ErrorData(code=types.INTERNAL_ERROR, message="not now")
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(HANDSHAKE, Person(refusal)) as client,
    ):
        assert ident(rig, await delete(client)) == rig.gateway.pending.waiting()[0].id


async def test_a_person_who_takes_too_long_has_not_said_yes(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    class Absent(Person):
        async def elicit(
            self, _: ClientRequestContext, params: types.ElicitRequestParams
        ) -> types.ElicitResult:
            del params
            await anyio.sleep_forever()
            raise AssertionError

    settings = document({}, approvals={**ASK, "timeout": 0.1})
    async with (
        rigged(tmp_path, settings, toolsets=(desk,)) as rig,
        rig.client(HANDSHAKE, Absent()) as client,
    ):
        with anyio.fail_after(LONG):
            result = await called(client, "delete_note", title="milk")
    assert result.is_error
    assert "no answer in time" in text(result)
    assert desk.received == []


async def test_each_of_several_calls_at_once_is_asked_about(
    tmp_path: Path, era: str, desk: ScriptedToolset, *, pipes: bool
) -> None:
    person, said = Person(*[chosen("once")] * 5), set[str]()
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(era, person, pipes=pipes) as client,
        anyio.create_task_group() as tasks,
    ):

        async def one(number: int) -> None:
            said.add(await delete(client, str(number)))

        for number in range(5):
            tasks.start_soon(one, number)
    assert said == {
        json.dumps({"title": str(number)}, separators=(",", ":")) for number in range(5)
    }
    assert len(person.questions) == 5


@requirement("AF-2")
async def test_the_activity_tells_what_became_of_a_question(
    tmp_path: Path, era: str, desk: ScriptedToolset
) -> None:
    async with (
        rigged(tmp_path, document({}, approvals=ASK), toolsets=(desk,)) as rig,
        rig.client(era, Person(chosen("once"))) as client,
    ):
        await delete(client)
        answered = [
            (event.tool, event.answer)
            for event in rig.gateway.drawer.activity
            if isinstance(event, ApprovalAnswered)
        ]
    assert answered == [("delete_note", "once")]


@requirement("DSP-12")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_always_of_one_token_is_asked_again_of_another_and_of_another_scope(
    tmp_path: Path, era: str, desk: ScriptedToolset
) -> None:
    secrets = {name: tokens(tmp_path).create(name)[1] for name in ("alice", "bob")}
    settings = document({}, approvals=ASK, scopes={"triage": {}})
    alice, bob = Person(chosen("always"), chosen("no")), Person(chosen("no"), chosen("no"))
    async with served(tmp_path, settings, toolsets=(desk,)) as site:

        async def burn(name: str, person: Person, path: str = "/mcp") -> str:
            async with site.visitor(era, person, secret=secrets[name], path=path) as client:
                return await delete(client)

        assert [await burn("alice", alice), await burn("alice", alice)] == [RAN, RAN]
        assert "said no" in await burn("bob", bob)
        assert "said no" in await burn("alice", alice, "/mcp/triage")
    assert (len(alice.questions), len(bob.questions)) == (2, 1)
