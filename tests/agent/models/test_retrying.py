"""Asking again: when, how often, how long, and never twice what was read already."""

from collections.abc import Callable

import pytest

from tests.agent.models.fakes import SPEC, Waits, request, unheard
from tooldrawer.agent.model import Model
from tooldrawer.agent.retrying import Patience, Retrying
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import (
    AnswerCut,
    KeyRefused,
    ModelFailed,
    ModelOverloaded,
    ModelUnreachable,
)
from tooldrawer.wire.message import Answered, Request

pytestmark = pytest.mark.anyio


class ScriptedModel:
    """Says what comes before each failure, then fails; answers when no failure is left."""

    def __init__(self, *failures: ModelFailed, before: str = "") -> None:
        self.asked = 0
        self._failures = list(failures)
        self._before = before

    @property
    def spec(self) -> ModelSpec:
        return SPEC

    async def answer(self, request: Request, said: Callable[[str], None]) -> Answered:
        del request
        self.asked += 1
        if self._failures:
            if self._before:
                said(self._before)
            raise self._failures.pop(0)
        said("hello")
        return Answered(text="hello")


def retrying(model: Model, waits: Waits, *, chance: float = 1.0) -> Retrying:
    return Retrying(model, waits.told, sleep=waits.sleep, chance=lambda: chance)


async def test_a_busy_model_is_asked_again_and_each_wait_is_told() -> None:
    busy = ModelOverloaded("busy")
    model, waits, heard = ScriptedModel(busy, busy, busy), Waits(), list[str]()
    answered = await retrying(model, waits).answer(request(), heard.append)
    assert answered.text == "hello"
    assert heard == ["hello"]
    assert waits.slept == [1, 2, 4]
    assert waits.seen == [(1, busy), (2, busy), (4, busy)]


async def test_waits_differ_by_chance_but_not_below_a_half() -> None:
    waits = Waits()
    model = ScriptedModel(ModelOverloaded("busy"), ModelOverloaded("busy"))
    await retrying(model, waits, chance=0.0).answer(request(), unheard)
    assert waits.slept == [0.5, 1]


async def test_what_the_endpoint_asks_to_wait_is_waited() -> None:
    waits = Waits()
    await retrying(ScriptedModel(ModelOverloaded("busy", retry_after=7)), waits).answer(
        request(), unheard
    )
    assert waits.slept == [7]


async def test_an_endpoint_that_asks_to_come_back_at_once_is_not_pestered() -> None:
    waits = Waits()
    busy = [ModelOverloaded("busy", retry_after=0.0)] * 3
    await retrying(ScriptedModel(*busy), waits).answer(request(), unheard)
    assert waits.slept == [1, 2, 4]


async def test_an_endpoint_that_asks_for_an_hour_is_not_waited_for() -> None:
    model, waits = ScriptedModel(ModelOverloaded("busy", retry_after=3600)), Waits()
    with pytest.raises(ModelOverloaded):
        await retrying(model, waits).answer(request(), unheard)
    assert (model.asked, waits.slept) == (1, [])


async def test_after_the_last_try_the_failure_goes_up() -> None:
    model, waits = ScriptedModel(*[ModelOverloaded("busy")] * 9), Waits()
    patience = Patience(overloaded=3, longest=1.5)
    asking = Retrying(model, waits.told, patience=patience, sleep=waits.sleep, chance=lambda: 1.0)
    with pytest.raises(ModelOverloaded):
        await asking.answer(request(), unheard)
    assert (model.asked, waits.slept) == (3, [1, 1.5])


async def test_a_silent_endpoint_is_asked_once_more() -> None:
    model, waits = ScriptedModel(*[ModelUnreachable("nobody")] * 9), Waits()
    with pytest.raises(ModelUnreachable):
        await retrying(model, waits).answer(request(), unheard)
    assert (model.asked, waits.slept) == (2, [1])


@pytest.mark.parametrize("failure", [ModelOverloaded("busy"), ModelUnreachable("gone")])
async def test_what_was_said_is_never_said_again(failure: ModelFailed) -> None:
    model, waits, heard = ScriptedModel(failure, before="Once upon"), Waits(), list[str]()
    with pytest.raises(AnswerCut) as caught:
        await retrying(model, waits).answer(request(), heard.append)
    assert caught.value.text == "Once upon"
    assert str(failure) in str(caught.value)
    assert (model.asked, heard, waits.slept) == (1, ["Once upon"], [])


@pytest.mark.parametrize("failure", [KeyRefused("no"), AnswerCut("cut", text="Once")])
async def test_what_will_not_get_better_goes_up_at_once(failure: ModelFailed) -> None:
    model, waits = ScriptedModel(failure), Waits()
    with pytest.raises(type(failure)) as caught:
        await retrying(model, waits).answer(request(), unheard)
    assert caught.value is failure
    assert waits.slept == []


async def test_it_is_the_model_that_it_asks() -> None:
    assert retrying(ScriptedModel(), Waits()).spec is SPEC
