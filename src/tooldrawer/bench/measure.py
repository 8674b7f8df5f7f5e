"""How long something takes and how much it holds, without the noise of other work."""

import gc
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter


def seconds(work: Callable[[], object], *, rounds: int = 200) -> float:
    """The median time of one call."""
    taken: list[float] = []
    gc.collect()
    for _ in range(rounds):
        started = perf_counter()
        work()
        taken.append(perf_counter() - started)
    return median(taken)


async def seconds_async(work: Callable[[], Awaitable[object]], *, rounds: int = 200) -> float:
    """The median time of one call that is awaited."""
    taken: list[float] = []
    gc.collect()
    for _ in range(rounds):
        started = perf_counter()
        await work()
        taken.append(perf_counter() - started)
    return median(taken)


def resident_megabytes() -> float:
    """What this process holds in memory."""
    # On Linux the peak of getrusage() is inherited from the process that started this one.
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    import resource  # noqa: PLC0415  not on Windows, where everything else here works

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
