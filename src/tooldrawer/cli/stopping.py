"""Work that a signal stops."""

import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio
from anyio.abc import TaskStatus

Value = TypeVar("Value")

LEAVE = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
"""Signals that end the program: it was told to, or its terminal is gone."""


async def stoppable(
    work: Callable[[], Awaitable[Value]], *signals: signal.Signals
) -> Value | signal.Signals:
    """What came of `work`, or the signal that cancelled it.

    The signals are received by the event loop and until the work is really over: an impatient
    second Ctrl-C must not end the program while the first one still ends a command.
    """
    stopped: list[signal.Signals] = []
    results: list[Value] = []
    failures: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def receive(*, task_status: TaskStatus[None]) -> None:
            with anyio.open_signal_receiver(*signals) as received:
                task_status.started()
                async for number in received:
                    stopped.append(number)
                    scope.cancel()

        if signals and sys.platform != "win32":
            await tasks.start(receive)
        try:
            with scope:
                results.append(await work())
        except Exception as error:  # noqa: BLE001  passed on below: out of here it would be one of a group
            failures.append(error)
        tasks.cancel_scope.cancel()
    if failures:
        raise _alone(failures[0])
    return results[0] if results else stopped[0]


def _alone(error: Exception) -> Exception:
    """The one error that a group of groups is about."""
    group = cast("ExceptionGroup[Exception]", error)
    if isinstance(error, ExceptionGroup) and len(group.exceptions) == 1:
        return _alone(group.exceptions[0])
    return group
