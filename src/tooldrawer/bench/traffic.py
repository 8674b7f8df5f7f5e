"""Calls sent down several legs in turn, so that a busy machine slows all of them alike."""

import gc
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter

import anyio
from mcp import Client

from tooldrawer.bench.legs import Leg, Room, until
from tooldrawer.errors import ToolFailed

TOOLS = ("echo", "records")
"""The echo server's: an answer of one word, and one of 20 KB."""
_WARMING = 20
Send = Callable[[str], Awaitable[None]]
"""One call, with a message that must come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """How some calls went."""

    p50: float
    """Seconds that one call takes, in the middle."""
    per_second: float
    """Calls answered in a second."""


async def pulse(send: Send, *, calls: int, at_once: int) -> Pulse:
    """Send `calls`, always `at_once` of them under way."""
    taken: list[float] = []
    left = iter(range(calls))

    async def worker() -> None:
        for number in left:
            started = perf_counter()
            await send(f"message {number}")
            taken.append(perf_counter() - started)

    gc.collect()
    started = perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(worker)
    return Pulse(p50=median(taken), per_second=calls / (perf_counter() - started))


@asynccontextmanager
async def connected(
    room: Room, legs: Sequence[Leg], mode: str
) -> "AsyncGenerator[Mapping[str, tuple[Leg, Client]]]":
    """A client on each leg, after its first calls."""
    async with AsyncExitStack() as stack:
        clients = {
            leg.name: (leg, await stack.enter_async_context(leg.connected(room, mode)))
            for leg in legs
        }
        for leg, client in clients.values():
            await _warm(leg, client)
        yield clients


async def compare(
    clients: Mapping[str, tuple[Leg, Client]], tool: str, *, calls: int, at_once: int, rounds: int
) -> dict[str, Pulse]:
    """The middle of what each leg does in several rounds; every second one runs backwards."""
    sends = {name: partial(leg.call, client, tool) for name, (leg, client) in clients.items()}
    seen: dict[str, list[Pulse]] = {name: [] for name in sends}
    for turn in range(rounds):
        for name in reversed(sends) if turn % 2 else sends:
            seen[name].append(await pulse(sends[name], calls=calls, at_once=at_once))
    return {
        name: Pulse(
            p50=median(each.p50 for each in pulses),
            per_second=median(each.per_second for each in pulses),
        )
        for name, pulses in seen.items()
    }


async def _warm(leg: Leg, client: Client) -> None:
    """Call until nothing is done for the first time; what is behind a gateway may still start."""
    await client.list_tools()
    await until(partial(_answers, leg, client))
    for _ in range(_WARMING):
        for tool in TOOLS:
            await leg.call(client, tool, "warm")


async def _answers(leg: Leg, client: Client) -> bool:
    try:
        await leg.call(client, TOOLS[0], "first")
    except ToolFailed:
        return False
    return True
