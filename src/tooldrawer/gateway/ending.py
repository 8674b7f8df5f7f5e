"""Being asked to stop, by signals."""

import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskStatus


def _nothing() -> None: ...


@asynccontextmanager
async def stopped_by_signals(
    stop: Callable[[], None],
    *,
    drained: Callable[[], Awaitable[None]],
    asked: Callable[[], None] = _nothing,
) -> AsyncGenerator[None]:
    """Within the block a signal calls `asked`, and `stop` once all is `drained`; a second, at once.

    Servers are started and stopped inside it: a signal that had its usual meaning meanwhile would
    leave them behind. Clients send one two seconds after closing our input, and kill us two seconds
    later.
    """
    async with anyio.create_task_group() as tasks:
        await tasks.start(_wait, stop, drained, asked)
        yield
        tasks.cancel_scope.cancel()


async def _wait(
    stop: Callable[[], None],
    drained: Callable[[], Awaitable[None]],
    asked: Callable[[], None],
    *,
    task_status: TaskStatus[None],
) -> None:
    with anyio.open_signal_receiver(*_signals()) as signals:
        task_status.started()
        await anext(signals)
        asked()

        async def drain() -> None:
            await drained()
            stop()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drain)
            async for _ in signals:
                stop()


def _signals() -> Iterator[signal.Signals]:
    yield from (signal.SIGTERM, signal.SIGINT)
    # The terminal was closed. Under `nohup` that is ignored, and stays so.
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        yield signal.SIGHUP
