"""The requests that are under way."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio
from mcp import MCPError
from mcp_types import INTERNAL_ERROR


class InFlight:
    """Counts requests; the landing of the last one can be waited for, or forced."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()
        self._landed = anyio.Event()

    def __len__(self) -> int:
        return len(self._scopes)

    @contextmanager
    def flight(self) -> Generator[None]:
        """Around one request.

        Raises:
            MCPError: It was ended here, before it was done.
        """
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        try:
            with scope:
                yield
        finally:
            self._scopes.discard(scope)
            if not self._scopes:
                self._landed.set()
                self._landed = anyio.Event()
        if scope.cancelled_caught:
            raise MCPError(
                INTERNAL_ERROR,
                "The gateway is being stopped. The call may or may not have taken effect: check "
                "before you try again.",
            )

    async def none(self) -> None:
        """Return when no request is under way."""
        if self._scopes:
            await self._landed.wait()

    def end(self) -> None:
        """Let them all land now, with an error."""
        for scope in self._scopes:
            scope.cancel()
