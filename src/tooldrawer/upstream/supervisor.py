"""Keeps one server connected and listed, for as long as it is served, whatever it does."""

import logging
import re
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from time import time

import anyio
import anyio.to_thread
from mcp import MCPError

from tooldrawer.activity import Emit, Event, UpstreamChanged, UpstreamDown, UpstreamUp
from tooldrawer.exception_groups import leaves
from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.behind import BEHIND
from tooldrawer.upstream.companion import Companion
from tooldrawer.upstream.connection import Connection, Kept, connected
from tooldrawer.upstream.explanation import explained, gone, is_gone
from tooldrawer.upstream.listing import Difference, Listing
from tooldrawer.upstream.manifest import Manifest, Manifests
from tooldrawer.upstream.negotiation import Hello
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.pages import Pages
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.standing import Standing
from tooldrawer.upstream.turns import Turns
from tooldrawer.upstream.unreachable import Unreachable

_MOST_FAILURES = 5
"""So many attempts in a row without a list, and calls no longer wait for the next one."""
_STEADY = 10.0
"""Seconds after which a server that ends counts as one that had worked."""
_LONG_PAUSE = 3.0
"""Of a longer pause, a call makes a short one."""
_TOOLS_CHANGED = "notifications/tools/list_changed"
_logger = logging.getLogger(__name__)


class Supervisor:
    """The one task that starts, lists, watches and restarts a server."""

    def __init__(
        self,
        spec: UpstreamSpec,
        *,
        listing: Listing,
        emit: Emit,
        manifests: Manifests | None,
        told: Callable[[], None],
        noticed: Callable[[str, JsonObject], None],
        pace: Pace,
    ) -> None:
        self.connection: Connection | None = None
        """The one that calls may use."""
        self.companion = Companion(spec, noticed=self._noticed_aside, pace=pace)
        self.standing = Standing(told=told)
        self.hello = Hello(protocol="", instructions="", capabilities={})
        self.is_known = False
        self.listed: set[str] = set()
        """Of `prompts` and `resources` those that were listed since a change of them was told."""
        self.dropped: dict[str, tuple[str, ...]] = {}
        """Of prompts, resources and templates those that cannot be used, each with the reason."""
        self._spec = spec
        self._listing = listing
        self._emit = emit
        self._manifests = manifests
        self._told = told
        self._tell = noticed
        self._pace = pace
        self._wake = anyio.Event()
        self._relist = anyio.Event()
        self._is_announced = False
        """Whether the server said that its list changed, and nobody was told."""
        self._wanted = not spec.lazy
        self._hurried = -inf
        """When a call last shortened a pause: many calls do not make many attempts."""
        self._failures = 0
        self._unlisted = 0
        self._was_up = False
        """Whether this attempt came as far as a list."""
        self._skip_discover = self._has_begun_otherwise = False
        self._reported = ""
        self._saved = manifests.load(spec) if manifests and not spec.problem else None
        # A question that could not be told whose it was is remembered with the next list.
        asks = bool(self._saved and self._saved.asks)
        self.kept = Kept(turns=Turns(asks=asks, seen_asking=self._list_soon))
        if self._saved is not None:
            self._recall(self._saved)
        if spec.problem:
            self.standing.state = "down"
            self.standing.error = " ".join(spec.problem.details) or spec.problem.reason
            self.standing.settle()

    def _recall(self, saved: Manifest) -> None:
        self._listing.read(saved.tools)
        self.hello = Hello(
            protocol=saved.protocol,
            instructions=saved.instructions,
            capabilities=saved.capabilities,
        )
        self.is_known = True
        if self._spec.lazy:
            self.standing.state = "idle"
            self.standing.settle()

    def want(self) -> None:
        """A call needs the server: start it if it is idle, try it soon if that is far off."""
        self._wanted = True
        now = self._pace.clock()
        is_far = self.standing.next_try - now > _LONG_PAUSE
        if is_far and now - self._hurried > _LONG_PAUSE:
            self._hurried = now
            self.standing.next_try = now
            self._wake.set()
        elif self.standing.state == "idle":
            self._wake.set()

    async def serve(self) -> None:
        """Run until cancelled; then the server is stopped."""
        if self._spec.problem:  # only another configuration can change that
            await anyio.sleep_forever()
        token = BEHIND.set(None)  # whoever starts a supervisor is not behind the calls it carries
        try:
            while True:
                await self._until_wanted()
                await self._attempt()
                if self._failures:
                    await self._rest()
        finally:
            self._use(None)
            self.standing.settle()  # nothing more comes: a search must not wait for it
            BEHIND.reset(token)

    async def _until_wanted(self) -> None:
        while not self._wanted and self.is_known:
            self.standing.move("idle", error=self.standing.error)
            self.standing.settle()
            self._wake = anyio.Event()
            await self._wake.wait()

    async def _rest(self) -> None:
        pause = self.standing.next_try - self._pace.clock()
        self._wake = wake = anyio.Event()
        async with anyio.create_task_group() as group:

            async def sleep() -> None:
                await self._pace.sleep(max(pause, 0.0))
                group.cancel_scope.cancel()

            group.start_soon(sleep)
            await wake.wait()
            group.cancel_scope.cancel()

    async def _attempt(self) -> None:
        """One life of the connection, from the start of the server to its end."""
        started = self._pace.clock()
        if self.standing.state != "down":
            self.standing.move("connecting", error=self.standing.error)
        self.standing.starts += 1
        seen: Connection | None = None
        failure: Exception | None = None
        self._was_up = is_done = False
        try:
            async with connected(self._spec, kept=self.kept, noticed=self._noticed) as seen:
                await self._come_up(seen, await self._opened(seen), started)
                is_done = not self._wanted  # it was started only to learn its tools
                if not is_done:
                    await self._live(seen)
        except Exception as error:  # the boundary to servers, and to groups out of the SDK
            _logger.debug("The server %r failed.", self._spec.name, exc_info=True)
            failure = error
        finally:
            self._use(None)
        if failure is not None or not is_done:
            self._go_down(failure or gone(), seen, started)
        else:
            self._failures = 0

    async def _opened(self, connection: Connection) -> Pages:
        limit = self._spec.start_timeout
        with anyio.move_on_after(limit):
            await connection.open(skip_discover=self._skip_discover)
            return await connection.list_tools()
        raise Unreachable(f"it did not list its tools within {limit:g} s")

    async def _come_up(self, connection: Connection, listed: Pages, started: float) -> None:
        was_known = self.is_known
        difference = await self._read(listed, connection)
        self.hello, self.is_known = connection.hello, True
        note = self._note(was_known=was_known)
        self._was_up, self._unlisted, self._reported = True, 0, ""
        if self._wanted:
            self._use(connection)
        self.standing.move("up")
        self.standing.settle()
        self._report(
            UpstreamUp(
                at=time(),
                upstream=self._spec.name,
                tools=len(self._listing.tools),
                duration=self._pace.clock() - started,
                note=note,
                dropped=self._listing.dropped,
            )
        )
        if was_known and difference:
            self._changed(difference)
        await self._save(listed.items)

    async def _read(self, listed: Pages, connection: Connection) -> Difference:
        """Take over a list. A long one takes a second, in which other servers must be served."""
        read = partial(
            self._listing.read,
            listed.items,
            beyond=listed.beyond,
            objection=connection.objection,
        )
        return await anyio.to_thread.run_sync(read)

    def _note(self, *, was_known: bool) -> str:
        if self._unlisted:
            return f"after {self._unlisted} failed attempts"
        if not self._spec.lazy:
            return ""
        if self._wanted:
            return "started by a call"
        return "" if was_known else "started once, to learn its tools"

    def _use(self, connection: Connection | None) -> None:
        self.connection = connection
        is_stateless = connection is not None and connection.is_modern
        self.companion.stand_by(is_wanted=is_stateless and bool(self._spec.url))

    async def _live(self, connection: Connection) -> None:
        self._use(connection)
        self.standing.wake()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(connection.watch, self._pace, self._hear)
                group.start_soon(connection.say_again)
                group.start_soon(self._keep_listed, connection)
                group.start_soon(self.companion.serve)
                await connection.ended.wait()
                # Before the server is cleared away, which takes its time: new calls wait already.
                self._use(None)
                self.standing.move("connecting")
                group.cancel_scope.cancel()
        finally:
            self._use(None)

    async def _keep_listed(self, connection: Connection) -> None:
        last = self._pace.clock()
        while True:
            await self._relist.wait()
            early = last + self._pace.listing - self._pace.clock()
            if early > 0:
                await self._pace.sleep(early)
            self._relist = anyio.Event()
            last = self._pace.clock()
            try:
                with anyio.fail_after(self._spec.timeout):
                    listed = await connection.list_tools()
            except (MCPError, Unreachable, TimeoutError):
                continue  # the last list stays; when the server is gone, that is seen elsewhere
            dropped = self._listing.dropped
            difference = await self._read(listed, connection)
            if difference or self._listing.dropped != dropped:
                self._changed(difference)
                self._told()
            if self._is_announced:
                self._is_announced = False
                self._tell(_TOOLS_CHANGED, {})
            await self._save(listed.items)

    def _go_down(self, error: Exception, connection: Connection | None, started: float) -> None:
        found = [each for each in leaves(error) if isinstance(each, Unreachable)]
        if self._begins_otherwise(found):
            return
        text = self._sentence(error, connection)
        is_final = any(each.is_final for each in found)
        if connection is not None and not connection.reason:
            is_final |= connection.way.needs_person
        lived = self._pace.clock() - started
        self._failures = 1 if self._was_up and lived > _STEADY else self._failures + 1
        if self._was_up and self._spec.lazy:
            self._wanted, self._failures = False, 0  # the next call starts it again
        self._unlisted = 0 if self._was_up else self._unlisted + 1
        if self._failures:
            self.standing.next_try = self._pace.clock() + self._pace.pause(self._failures)
        is_down = is_final or self._unlisted >= _MOST_FAILURES
        self.standing.move("down" if is_down else "connecting", error=text)
        self.standing.settle()
        # Process ids and times make every complaint a new one: numbers are not news.
        if (news := re.sub(r"\d+", "", text)) != self._reported:
            self._reported = news
            self._report(UpstreamDown(at=time(), upstream=self._spec.name, error=text))

    def _begins_otherwise(self, found: Sequence[Unreachable]) -> bool:
        """Whether to try once more at once, with the handshake first."""
        if self._was_up:  # it was no matter of how to begin
            return False
        has_left = any(each.dislikes_discover for each in found)
        # In an outage every beginning fails: each attempt begins in the way that the last did not.
        self._skip_discover = has_left and not self._skip_discover
        is_first = not self._has_begun_otherwise
        self._has_begun_otherwise |= self._skip_discover
        return self._skip_discover and is_first

    def _sentence(self, error: Exception, connection: Connection | None) -> str:
        reason = explained(error)
        if connection is not None:
            told = connection.way.explain(reason, was_alive=not is_gone(error))
            reason = connection.reason or told
        if reason.startswith("The server "):
            return reason
        what = "stopped" if self._was_up else "cannot be reached"
        return f"The server {self._spec.name!r} {what}: {reason.rstrip('.')}."

    async def _save(self, definitions: Sequence[Json]) -> None:
        manifest = Manifest(
            tools=definitions,
            instructions=self.hello.instructions,
            capabilities=self.hello.capabilities,
            protocol=self.hello.protocol,
            asks=self.kept.turns.asks,
        )
        if self._manifests is not None and manifest != self._saved:
            self._saved = manifest
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._manifests.save, self._spec, manifest)

    def _noticed(self, method: str, params: JsonObject) -> None:
        if method == _TOOLS_CHANGED:
            self._is_announced = True
            self._list_soon()
        else:
            self._pass_on(method, params)

    def _noticed_aside(self, method: str, params: JsonObject) -> None:
        """What the companion heard, unless the same is told over the connection itself."""
        if method == "notifications/resources/updated":
            self._pass_on(method, params)  # only one of the two is subscribed to it
        elif self.connection is not None and not self.connection.tells(method):
            self._noticed(method, params)
        elif method == _TOOLS_CHANGED:
            self._list_soon()

    def _hear(self) -> None:
        """From now on changes are told; what changed before, if anybody cares, is not known."""
        self._list_soon()
        for kind in sorted(self.listed):
            method = f"notifications/{kind}/list_changed"
            if self.connection is not None and self.connection.tells(method):
                self._pass_on(method, {})

    def _pass_on(self, method: str, params: JsonObject) -> None:
        if method.endswith("/list_changed"):
            self.listed.discard(method.split("/")[1])
        self._tell(method, params)

    def _list_soon(self) -> None:
        self._relist.set()

    def _changed(self, difference: Difference, dropped: tuple[str, ...] | None = None) -> None:
        self._report(
            UpstreamChanged(
                at=time(),
                upstream=self._spec.name,
                added=difference.added,
                removed=difference.removed,
                changed=difference.changed,
                dropped=self._listing.dropped if dropped is None else dropped,
            )
        )

    def report_dropped(self, kind: str, reasons: Sequence[str]) -> None:
        """Tell which prompts, resources or templates of the server cannot be used."""
        if self.dropped.get(kind, ()) == tuple(reasons):
            return
        self.dropped[kind] = tuple(reasons)
        if reasons:
            self._changed(Difference(added=0, removed=0, changed=0), tuple(reasons))

    def _report(self, event: Event) -> None:
        try:
            self._emit(event)
        except Exception:  # the boundary to whoever listens
            _logger.exception("An event of the server %r was lost.", self._spec.name)
