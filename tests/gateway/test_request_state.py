"""A call that waits for an answer: only whoever was asked goes on with it, once, and in time."""

import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.fakes import ScriptedToolset
from tests.gateway.rig import (
    LONG,
    Document,
    Rig,
    document,
    eventually,
    goods,
    let_in,
    log,
    rigged,
    shelf,
    tool,
)
from tests.gateway.wire import Wire, stateless, wired
from tests.requirements import requirement
from tooldrawer import Tool
from tooldrawer.activity import ApprovalAnswered, CallRefused

pytestmark = pytest.mark.anyio
ASKABLE: Document = {"elicitation": {"form": {}}}
YES: Document = {"action": "accept", "content": {"answer": "once"}}
REFUSED = "Invalid or expired requestState"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def desk() -> ScriptedToolset:
    """One dangerous tool."""
    schema: Document = {"type": "object", "properties": {"title": {"type": "string"}}}
    return ScriptedToolset("desk", [Tool(name="delete_note", parameters=schema, source="desk")])


@pytest.fixture
async def rig(tmp_path: Path, desk: ScriptedToolset) -> AsyncGenerator[Rig]:
    settings = document({}, approvals={"ask": ["*delete*"]})
    async with rigged(tmp_path, settings, toolsets=(desk,)) as rig:
        yield rig


@pytest.fixture
async def wire(rig: Rig) -> AsyncGenerator[Wire]:
    async with wired(rig.gateway) as wire:
        yield wire


def call(title: str = "milk", **more: Any) -> Document:
    return stateless(ASKABLE, name="delete_note", arguments={"title": title}, **more)


async def asked(wire: Wire) -> tuple[str, str]:
    """Begin a call: under which key the answer is wanted, and the state to bring along."""
    result = await wire.ask("tools/call", call())
    assert result["resultType"] == "input_required"
    (key,) = result["inputRequests"]
    return key, result["requestState"]


def answered(key: str, state: str, title: str = "milk") -> Document:
    return call(title, inputResponses={key: YES}, requestState=state)


async def refusal(wire: Wire, params: Document) -> tuple[int, str]:
    error = await wire.refused("tools/call", params)
    assert error["message"].startswith(REFUSED)
    return error["code"], error["data"]["reason"]


async def test_the_answer_is_brought_by_the_next_request(wire: Wire, desk: ScriptedToolset) -> None:
    key, state = await asked(wire)
    assert desk.received == []
    result = await wire.ask("tools/call", answered(key, state))
    assert result["resultType"] == "complete"
    assert len(desk.received) == 1


@requirement("DSP-6")
async def test_a_state_is_good_for_one_answer(wire: Wire, desk: ScriptedToolset) -> None:
    key, state = await asked(wire)
    await wire.ask("tools/call", answered(key, state))
    assert await refusal(wire, answered(key, state)) == (-32602, "invalid_request_state")
    assert len(desk.received) == 1


@requirement("DSP-6")
async def test_a_call_that_is_made_anew_is_asked_about_anew(
    wire: Wire, desk: ScriptedToolset
) -> None:
    first = await asked(wire)
    key, state = await asked(wire)
    assert state != first[1]
    assert (await refusal(wire, answered(*first)))[0] == -32602
    result = await wire.ask("tools/call", answered(key, state))
    assert result["resultType"] == "complete"
    assert len(desk.received) == 1


async def test_a_state_is_good_for_the_call_that_was_asked_about(
    wire: Wire, desk: ScriptedToolset
) -> None:
    key, state = await asked(wire)
    await refusal(wire, answered(key, state, title="everything"))
    assert desk.received == []


async def test_a_state_that_somebody_touched_is_refused(wire: Wire, desk: ScriptedToolset) -> None:
    key, state = await asked(wire)
    middle = len(state) // 2
    other = "A" if state[middle] != "A" else "B"
    for bad in (state[:middle] + other + state[middle + 1 :], state[:-4], "v1.AAAA", "", "0"):
        await refusal(wire, answered(key, bad))
    assert desk.received == []
    assert (await wire.ask("tools/call", answered(key, state)))["resultType"] == "complete"


async def test_a_state_expires(
    wire: Wire, desk: ScriptedToolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, state = await asked(wire)
    later = time.time() + 601
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: later)
        await refusal(wire, answered(key, state))
    assert desk.received == []


async def test_the_state_of_another_gateway_is_refused(
    wire: Wire, tmp_path: Path, desk: ScriptedToolset
) -> None:
    key, state = await asked(wire)
    folder = tmp_path / "other"
    folder.mkdir()
    settings = document({}, approvals={"ask": ["*delete*"]})
    async with rigged(folder, settings, toolsets=(desk,)) as other, wired(other.gateway) as there:
        await refusal(there, answered(key, state))


@requirement("DSP-6")
async def test_an_answer_that_was_there_before_the_question_approves_nothing(
    wire: Wire, desk: ScriptedToolset
) -> None:
    key, state = await asked(wire)
    await wire.ask("tools/call", answered(key, state))
    result = await wire.ask("tools/call", call(inputResponses={key: YES}))
    assert result["resultType"] == "input_required"
    assert len(desk.received) == 1


async def test_an_answer_to_something_else_leaves_the_question_to_a_person_elsewhere(
    rig: Rig, wire: Wire, desk: ScriptedToolset
) -> None:
    _, state = await asked(wire)
    result = await wire.ask("tools/call", answered("another", state))
    assert len(rig.gateway.pending.waiting()) == 1
    assert "waits for their approval in tooldrawer" in result["content"][0]["text"]
    assert desk.received == []


async def test_a_person_who_comes_back_too_late_is_told_what_became_of_the_call(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    settings = document({}, approvals={"ask": ["*delete*"], "timeout": 0.1})
    async with rigged(tmp_path, settings, toolsets=(desk,)) as rig, wired(rig.gateway) as wire:
        key, state = await asked(wire)
        async with rig.gateway.drawer.activity.subscribe() as events:
            with anyio.fail_after(LONG):
                while not any(isinstance(e, CallRefused) for e in rig.gateway.drawer.activity):
                    await anext(aiter(events))
        result = await wire.ask("tools/call", answered(key, state))
    assert result["isError"] is True
    assert "no answer in time" in result["content"][0]["text"]
    assert desk.received == []


async def test_stopping_the_gateway_ends_calls_that_wait(
    tmp_path: Path, desk: ScriptedToolset
) -> None:
    settings = document({}, approvals={"ask": ["*delete*"]})
    with anyio.fail_after(LONG):
        async with rigged(tmp_path, settings, toolsets=(desk,)) as rig, wired(rig.gateway) as wire:
            await asked(wire)
            assert len(rig.gateway.parking) == 1
    answers = [e for e in rig.gateway.drawer.activity if isinstance(e, ApprovalAnswered)]
    assert [answer.answer for answer in answers] in ([], ["cancelled"])
    assert desk.received == []


async def test_an_answer_to_a_question_that_was_taken_back_does_not_answer_the_next(
    tmp_path: Path,
) -> None:
    file, gate = goods(tmp_path / "shop.json", tool("waver")), tmp_path / "gate"
    settings = document({"shop": shelf(file)})
    call: Document = {"name": "mcp_shop_waver", "arguments": {"gate": str(gate)}}
    async with rigged(tmp_path, settings) as rig, wired(rig.gateway) as wire:
        await rig.settled()
        said: list[str] = []
        result = await wire.ask("tools/call", stateless(ASKABLE, **call))
        let_in(gate)
        await eventually(lambda: any(each["method"] == "asked" for each in log(file)))
        for _ in range(3):  # so that the gateway has read it too
            await wire.ask("tools/list", stateless())
        while result["resultType"] == "input_required":
            ((key, question),) = result["inputRequests"].items()
            said.append(question["params"]["message"])
            answer: Document = {"action": "accept", "content": {"a": said[-1]}}
            more = {"inputResponses": {key: answer}, "requestState": result["requestState"]}
            result = await wire.ask("tools/call", stateless(ASKABLE, **call, **more))
    assert said == ["[shop] first", "[shop] second"]
    assert '"a": "[shop] second"' in result["content"][0]["text"]
