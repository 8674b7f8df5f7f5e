"""Cancellations that nobody sent."""

import asyncio  # noqa: TID251  only asyncio lets an awaited future cancel whoever awaits it


def is_stray() -> bool:
    """Whether the cancellation being handled was never sent to this task.

    On asyncio, code that awaits a task or future of its own that was cancelled raises the very
    exception that a cancelled caller does. Passed on, it would end everything around the call.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop, where this cannot happen
        return False
    return task is not None and task.cancelling() == 0
