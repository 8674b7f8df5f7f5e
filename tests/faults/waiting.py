"""Waiting for what another process does, which nobody tells us."""

from collections.abc import Awaitable, Callable

import anyio

LONG = 120.0
"""Seconds after which a condition will not come true any more."""


async def eventually(condition: Callable[[], object]) -> None:
    """Return when the condition, or what it gives to wait for, is true."""
    with anyio.fail_after(LONG):
        while True:
            found = condition()
            if await found if isinstance(found, Awaitable) else found:
                return
            await anyio.sleep(0.05)
