"""Requests only ever grow: whatever goes wrong on the way, and in whichever process they go on."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.agent.loop.rig import CREATE, TEXT, WAYS, Stage, Way, staged, tool, use
from tests.fakes import ScriptedToolset, echo
from tests.golden.conversations import PIXEL
from tests.models.request import Request, compact
from tests.models.script import Call, Cut, Fail, InvalidUtf8, Say, Search, Turn
from tests.models.server import ModelServer, scripted
from tests.requirements import requirement
from tooldrawer import Tool, ToolCall, ToolResult
from tooldrawer.agent.conversation import Conversation
from tooldrawer.agent.conversations import Conversations
from tooldrawer.call import text_block
from tooldrawer.errors import ModelFailed
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio
every_way = pytest.mark.parametrize("way", WAYS, ids="-".join)
MESSAGES = {"chat": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}
LOOK = "mcp_eye_look"
LONG = "All work and no play makes a dull answer. " * 400


async def _seen(tool: Tool, call: ToolCall) -> ToolResult:
    match tool.name:
        case "mcp_eye_look":
            picture: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            return ToolResult(content=(text_block("“Zürich” 🏔"), picture), structured={"°": 1.0})
        case "mcp_eye_fail":
            return ToolResult.of_text("Too dark.", is_error=True)
        case _:
            return await echo(tool, call)


def _eye() -> ScriptedToolset:
    tools = [
        tool(CREATE, "Create an issue in a repository.", title=TEXT),
        tool(LOOK, "Look at a picture of a place."),
        tool("mcp_eye_fail", "Look where nothing can be seen."),
    ]
    return ScriptedToolset("mcp-eye", tools, _seen)


@asynccontextmanager
async def _resumed(server: ModelServer, way: Way, path: Path, **more: Any) -> AsyncGenerator[Stage]:
    """An agent that goes on with what is on the disk, as another process would."""
    kept = Conversations(path)
    latest = kept.latest("/")
    name = latest.id if latest else kept.start(model="scripted", cwd="/", scope="")
    conversation = Conversation(name, messages=kept.load(name), keeper=kept)
    async with staged(server, way, toolsets=[_eye()], conversation=conversation, **more) as stage:
        yield stage


def _parts(request: Request) -> tuple[dict[str, str], list[str], list[str]]:
    """What stands beside, the tools that the provider defers, the messages: each as bytes."""
    body, place = request.json, MESSAGES[request.wire]
    tools: list[dict[str, Any]] = body.get("tools", [])
    beside = {key: json.dumps(value) for key, value in body.items() if key not in ("tools", place)}
    beside["tools"] = json.dumps([each for each in tools if not each.get("defer_loading")])
    deferred = [json.dumps(each) for each in tools if each.get("defer_loading")]
    return beside, deferred, [json.dumps(each) for each in body[place]]


def _assert_grows(requests: Sequence[Request]) -> None:
    for before, after in pairwise(requests):
        beside, deferred, messages = _parts(before)
        beside_now, deferred_now, messages_now = _parts(after)
        assert beside_now == beside
        assert deferred_now[: len(deferred)] == deferred
        assert messages_now[: len(messages)] == messages
        if len(deferred_now) == len(deferred):
            assert after.body.startswith(_up_to_the_end(before))


def _up_to_the_end(request: Request) -> bytes:
    """The bytes of a request until its last message ends."""
    messages = compact(request.json[MESSAGES[request.wire]]).removesuffix(b"]")
    return request.body[: request.body.index(messages) + len(messages)]


def _mishaps(way: Way) -> list[list[Any]]:
    """What a model does wrong, and an endpoint: one task each."""
    look, words = use(way, LOOK, {}), Say("one two three four five six seven")
    tasks: list[list[Any]] = [
        [Turn(reasoning="Hm.", calls=(Search("look at a picture"),)), look, Say("Seen.")],
        [Call(None, {}, blind=True), Say("Named.")],
        [Call(LOOK, {"at": ["x"], "x": {"ü": 1.0}}, blind=True), Say("Repaired.")],
        [use(way, "mcp_eye_fail", {}), Say("Dark.")],
        [Cut(words), Cut(look, after=1), look, Say("Whole.")],
        [InvalidUtf8(), Say("Clean.")],
        [Cut(words), Cut(words), Cut(words)],
        [Turn(calls=(look, Search("create an issue"), look)), Say("All.", reasoning="Done?")],
    ]
    if way[0] != "gemini":  # which keeps broken arguments for itself, and has no client here
        tasks += [
            [Call(LOOK, raw='{"title": ', blind=True), Say("Mended.")],
            [Fail(429, "slow down", headers={"Retry-After": "1"}), Fail(503, "busy"), Say("Now.")],
            [Fail(400, "no")],
        ]
    return [*tasks, [Say("The end 🏔.")]]


@every_way
@requirement("CACHE-3")
async def test_requests_only_grow_whatever_goes_wrong_and_in_whichever_process(
    way: Way, tmp_path: Path
) -> None:
    sent: list[Request] = []
    for number, steps in enumerate(_mishaps(way)):
        with scripted(*steps) as server:
            async with _resumed(server, way, tmp_path / "kept.db") as stage:
                with suppress(ModelFailed):
                    await stage.agent.run(f"Task {number}.")
        assert not server.refusals
        sent += server.requests
    _assert_grows(sent)


@every_way
@requirement("CACHE-3")
async def test_a_summary_changes_what_was_sent_once_and_not_again(way: Way, tmp_path: Path) -> None:
    look = use(way, LOOK, {})
    tasks = (
        (Search("look at a picture"), look, Say(LONG)),
        (Say("Notes."), look, Say("Seen.")),
        (Search("create an issue"), look, Say("Again.")),
    )
    sent: list[Request] = []
    for number, steps in enumerate(tasks):
        with scripted(*steps) as server:
            async with _resumed(server, way, tmp_path / "kept.db", context_length=4_000) as stage:
                stage.agent.used = 4_000 if number == 1 else 0
                await stage.agent.run(f"Task {number}.")
        assert not server.refusals
        sent += server.requests
    *before, notes = sent[:4]
    _assert_grows(before)
    assert LONG[:50] in notes.body.decode()
    _assert_grows(sent[4:])
    assert len(sent) == 9
