"""The gateway: what it adds to a call, how soon it answers, and what it holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import anyio

from tooldrawer.bench import footprint, report
from tooldrawer.bench.legs import (
    BARE,
    FASTMCP,
    GATEWAY,
    STRAIGHT,
    Leg,
    Room,
    check_fastmcp,
    over_http,
    over_stdio,
)
from tooldrawer.bench.report import Row, Table
from tooldrawer.bench.traffic import TOOLS, Pulse, compare, connected
from tooldrawer.errors import ToolFailed

GROUPS = ("gateway", "peers")
"""The tables that the rows stand in."""
_GATEWAY, _PEERS = GROUPS
_ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
"""The SDK client's modes, and the protocol that they come to speak."""
_CROWD = 128
"""Calls at a time when it is calls in a second that count."""
_BAR = 1.5
"""How many times the straight call a call through the gateway may take."""
_BEHIND = {BARE: 20.0, FASTMCP: 0.0}
"""Percent of a peer's calls in a second that the gateway may be short of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured."""

    rounds: int
    calls: Mapping[int, int]
    """How many calls a round has, for each number of them under way at once."""
    runs: int
    """How often a gateway is started for the first `tools/list`."""
    slow_servers: int
    idle_servers: int
    clients: int
    calls_before: int
    calls_after: int


FULL = Effort(
    rounds=5,
    calls={1: 200, 16: 480, _CROWD: 768},
    runs=3,
    slow_servers=20,
    idle_servers=20,
    clients=50,
    calls_before=2_000,
    calls_after=20_000,
)
QUICK = Effort(
    rounds=1,
    calls={1: 5, 16: 32, _CROWD: 128},
    runs=1,
    slow_servers=2,
    idle_servers=1,
    clients=2,
    calls_before=32,
    calls_after=64,
)
"""Shows that everything runs; its figures mean little."""


def run(*, fastmcp: str | None = None, effort: Effort = FULL) -> list[Row]:
    """Every row; `fastmcp` is a Python that has it, and its leg is left out without one.

    Raises:
        ConfigError: That Python has no fastmcp.
        ToolFailed: A leg does not answer as the server does.
    """
    if fastmcp:
        check_fastmcp(fastmcp)
    try:
        return anyio.run(partial(_rows, fastmcp, effort))
    except ExceptionGroup as errors:  # of all calls under way, the first that went wrong
        first = _first(errors)
        raise ToolFailed(f"A call that was measured failed: {first}") from first


def _first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


def tables(rows: Sequence[Row]) -> dict[str, Table]:
    """The rows of each group as a table, which says when fastmcp's leg was left out."""
    made = report.tables(rows)
    if not any(FASTMCP in row.what for row in rows):
        missing = (f"through {FASTMCP}", "not measured", "", "needs --fastmcp PYTHON")
        made[_PEERS] = replace(made[_PEERS], rows=[*made[_PEERS].rows, missing])
    return made


async def _rows(fastmcp: str | None, effort: Effort) -> list[Row]:
    rows: list[Row] = []
    with TemporaryDirectory() as folder, Room(Path(folder)) as room:
        rows += await _speed("stdio", room, over_stdio(room, fastmcp=fastmcp), effort)
    with TemporaryDirectory() as folder, Room(Path(folder)) as room:
        async with over_http(room) as legs:
            rows += await _speed("HTTP", room, legs, effort)
    rows += await footprint.first_list_rows(
        _ERAS, servers=effort.slow_servers, runs=effort.runs, group=_GATEWAY
    )
    rows += await footprint.idle_rows(servers=effort.idle_servers, group=_GATEWAY)
    rows += await footprint.busy_rows(
        clients=effort.clients,
        before=effort.calls_before,
        calls=effort.calls_after,
        group=_GATEWAY,
    )
    return rows


async def _speed(transport: str, room: Room, legs: Sequence[Leg], effort: Effort) -> list[Row]:
    """A call's time and calls in a second on every leg, in both eras."""
    rows: list[Row] = []
    for mode, era in _ERAS.items():
        where = f"{transport}, {era}"
        async with connected(room, legs, mode) as clients:
            for tool, at_once in product(TOOLS, effort.calls):
                pulses = await compare(
                    clients,
                    tool,
                    calls=effort.calls[at_once],
                    at_once=at_once,
                    rounds=effort.rounds,
                )
                if at_once != _CROWD:
                    rows += _time_rows(f"{where}: {tool}, {at_once} at a time", pulses)
                else:
                    rows += _rate_rows(f"{where}: {tool}, {at_once} at a time", pulses)
    return rows


def _time_rows(what: str, pulses: Mapping[str, Pulse]) -> Iterator[Row]:
    """A call on each leg against the straight one."""
    straight = pulses[STRAIGHT].p50
    for name, pulse in pulses.items():
        if name != STRAIGHT:
            yield Row(
                what=what if name == GATEWAY else f"{what}, through {name}",
                value=pulse.p50 * 1e3,
                unit="ms",
                bar=straight * 1e3 * _BAR if name == GATEWAY else None,
                against="straight",
                ratio=pulse.p50 / straight,
                group=_GATEWAY if name == GATEWAY else _PEERS,
            )


def _rate_rows(what: str, pulses: Mapping[str, Pulse]) -> Iterator[Row]:
    """Calls in a second through the gateway, and how far that is behind its peers."""
    ours = pulses[GATEWAY].per_second
    yield Row(
        what=what,
        value=ours,
        unit="calls/s",
        against="straight",
        ratio=ours / pulses[STRAIGHT].per_second,
        group=_GATEWAY,
    )
    for name, bar in _BEHIND.items():
        if name in pulses:
            yield Row(
                what=f"{what}: fewer calls/s than through {name}",
                value=(1 - ours / pulses[name].per_second) * 100,
                unit="%",
                bar=bar,
                against=name,
                ratio=ours / pulses[name].per_second,
                group=_GATEWAY,
            )
