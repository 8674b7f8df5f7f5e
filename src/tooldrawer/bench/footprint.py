"""How soon a gateway answers and how much it holds, with slow servers, many clients, many calls."""

import subprocess
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import httpx2

from tooldrawer.bench.legs import ECHO, GATEWAY, STRAIGHT, Leg, Room, until
from tooldrawer.bench.peers import slow
from tooldrawer.bench.report import Row
from tooldrawer.bench.traffic import TOOLS, connected, pulse

_SLEEP = "10"
"""Seconds that a slow server takes to answer anything."""
_AT_ONCE = 16
_GROWTH_BAR = 5.0
"""MB; a quarter of a kilobyte for each of 20,000 calls, less than anything kept of a call takes."""


async def first_list_rows(
    modes: Mapping[str, str], *, servers: int, runs: int, group: str
) -> list[Row]:
    """From process start to the first answered `tools/list`, in front of servers that sleep."""
    sleeper = (sys.executable, str(Path(slow.__file__)), _SLEEP)
    rows: list[Row] = []
    for mode, era in modes.items():
        ours, plain = list[float](), list[float]()
        for _ in range(runs):
            plain.append(await _first_list({}, mode))
            ours.append(await _first_list({f"slow{at}": sleeper for at in range(servers)}, mode))
        rows.append(
            Row(
                what=f"{era}: first tools/list, {servers} servers that take {_SLEEP} s each",
                value=median(ours),
                unit="s",
                bar=2,
                against="the echo server's own",
                ratio=median(ours) / median(plain),
                group=group,
            )
        )
    return rows


async def _first_list(servers: dict[str, tuple[str, ...]], mode: str) -> float:
    """Seconds, with nothing known from an earlier run; without servers, of the echo server."""
    with TemporaryDirectory() as folder, Room(Path(folder)) as room:
        leg = Leg(name=STRAIGHT, to=ECHO)
        if servers:
            leg = Leg(name=GATEWAY, to=room.gateway(servers))
        started = perf_counter()
        async with leg.connected(room, mode) as client:
            await client.list_tools()
            return perf_counter() - started


async def idle_rows(*, servers: int, group: str) -> list[Row]:
    """What a gateway holds in memory, and what each server adds that nobody calls."""
    none, many = await _idle(0), await _idle(servers)
    return [
        Row(what="memory of a gateway without servers", value=none, unit="MB", group=group),
        Row(
            what=f"memory for each of {servers} idle servers",
            value=(many - none) / servers,
            unit="MB",
            against="the gateway without them",
            ratio=(many - none) / servers / none,
            group=group,
        ),
    ]


async def _idle(servers: int) -> float:
    """MB of a gateway whose servers are all up."""
    with TemporaryDirectory() as folder, Room(Path(folder)) as room:
        line = room.gateway({f"echo{at}": ECHO for at in range(servers)}, "--http", "--port", "0")
        async with room.listening(*line) as (address, process):
            await _ready(address)
            async with Leg(name=GATEWAY, to=address).connected(room, "auto") as client:
                await client.list_tools()
            return resident(process)


async def busy_rows(*, clients: int, before: int, calls: int, group: str) -> list[Row]:
    """What each connected client holds, and whether calls leave anything behind."""
    with TemporaryDirectory() as folder, Room(Path(folder)) as room:
        line = room.gateway({"echo": ECHO}, "--http", "--port", "0")
        async with room.listening(*line) as (address, process):
            await _ready(address)
            leg = Leg(name=GATEWAY, to=address)
            async with connected(room, [leg], "auto") as warm:
                send = partial(leg.call, warm[GATEWAY][1], TOOLS[0])
                await pulse(send, calls=before, at_once=_AT_ONCE)
                settled = resident(process)
                await pulse(send, calls=calls, at_once=_AT_ONCE)
                grown = resident(process)
            async with AsyncExitStack() as stack:
                for _ in range(clients):
                    client = await stack.enter_async_context(leg.connected(room, "legacy"))
                    await client.list_tools()
                crowded = resident(process)
    return [
        Row(
            what=f"memory for each of {clients} connected clients",
            value=(crowded - grown) / clients * 1024,
            unit="KB",
            against="the gateway without them",
            ratio=(crowded - grown) / clients / grown,
            group=group,
        ),
        Row(
            what=f"memory that {calls:,} calls leave behind, after the first {before:,}",
            value=max(grown - settled, 0.0),
            unit="MB",
            bar=_GROWTH_BAR,
            against="before them",
            ratio=grown / settled,
            group=group,
        ),
    ]


async def _ready(address: str) -> None:
    """Wait until all servers behind the gateway are up."""
    async with httpx2.AsyncClient() as web:

        async def is_ready() -> bool:
            return (await web.get(f"{address}/readyz")).is_success

        await until(is_ready)


def resident(process: int) -> float:
    """MB that another process holds in memory now."""
    status = Path(f"/proc/{process}/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
    shown = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process)], capture_output=True, check=True
    )
    return int(shown.stdout) / 1024
