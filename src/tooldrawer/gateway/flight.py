"""The requests that are under way."""

from types import TracebackType

import anyio
from mcp import MCPError
from mcp_types import INTERNAL_ERROR


class InFlight:
    """Counts requests; the landing of the last one can be waited for, or forced."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()
        self._landed: anyio.Event | None = None
        """Made by who waits: most requests land with nobody waiting for it."""

    def __len__(self) -> int:
        return len(self._scopes)

    def flight(self) -> "_Flight":
        """Around one request.

        Raises:
            MCPError: It was ended here, before it was done.
        """
        return _Flight(self)

    def take_off(self, scope: anyio.CancelScope) -> None:
        """One more is under way."""
        self._scopes.add(scope)

    def land(self, scope: anyio.CancelScope) -> None:
        """One is done."""
        self._scopes.discard(scope)
        if not self._scopes and self._landed is not None:
            self._landed.set()
            self._landed = None

    async def none(self) -> None:
        """Return when no request is under way."""
        if self._scopes:
            self._landed = self._landed or anyio.Event()
            await self._landed.wait()

    def end(self) -> None:
        """Let them all land now, with an error."""
        for scope in self._scopes:
            scope.cancel()


class _Flight:
    __slots__ = ("_among", "_scope")

    def __init__(self, among: InFlight) -> None:
        self._among, self._scope = among, anyio.CancelScope()

    def __enter__(self) -> None:
        self._among.take_off(self._scope)
        self._scope.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._scope.__exit__(kind, error, traceback)
        finally:
            self._among.land(self._scope)
        if self._scope.cancelled_caught:
            raise MCPError(
                INTERNAL_ERROR,
                "The gateway is being stopped. The call may or may not have taken effect: check "
                "before you try again.",
            )
