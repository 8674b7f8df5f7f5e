"""What is already in a conversation is never rewritten: the request bodies are compared."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.agent.loop.rig import CREATE, WAYS, Way, github, slack, staged, use
from tests.fakes import ScriptedToolset
from tests.models.request import Request
from tests.models.script import Call, Say, Search, Turn
from tests.models.server import ModelServer, scripted
from tests.requirements import requirement
from tooldrawer import Tool

pytestmark = pytest.mark.anyio
TURNS = 20
_MESSAGES = {
    "chat": "messages",
    "responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
}


def _steps(way: Way) -> list[Any]:
    """Twenty requests: searches, calls, parallel calls, mistakes and plain answers in turn."""
    found = use(way, CREATE, {"title": "x"})
    rounds = [
        Search("create an issue"),
        found,
        Turn(text="Two at once.", calls=(found, Call("nobody", {}, blind=True))),
        Search("something that nobody offers, quite certainly"),
        Say("Done with this."),
    ]
    return rounds * (TURNS // len(rounds))


def _parts(request: Request) -> tuple[dict[str, str], list[str], list[str]]:
    """The request in three: what stands beside, the tools, the messages; each as its own bytes."""
    body = request.json
    messages = body[_MESSAGES[request.wire]]
    tools: list[dict[str, Any]] = body.get("tools", [])
    plain = [json.dumps(tool) for tool in tools if not tool.get("defer_loading")]
    deferred = [json.dumps(tool) for tool in tools if tool.get("defer_loading")]
    beside = {
        key: json.dumps(value)
        for key, value in body.items()
        if key not in ("tools", _MESSAGES[request.wire])
    }
    return {**beside, "tools": "".join(plain)}, deferred, [json.dumps(each) for each in messages]


async def _converse(server: ModelServer, way: Way) -> None:
    """Four tasks, and before each of them tools come, change and go."""
    async with staged(server, way) as stage:
        registry = stage.drawer.registry
        await stage.agent.run("First.")
        registry.add(ScriptedToolset("mcp-new", [Tool(name="mcp_new_issue", description="x")]))
        await stage.agent.run("Second.")
        registry.exchange(["mcp-slack", "mcp-new"], ())
        registry.exchange(["mcp-github"], [_changed()])
        await stage.agent.run("Third.")
        registry.exchange(["mcp-github"], [slack()])
        await stage.agent.run("Fourth.")


def _changed() -> ScriptedToolset:
    """The server after an update: another description, one more tool."""
    tools = [
        *(replace(tool, description=f"Now: {tool.description}") for tool in github().tools()),
        Tool(name="mcp_github_star", description="Star a repository.", source="mcp-github"),
    ]
    return ScriptedToolset("mcp-github", tools)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@requirement("CACHE-1")
@requirement("CACHE-2")
@requirement("CACHE-3")
async def test_twenty_requests_only_ever_add_to_the_one_before(way: Way) -> None:
    with scripted(*_steps(way)) as server:
        await _converse(server, way)
    assert len(server.requests) == TURNS
    assert not server.refusals
    for before, after in zip(server.requests, server.requests[1:], strict=False):
        beside, deferred, messages = _parts(before)
        beside_now, deferred_now, messages_now = _parts(after)
        assert beside_now == beside
        assert messages_now[: len(messages)] == messages
        assert len(messages_now) > len(messages)
        # What the provider loads by itself is not in the prompt's prefix; it is only added to.
        assert deferred_now[: len(deferred)] == deferred


@pytest.mark.parametrize("way", [way for way in WAYS if way[1] == "portable"], ids="-".join)
@requirement("CACHE-3")
async def test_the_bytes_of_a_request_begin_the_next_one(way: Way) -> None:
    with scripted(*_steps(way)) as server:
        await _converse(server, way)
    for before, after in zip(server.requests, server.requests[1:], strict=False):
        assert _common(before.body, after.body) >= _end_of_messages(before) > 0


def _end_of_messages(request: Request) -> int:
    """Where the last message ends."""
    last = request.json[_MESSAGES[request.wire]][-1]
    for separators in ((",", ":"), (", ", ": ")):
        for ascii_only in (True, False):
            text = json.dumps(last, separators=separators, ensure_ascii=ascii_only).encode()
            if text in request.body:
                return request.body.rindex(text) + len(text)
    raise AssertionError("the last message is not in the body as JSON")


def _common(one: bytes, other: bytes) -> int:
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@requirement("CACHE-1")
async def test_another_process_sends_the_same_tools(way: Way) -> None:
    bodies: list[dict[str, str]] = []
    for _ in range(2):
        with scripted(Say("Hello.")) as server:
            async with staged(server, way) as stage:
                await stage.agent.run("Hello.")
        bodies.append(_parts(server.requests[0])[0])
    assert bodies[0] == bodies[1]
