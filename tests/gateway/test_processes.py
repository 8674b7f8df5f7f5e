"""The gateway as it is started: a process of its own, over stdio or HTTP."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import httpx2
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.gateway.rig import (
    HANDSHAKE,
    LONG,
    ROOT,
    Document,
    Rig,
    called,
    document,
    eventually,
    goods,
    let_in,
    log,
    places,
    rigged,
    searched,
    shelf,
    tool,
    write,
)
from tests.gateway.wire import Wire, stateless, to_line, wired
from tests.requirements import requirement

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Process:
    """`tooldrawer serve`, which a test speaks to line by line."""

    def __init__(self, running: anyio.abc.Process) -> None:
        assert running.stdin is not None
        assert running.stdout is not None
        self.running = running
        self.stdin = running.stdin
        self.stdout = BufferedByteReceiveStream(running.stdout)

    async def send(self, **message: Any) -> None:
        await self.stdin.send(to_line(message))

    async def line(self) -> bytes:
        """The next line."""
        with anyio.fail_after(LONG):
            return await self.stdout.receive_until(b"\n", 1 << 20)

    async def answer(self, identity: int, method: str, params: Document) -> bytes:
        """Ask; the line of the answer."""
        await self.send(id=identity, method=method, params=params)
        while json.loads(line := await self.line()).get("id") != identity:
            pass
        return line

    async def over(self) -> int:
        """Its exit code."""
        with anyio.fail_after(LONG):
            return await self.running.wait()


@asynccontextmanager
async def started(folder: Path, settings: Document, *options: str) -> AsyncGenerator[Process]:
    """Start it; it is gone at the end."""
    path = write(folder / "tooldrawer.yaml", settings)
    running = await anyio.open_process(
        [sys.executable, "-m", "tooldrawer", "serve", "--config", str(path), *options],
        stderr=subprocess.DEVNULL,
        env={**os.environ, **places(folder), "PYTHONHASHSEED": str(len(folder.name))},
        cwd=ROOT,
    )
    async with running:
        try:
            yield Process(running)
        finally:
            if running.returncode is None:
                running.kill()


def array(line: bytes) -> bytes:
    """The bytes of the array in an answer to `tools/list`."""
    found = line[line.index(b'"tools":') :]
    return found[: found.rindex(b"]")]


def stocked(folder: Path) -> Document:
    """Settings with two servers, whose tools come in another order each time."""
    for name in ("shop", "lab"):
        tools = [tool(each) for each in ("a", "b", "fall", "wait")]
        goods(folder / f"{name}.json", *tools, instructions="Hello.")
    servers = {name: shelf(folder / f"{name}.json") for name in ("shop", "lab")}
    return document(servers, tools={"pinned": ["mcp_shop_a"]})


@requirement("CACHE-1")
async def test_every_process_and_every_client_is_given_the_same_bytes(tmp_path: Path) -> None:
    arrays: set[bytes] = set()
    for name in ("one", "another"):
        folder = tmp_path / name
        folder.mkdir()
        async with started(folder, stocked(folder)) as process:
            search: Document = {"name": "tool_search", "arguments": {"query": "a"}}
            await process.answer(1, "tools/call", stateless(**search))  # so that both are there
            arrays.add(array(await process.answer(2, "tools/list", stateless())))
    folder = tmp_path / "third"
    folder.mkdir()
    async with rigged(folder, stocked(folder)) as rig:
        await rig.settled()
        for version in ("2024-11-05", HANDSHAKE, ""):
            async with wired(rig.gateway) as wire:
                arrays.add(await _array(wire, version))
    (same,) = arrays
    assert b"mcp_shop_a" in same
    assert b"tool_search" in same


async def test_over_stdio_a_signal_lets_calls_finish(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with started(tmp_path, stocked(tmp_path)) as process:
        call: Document = {"name": "mcp_shop_wait", "arguments": {"gate": str(gate)}}
        await process.send(id=1, method="tools/call", params=stateless(**call))
        await eventually(lambda: "tools/call" in str(log(tmp_path / "shop.json")))
        process.running.send_signal(signal.SIGTERM)
        let_in(gate)
        assert json.loads(await process.line())["result"]["content"][0]["text"] == "waited"
        assert await process.over() == 0


async def _array(wire: Wire, version: str) -> bytes:
    if version:
        await wire.shake_hands(version)
    result = await wire.ask("tools/list", {} if version else stateless())
    return b'"tools":' + json.dumps(result["tools"], separators=(",", ":")).encode()[:-1]


async def test_over_http_a_signal_lets_calls_finish(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with started(tmp_path, stocked(tmp_path), "--http", "--port", "0") as process:
        address = (await process.line()).decode().split()[-1]
        async with httpx2.AsyncClient(timeout=LONG) as http:
            await eventually(lambda: "tools/list" in str(log(tmp_path / "shop.json")))
            call: Document = {"name": "mcp_shop_wait", "arguments": {"gate": str(gate)}}
            body: Document = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
            headers = {
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": "mcp_shop_wait",
            }
            answers: list[httpx2.Response] = []

            async def ask() -> None:
                params = stateless(**call)
                answers.append(
                    await http.post(address, json={**body, "params": params}, headers=headers)
                )

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                await eventually(lambda: "tools/call" in str(log(tmp_path / "shop.json")))
                process.running.send_signal(signal.SIGTERM)
                let_in(gate)
        assert await process.over() == 0
    assert "waited" in answers[0].text


@requirement("CACHE-2")
@pytest.mark.parametrize("version", [HANDSHAKE, ""], ids=["handshake", "stateless"])
async def test_nothing_that_comes_and_goes_changes_a_byte(tmp_path: Path, version: str) -> None:
    settings = stocked(tmp_path)
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        async with wired(rig.gateway) as wire:
            first = await _array(wire, version)
            async with rig.client(HANDSHAKE) as client:
                await searched(client, "a")
                await client.call_tool("tool_describe", {"name": "mcp_lab_a"})
                await called(client, "mcp_lab_fall")
                await _started(rig, "lab", times=2)
                goods(tmp_path / "lab.json", tool("new"))
                lab = next(each for each in rig.gateway.upstreams() if each.name == "mcp-lab")
                await eventually(lambda: [each.name for each in lab.tools()] == ["mcp_lab_new"])
            result = await wire.ask("tools/list", {} if version else stateless())
            now = json.dumps(result["tools"], separators=(",", ":")).encode()
            assert b'"tools":' + now[:-1] == first


async def _started(rig: Rig, name: str, *, times: int) -> None:
    server = next(each for each in rig.gateway.upstreams() if each.spec.name == name)
    await eventually(lambda: server.status.state == "up" and server.status.starts == times)
