"""A call that waits for a person outside the conversation: asked once, answered once."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from tests.dispatch.parts import ask
from tests.properties.strategies import json_objects, quick
from tests.requirements import requirement
from tooldrawer import Answer, ApprovalRequest, Drawer, FunctionToolset, Grants, Tool
from tooldrawer.activity import ApprovalAnswered
from tooldrawer.call import freeze
from tooldrawer.dispatch import NobodyToAsk
from tooldrawer.gateway.pending import Pending, Waiting
from tooldrawer.tool import JsonObject

TOOL = Tool(name="desk_burn", description="Burn a note.", source="desk")


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def request(
    arguments: JsonObject | None = None, *, tool: Tool = TOOL, session: str = "one"
) -> ApprovalRequest:
    given = {"title": "milk"} if arguments is None else arguments
    return ApprovalRequest(question="Burn it?", tool=tool, arguments=given, session=session)


def put(pending: Pending, asked: ApprovalRequest | None = None, by: str = "alice") -> Waiting:
    return pending.put(asked or request(), principal=by, scope="triage")


def test_what_waits_is_the_exact_call_and_who_makes_it() -> None:
    pending = Pending(lifetime=600.0)
    entry = put(pending)
    assert pending.waiting() == (entry,)
    assert re.fullmatch(r"[b-df-hj-np-tv-z2-9]{4}", entry.id)
    assert (entry.tool, entry.toolset, entry.question) == ("desk_burn", "desk", "Burn it?")
    assert entry.arguments == {"title": "milk"}
    assert (entry.session, entry.principal, entry.scope) == ("one", "alice", "triage")
    assert entry.expires_at - entry.asked_at == pytest.approx(600.0)


def test_the_same_call_is_the_same_question_whatever_the_order_of_its_arguments() -> None:
    pending = Pending()
    first = put(pending, request({"a": 1, "b": {"c": [1], "d": None}}))
    again = put(pending, request({"b": {"d": None, "c": [1]}, "a": 1}, session="two"))
    assert again.id == first.id
    assert len(pending.waiting()) == 1


@pytest.mark.parametrize(
    ("other", "by"),
    [
        (request(), "bob"),
        (request({"title": "tea"}), "alice"),
        (request({"title": "milk", "copies": None}), "alice"),
        (request(tool=replace(TOOL, description="Burn a note, and the desk.")), "alice"),
    ],
)
def test_another_person_tool_or_argument_is_another_question(
    other: ApprovalRequest, by: str
) -> None:
    pending = Pending()
    entry = put(pending)
    assert put(pending, other, by).id != entry.id
    pending.answer(entry.id, Answer.ALWAYS)
    assert pending.take(other, principal=by) is None
    assert pending.take(request(), principal="alice") is Answer.ALWAYS


@pytest.mark.parametrize("pair", [(1, 1.0), (1, True), (0, False), ("1", 1), ([], {}), (None, "")])
def test_arguments_that_python_thinks_equal_are_not_the_same_call(
    pair: tuple[object, object],
) -> None:
    pending = Pending()
    for value in pair:
        put(pending, request({"a": value}))  # pyright: ignore[reportArgumentType]
    assert len(pending.waiting()) == 2


@quick(50)
@given(json_objects())
def test_frozen_arguments_are_the_same_call_as_plain_ones(arguments: JsonObject) -> None:
    pending = Pending()
    plain = json.loads(json.dumps(arguments))
    first = put(pending, request(plain))
    frozen = freeze(plain)
    assert isinstance(frozen, dict)
    assert put(pending, request(frozen)).id == first.id


@pytest.mark.parametrize("answer", list(Answer))
def test_an_answer_is_told_once_and_as_it_was_given(answer: Answer) -> None:
    pending = Pending()
    assert pending.take(request(), principal="alice") is None
    entry = put(pending)
    assert pending.take(request(), principal="alice") is None
    answered = pending.answer(entry.id, answer)
    assert answered is not None
    assert answered.id == entry.id
    assert pending.waiting() == ()
    assert pending.take(request(), principal="alice") is answer
    assert pending.take(request(), principal="alice") is None
    assert pending.answer(entry.id, answer) is None


def test_a_person_may_change_their_mind_until_the_call_is_made() -> None:
    pending = Pending()
    entry = put(pending)
    pending.answer(entry.id, Answer.ALWAYS)
    pending.answer(f" {entry.id.upper()} ", Answer.NO)
    assert pending.take(request(), principal="alice") is Answer.NO


def test_nobody_can_answer_what_nobody_asked() -> None:
    assert Pending().answer("k7q2", Answer.ONCE) is None


def test_a_question_is_forgotten_when_its_time_is_over() -> None:
    clock = Clock()
    pending = Pending(lifetime=60.0, clock=clock)
    entry = put(pending)
    clock.now = 59.0
    assert len(pending.waiting()) == 1
    clock.now = 60.0
    assert pending.waiting() == ()
    assert pending.answer(entry.id, Answer.ONCE) is None


def test_asking_again_gives_the_question_new_time() -> None:
    clock = Clock()
    pending = Pending(lifetime=60.0, clock=clock)
    entry = put(pending)
    clock.now = 59.0
    assert put(pending).id == entry.id
    clock.now = 118.0
    assert [waiting.id for waiting in pending.waiting()] == [entry.id]


def test_an_answer_that_nobody_used_in_time_is_forgotten() -> None:
    clock = Clock()
    pending = Pending(lifetime=60.0, clock=clock)
    pending.answer(put(pending).id, Answer.ONCE)
    clock.now = 60.0
    assert pending.take(request(), principal="alice") is None


def test_a_late_answer_leaves_the_model_time_to_make_the_call() -> None:
    clock = Clock()
    pending = Pending(lifetime=60.0, clock=clock)
    entry = put(pending)
    clock.now = 59.0
    pending.answer(entry.id, Answer.ONCE)
    clock.now = 118.0
    assert pending.take(request(), principal="alice") is Answer.ONCE


@requirement("GW-2")
def test_a_principal_with_too_many_questions_loses_its_own_oldest() -> None:
    pending = Pending(keep=5)
    quiet = put(pending, by="bob")
    loud = [put(pending, request({"title": str(number)})) for number in range(9)]
    kept = [entry.id for entry in pending.waiting()]
    assert kept == [quiet.id, *(entry.id for entry in loud[-5:])]


def test_every_question_that_waits_has_an_id_of_its_own() -> None:
    pending = Pending(keep=2000)
    for number in range(2000):
        put(pending, request({"title": str(number)}))
    assert len({entry.id for entry in pending.waiting()}) == 2000


@requirement("DSP-9")
def test_the_model_is_told_its_next_step_and_no_command() -> None:
    pending = Pending(lifetime=600.0)
    entry = put(pending)
    assert pending.instructions(entry) == (
        "A person must approve it. Tell the user that the call waits for their approval in "
        "tooldrawer, for 10 minutes; when they have approved it, make the same call again."
    )
    assert "in tooldrawer, while this agent runs, up to 10 minutes; when" in pending.instructions(
        entry, ends_with_agent=True
    )
    declined = pending.instructions(entry, was_declined=True)
    assert "If the user declined it, do not try again; if they were not asked, tell" in declined
    assert "for 30 seconds" in (quick := Pending(lifetime=30.0)).instructions(put(quick))


@pytest.fixture
def waiting_desk(desk: FunctionToolset, grants: Grants) -> Callable[[Pending], Drawer]:
    """A drawer whose questions wait outside the conversation."""

    def make(pending: Pending) -> Drawer:
        async def approver(request: ApprovalRequest) -> Answer:
            given = pending.take(request, principal="alice")
            if given is not None:
                return given
            entry = pending.put(request, principal="alice", scope="")
            raise NobodyToAsk(pending.instructions(entry))

        return Drawer([desk], guardrails=[ask], approver=approver, grants=grants)

    return make


@pytest.mark.anyio
@requirement("DSP-6")
async def test_with_nobody_in_the_conversation_the_model_is_told_how_a_person_can_grant_it(
    waiting_desk: Callable[[Pending], Drawer], ran: list[str]
) -> None:
    pending = Pending()
    drawer = waiting_desk(pending)
    refused = await drawer.session().call("read_note", {"title": "milk"})
    (entry,) = pending.waiting()
    assert refused.is_error
    assert refused.text == (
        "'read_note' needs a person's approval (nobody to ask), so it was not run. "
        + pending.instructions(entry)
    )
    assert [event.answer for event in drawer.activity if isinstance(event, ApprovalAnswered)] == [
        "nobody to ask"
    ]
    assert ran == []


@pytest.mark.anyio
@requirement("DSP-6")
@pytest.mark.parametrize(
    ("answer", "errors"),
    [
        (Answer.ONCE, [False, True]),
        (Answer.SESSION, [False, False]),
        (Answer.ALWAYS, [False, False]),
        (Answer.NO, [True, True]),
    ],
)
async def test_the_answer_given_outside_holds_for_the_same_call_made_again(
    answer: Answer,
    errors: list[bool],
    waiting_desk: Callable[[Pending], Drawer],
    grants: Grants,
) -> None:
    pending = Pending()
    session = waiting_desk(pending).session()
    await session.call("read_note", {"title": "milk"})
    pending.answer(pending.waiting()[0].id, answer)
    results = [await session.call("read_note", {"title": "milk"}) for _ in errors]
    assert [result.is_error for result in results] == errors
    assert ("said no" in results[0].text) == (answer is Answer.NO)
    assert list(grants.names()) == (["read_note"] if answer is Answer.ALWAYS else [])


@pytest.mark.anyio
@requirement("DSP-6")
async def test_an_answer_given_outside_does_not_hold_for_other_arguments(
    waiting_desk: Callable[[Pending], Drawer], ran: list[str]
) -> None:
    pending = Pending()
    session = waiting_desk(pending).session()
    await session.call("read_note", {"title": "milk"})
    pending.answer(pending.waiting()[0].id, Answer.ONCE)
    assert (await session.call("read_note", {"title": "tea"})).is_error
    assert not (await session.call("read_note", {"title": "milk"})).is_error
    assert ran == ["read milk"]
