"""How many calls are under way."""

from types import TracebackType

import anyio


class InFlight:
    """Counts calls; `with` one under way, and wait for the last to land."""

    def __init__(self) -> None:
        self._count = 0
        self._landed = anyio.Event()

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> None:
        self._count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._count -= 1
        if not self._count:
            self._landed.set()
            self._landed = anyio.Event()

    async def none(self) -> None:
        """Return when no call is under way."""
        if self._count:
            await self._landed.wait()
