"""Clients that speak older revisions are given nothing that they cannot read."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.rig import Document, Rig, document, eventually, goods, log, rigged, shelf, tool
from tests.gateway.test_processes import started
from tests.gateway.wire import Message, Wire, wired
from tests.requirements import requirement

pytestmark = pytest.mark.anyio
OLDEST, OLD, CODEX, CLAUDE = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"
VERSIONS = (OLDEST, OLD, CODEX, CLAUDE)
TEXT: Document = {"type": "text", "text": "hi"}
IMAGE: Document = {"type": "image", "data": "AA==", "mimeType": "image/png"}
AUDIO: Document = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
LINK: Document = {"type": "resource_link", "uri": "note://1", "name": "a note"}
NOTE: Document = {"type": "resource", "resource": {"uri": "note://1", "text": "a note"}}
MIXED: Document = {"content": [TEXT, IMAGE, AUDIO, LINK, NOTE], "structuredContent": {"a": 1}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=[(), ("--modern",)], ids=["handshake", "stateless"])
async def rig(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Rig]:
    file = goods(tmp_path / "shop.json", tool("give", annotations={"title": "Give"}))
    server = shelf(file, *request.param)
    async with rigged(tmp_path, document({"shop": server}, approvals={"ask": ["*lend*"]})) as rig:
        await rig.settled()
        yield rig


async def given(wire: Wire, result: Document) -> Any:
    """What a client gets of this result of a server."""
    call = {"name": "mcp_shop_give", "arguments": {"result": result}}
    return await wire.ask("tools/call", {"name": "tool_call", "arguments": call})


def kinds(result: Any) -> list[str]:
    return [block["type"] for block in result["content"]]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_client_is_answered_in_its_own_revision(rig: Rig, version: str) -> None:
    async with wired(rig.gateway) as wire:
        hello = await wire.shake_hands(version)
        listed = await wire.ask("tools/list")
    assert hello["protocolVersion"] == version
    assert hello["serverInfo"]["name"] == "tooldrawer"
    assert hello["capabilities"]["tools"] == {"listChanged": True}
    assert [each["name"] for each in listed["tools"]] == [
        "tool_search",
        "tool_describe",
        "tool_call",
    ]
    assert not {"resultType", "ttlMs", "cacheScope"} & {*hello, *listed}


@requirement("DSP-3")
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (OLDEST, ["text", "image", "text", "text", "resource"]),
        (OLD, ["text", "image", "audio", "text", "resource"]),
        (CODEX, ["text", "image", "audio", "resource_link", "resource"]),
        (CLAUDE, ["text", "image", "audio", "resource_link", "resource"]),
    ],
)
async def test_what_a_revision_cannot_read_becomes_text(
    rig: Rig, version: str, expected: list[str]
) -> None:
    async with wired(rig.gateway) as wire:
        await wire.shake_hands(version)
        result = await given(wire, MIXED)
    assert kinds(result) == expected
    assert "resultType" not in result
    text, image, audio, link, note = result["content"]
    assert (text, image, note) == (TEXT, IMAGE, NOTE)
    assert audio == AUDIO or audio["text"] == "[audio: audio/wav]"
    assert link == LINK or link["text"] == "[resource_link: note://1 a note]"


async def test_an_error_stays_an_error_in_every_revision(rig: Rig) -> None:
    for version in VERSIONS:
        async with wired(rig.gateway) as wire:
            await wire.shake_hands(version)
            assert (await given(wire, {"content": [TEXT], "isError": True}))["isError"] is True
            error = await wire.refused("tools/call", {"name": "nothing", "arguments": {}})
            assert error["code"] == -32602


async def test_a_client_that_wants_the_future_is_offered_the_present(rig: Rig) -> None:
    async with wired(rig.gateway) as wire:
        hello = await wire.shake_hands("2099-01-01")
    assert hello["protocolVersion"] == CLAUDE


async def test_a_client_that_asks_before_it_introduced_itself_is_refused(rig: Rig) -> None:
    async with wired(rig.gateway) as wire:
        assert (await wire.refused("tools/list"))["code"] == -32602
        await wire.shake_hands(CODEX)
        assert (await wire.ask("tools/list"))["tools"]


async def test_a_cancelled_request_is_not_answered_and_the_server_stops(tmp_path: Path) -> None:
    file = goods(tmp_path / "shop.json", tool("hang"))
    async with rigged(tmp_path, document({"shop": shelf(file)})) as rig:
        await rig.settled()
        async with wired(rig.gateway) as wire:
            await wire.shake_hands(OLDEST)
            hanging = wire.start("tools/call", {"name": "mcp_shop_hang", "arguments": {}})
            await eventually(lambda: "tools/call" in str(log(file)))
            wire.send(method="notifications/cancelled", params={"requestId": 999})
            wire.send(method="notifications/cancelled", params={"requestId": hanging})
            await eventually(lambda: "notifications/cancelled" in str(log(file)))
            assert await wire.ask("ping") == {}
            assert not wire.is_answered(hanging)
            assert len(rig.gateway.handlers.in_flight) == 0


CODEX_LIKE: Message = {"elicitation": {"form": {}, "url": {}}}
CLAUDE_LIKE: Message = {"roots": {"listChanged": True}, "elicitation": {}}


@requirement("DSP-6")
@pytest.mark.parametrize(
    ("version", "capabilities"),
    [(CODEX, CODEX_LIKE), (CLAUDE, CLAUDE_LIKE)],
    ids=["codex", "claude"],
)
async def test_a_question_has_the_form_that_the_client_knows(
    tmp_path: Path, version: str, capabilities: Message
) -> None:
    file = goods(tmp_path / "shop.json", tool("lend"))
    settings = document({"shop": shelf(file)}, approvals={"ask": ["*lend*"]})
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        async with wired(rig.gateway) as wire:
            await wire.shake_hands(version, capabilities)
            call = wire.start("tools/call", {"name": "mcp_shop_lend", "arguments": {}})
            await wire.until(lambda: wire.heard)
            (question,) = wire.heard
            assert question["method"] == "elicitation/create"
            assert set(question["params"]) == {"message", "requestedSchema"}
            (answer,) = question["params"]["requestedSchema"]["properties"].values()
            assert answer["type"] == "string"
            said: Document = {"action": "accept", "content": {"answer": "once"}}
            wire.send(id=question["id"], result=said)
            assert (await wire.answer(call))["result"]["content"]


async def test_a_real_process_speaks_with_a_client_line_by_line(tmp_path: Path) -> None:
    file = goods(tmp_path / "shop.json", tool("give"))
    async with started(tmp_path, document({"shop": shelf(file)})) as process:
        info = {"name": "codex-mcp-client", "version": "0.166.0", "title": "Codex"}
        hello: Document = {
            "protocolVersion": CODEX,
            "capabilities": CODEX_LIKE,
            "clientInfo": info,
        }
        first = json.loads(await process.answer(0, "initialize", hello))
        assert first["result"]["protocolVersion"] == CODEX
        await process.send(method="notifications/initialized")
        call: Document = {"name": "mcp_shop_give", "arguments": {"result": MIXED}}
        # As Codex does: with what it knows about the turn.
        params: Document = {"name": "tool_call", "arguments": call, "_meta": {"threadId": "t"}}
        result = json.loads(await process.answer(1, "tools/call", params))["result"]
        assert kinds(result) == ["text", "image", "audio", "resource_link", "resource"]
        assert result["structuredContent"] == {"a": 1}
        await process.stdin.aclose()
        assert await process.over() == 0
