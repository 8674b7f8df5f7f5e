"""The benchmark of the gateway measures, says what holds, and names what it left out."""

import json
import subprocess
import sys
from pathlib import Path

import anyio.lowlevel
import pytest

from tests.cli.shell import Shell
from tooldrawer.bench import gateway
from tooldrawer.bench.footprint import resident
from tooldrawer.bench.legs import BARE, ECHO, FASTMCP, GATEWAY, STRAIGHT, Leg, Room, over_stdio
from tooldrawer.bench.report import Row
from tooldrawer.bench.traffic import TOOLS, compare, connected, pulse
from tooldrawer.errors import ToolFailed

LONG = 880
"""Seconds: two dozen processes are started, one after the other."""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.timeout(900)
def test_every_bar_is_measured_and_a_missed_one_is_told_to_the_caller(shell: Shell) -> None:
    places = (f"<!-- figures: {name} --><!-- /figures -->\n" for name in gateway.GROUPS)
    shell.write("all.md", "".join(places))
    line = ("bench", "gateway", "--quick", "--json", "--write", "all.md")
    with shell.started(*line) as process:
        out, err = process.communicate(timeout=LONG)
    assert err == ""
    rows = json.loads(out)
    assert process.returncode == (1 if any(row["holds"] is False for row in rows) else 0)

    names = [row["what"] for row in rows]
    assert len(set(names)) == len(names)
    for transport in ("stdio", "HTTP"):
        for era in ("2026-07-28", "2025-11-25"):
            for tool in TOOLS:
                for at_once in (1, 16):
                    assert f"{transport}, {era}: {tool}, {at_once} at a time" in names
    barred = [row["what"] for row in rows if row["bar"] is not None]
    assert sum("at a time" in what and "fewer" not in what for what in barred) == 16
    assert sum(f"fewer calls/s than through {BARE}" in what for what in barred) == 4
    assert sum("first tools/list" in what for what in barred) == 2
    assert sum("calls leave behind" in what for what in barred) == 1
    assert any("idle servers" in what for what in names)
    assert any("connected clients" in what for what in names)

    text = (shell.folder / "all.md").read_text(encoding="utf-8")
    assert all(f"| {name} |" in text for name in names)
    assert f"| through {FASTMCP} | not measured |  | needs --fastmcp PYTHON |" in text
    assert text.count("Written by `tooldrawer bench gateway`.") == len(gateway.GROUPS)


def test_a_python_without_fastmcp_is_refused_before_anything_is_measured(shell: Shell) -> None:
    for python in (sys.executable, "no-such-python"):
        said = shell.run("bench", "gateway", "--fastmcp", python).refusal
        assert said.startswith(f"{python}: cannot import fastmcp's proxy.")
        assert "pip install fastmcp" in said


def test_a_document_without_the_marks_is_refused_before_anything_is_measured(shell: Shell) -> None:
    shell.write("README.md", "# Title\n")
    said = shell.run("bench", "gateway", "--write", "README.md").refusal
    assert "put <!-- figures: gateway --> or <!-- figures: peers -->" in said


def test_the_table_names_fastmcp_as_left_out_only_when_it_was() -> None:
    bare, fast = (
        Row(what=f"through {name}", value=1, unit="ms", group="peers") for name in (BARE, FASTMCP)
    )
    assert [row[1] for row in gateway.tables([bare])["peers"].rows] == ["1 ms", "not measured"]
    assert [row[1] for row in gateway.tables([bare, fast])["peers"].rows] == ["1 ms", "1 ms"]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the benchmark never runs on another one
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_legs_take_turns_and_every_answer_is_the_servers(tmp_path: Path, mode: str) -> None:
    with Room(tmp_path) as room:
        legs = [leg for leg in over_stdio(room, fastmcp=None) if leg.name in {STRAIGHT, BARE}]
        async with connected(room, legs, mode) as clients:
            for tool in TOOLS:
                pulses = await compare(clients, tool, calls=8, at_once=4, rounds=2)
                assert list(pulses) == [STRAIGHT, BARE]
                assert all(each.p50 > 0 and each.per_second > 0 for each in pulses.values())


@pytest.mark.anyio
async def test_an_answer_that_is_not_the_servers_is_no_figure(tmp_path: Path) -> None:
    with Room(tmp_path) as room:
        # Whoever answers here has no tool_call.
        leg = Leg(name=GATEWAY, to=ECHO)
        async with leg.connected(room, "auto") as client:
            with pytest.raises(ToolFailed, match="gateway: 'echo' answered"):
                await leg.call(client, "echo", "hello")


@pytest.mark.anyio
async def test_a_program_that_does_not_start_is_named_with_its_last_words(tmp_path: Path) -> None:
    with Room(tmp_path) as room:
        leg = Leg(name=BARE, to=(sys.executable, "-c", "raise SystemExit('no proxy today')"))
        with pytest.raises(ToolFailed, match=f"{BARE}: nobody answers. It said: no proxy today"):
            async with leg.connected(room, "legacy"):
                pytest.fail("nobody is there")


@pytest.mark.anyio
async def test_a_pulse_keeps_so_many_calls_under_way_and_sends_each_message_once() -> None:
    sent: list[str] = []
    under_way = most = 0

    async def send(message: str) -> None:
        nonlocal under_way, most
        sent.append(message)
        under_way += 1
        most = max(most, under_way)
        await anyio.lowlevel.checkpoint()
        under_way -= 1

    await pulse(send, calls=10, at_once=4)
    assert len(sent) == len(set(sent)) == 10
    assert most == 4


def test_the_memory_of_another_process_is_its_own() -> None:
    holding = "data = b'x' * 64_000_000; print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert 64 < resident(process.pid) < 128
        process.communicate(b"\n")
