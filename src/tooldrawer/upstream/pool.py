"""All servers of a process: started together, exchanged one by one, stopped together."""

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
import anyio.abc

from tooldrawer.upstream.spec import UpstreamSpec

if TYPE_CHECKING:
    # It imports MCP, which a pool without servers does without.
    from tooldrawer.upstream.upstream import Upstream

Make = Callable[[UpstreamSpec], "Upstream"]


class Pool:
    """Runs the upstreams of a configuration. None can disturb another."""

    def __init__(
        self, make: Make, specs: Iterable[UpstreamSpec] = (), *, drain: float = 5.0
    ) -> None:
        self._make = make
        self._drain = drain
        """Seconds for calls in flight before their server is stopped."""
        self._upstreams: dict[str, Upstream] = {}
        self._scopes: dict[Upstream, anyio.CancelScope] = {}
        self._group: anyio.abc.TaskGroup | None = None
        self.apply(specs)

    @property
    def upstreams(self) -> tuple["Upstream", ...]:
        """In the order of the configuration."""
        return tuple(self._upstreams.values())

    def apply(
        self, specs: Iterable[UpstreamSpec]
    ) -> tuple[tuple[str, ...], tuple["Upstream", ...]]:
        """Take over a configuration: the names of toolsets that are gone, and the new ones.

        A server whose entry is the same goes on; one whose entry changed is in both.
        """
        wanted = {spec.toolset: spec for spec in specs if spec.enabled}
        old = self._upstreams
        kept = {name for name, each in old.items() if wanted.get(name) == each.spec}
        removed = [each for name, each in old.items() if name not in kept]
        self._upstreams = {
            name: old[name] if name in kept else self._make(spec) for name, spec in wanted.items()
        }
        added = tuple(each for name, each in self._upstreams.items() if name not in kept)
        for upstream in removed:
            self._retire(upstream)
        for upstream in added:
            self._start(upstream)
        return tuple(each.name for each in removed), added

    async def settled(self, seconds: float) -> None:
        """Return when all are up, idle or have failed once, or when the time is over."""
        with anyio.move_on_after(seconds):
            for upstream in self.upstreams:
                await upstream.settled()

    async def run(
        self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Run all of them until cancelled."""
        async with self:
            task_status.started()
            await anyio.sleep_forever()

    async def __aenter__(self) -> Self:
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        for upstream in self.upstreams:
            self._start(upstream)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        group, self._group = self._group, None
        assert group is not None
        with anyio.move_on_after(self._drain, shield=True):
            async with anyio.create_task_group() as draining:
                for upstream in self._scopes:
                    draining.start_soon(upstream.drained)
        group.cancel_scope.cancel()
        try:
            return await group.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as raised:
            if raised.exceptions != (error,):
                raise
            return False  # an exception of the block leaves it as itself, not in a group

    def _start(self, upstream: "Upstream") -> None:
        if self._group is not None:
            self._scopes[upstream] = anyio.CancelScope()
            self._group.start_soon(self._serve, upstream)

    async def _serve(self, upstream: "Upstream") -> None:
        try:
            with self._scopes[upstream]:
                await upstream.serve()
        finally:
            del self._scopes[upstream]

    def _retire(self, upstream: "Upstream") -> None:
        if self._group is not None:
            self._group.start_soon(self._stop, upstream)

    async def _stop(self, upstream: "Upstream") -> None:
        with anyio.move_on_after(self._drain):
            await upstream.drained()
        if upstream in self._scopes:
            self._scopes[upstream].cancel()
