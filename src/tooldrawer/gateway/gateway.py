"""One gateway: a drawer with its servers behind, and an MCP server in front."""

import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from os import getpid
from pathlib import Path
from time import time
from typing import Self

import anyio
import anyio.lowlevel
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from tooldrawer import config as configuration
from tooldrawer.activity import Event
from tooldrawer.activity.log import GATHER_S
from tooldrawer.activity.quality import Quality
from tooldrawer.admission import Admission
from tooldrawer.assembly import AssemblyPolicy
from tooldrawer.config import Config
from tooldrawer.config.settings import QuotaOptions
from tooldrawer.dispatch import TerminalApprover
from tooldrawer.drawer import Drawer
from tooldrawer.errors import ConfigError
from tooldrawer.gateway.approver import ClientApprover
from tooldrawer.gateway.changes import Changes
from tooldrawer.gateway.control import Control
from tooldrawer.gateway.handlers import Handlers
from tooldrawer.gateway.introduction import introduction
from tooldrawer.gateway.items import admits_item
from tooldrawer.gateway.offer_changes import OfferChanges
from tooldrawer.gateway.parking import Parking
from tooldrawer.gateway.pending import Pending
from tooldrawer.gateway.principal import Principal
from tooldrawer.gateway.prompts import Prompts
from tooldrawer.gateway.quotas import Quotas
from tooldrawer.gateway.resources import Resources
from tooldrawer.gateway.server import build, seal
from tooldrawer.gateway.sessions import Sessions
from tooldrawer.gateway.shown import Shown, Stance
from tooldrawer.gateway.subscriptions import Subscriptions
from tooldrawer.scope import Scope
from tooldrawer.tool import Json, JsonObject
from tooldrawer.toolset import Toolset
from tooldrawer.upstream.upstream import Upstream

_SETTLE = 0.2
"""Seconds that changes are gathered before clients are told: a server may change all the time."""
_LOOK = 2.0
"""Seconds between looks at the configuration while nobody calls."""
_FAREWELL = 1.0
"""Seconds for calls that are ended to land."""
_TURNS = 50
"""Of the loop, which the last answers get: over HTTP they pass through several tasks."""
_logger = logging.getLogger(__name__)
_LISTS: dict[str, Callable[[], ServerEvent]] = {
    "prompts": PromptsListChanged,
    "resources": ResourcesListChanged,
}


class Gateway:
    """Everything that the transports in front of it share."""

    def __init__(self, drawer: Drawer, pending: Pending, *, scope: str = "") -> None:
        """`pending` is that of the drawer's approver; `scope` is that of the process over stdio.

        Raises:
            ConfigError: There is no such scope.
        """
        self.drawer, self.pending = drawer, pending
        self.default = Principal(scope=scope)
        self.started = time()
        self.address, self.transport, self.config_path = "", "stdio", ""
        self.quality = Quality()
        drawer.activity.attach(self.quality, gather_s=GATHER_S)
        self._stances: dict[str, Stance] = {}
        self._shown: dict[str, Shown] = {}
        self._stale: set[str] = set()
        self._news: set[tuple[str, ServerEvent]] = set()
        """The scopes of which somebody has a list that holds no longer."""
        self._changed = anyio.Event()
        self.sessions = Sessions(drawer, self.stance, max_sessions=lambda: self._quotas().sessions)
        self.quotas = Quotas(self._quotas)
        self._offers = OfferChanges(self.upstreams, self.admission)
        self.changes = Changes(self._offers.watch)
        self.prompts = Prompts(self.upstreams)
        self.resources = Resources(self.upstreams)
        self.subscriptions = Subscriptions()
        self.parking: Parking
        self.handlers = Handlers(self, lambda: drawer.parts.policy.names)
        self.sealed = seal(self.handlers)
        self.server = build(self.handlers, self.introduce, self.sealed)
        drawer.session(scope=scope or None)  # to refuse a scope that was never there

    @classmethod
    def from_config(
        cls,
        path: str | Path | None = None,
        *,
        toolsets: Iterable[Toolset] = (),
        scope: str = "",
        passthrough: bool = False,
        lists: bool = False,
    ) -> Self:
        """A gateway as a file describes it; `passthrough` wins over the file's mode.

        With `lists` a `.mcp.json` of this folder will do.

        Raises:
            ConfigError: The file is missing or wrong, or has no such scope.
        """
        pending = Pending()

        def adjust(config: Config) -> Config:
            if config.approver is None or isinstance(config.approver, TerminalApprover):
                # Over stdio the terminal is the protocol's, over HTTP nobody sits at it.
                config = replace(config, approver=ClientApprover(pending))
            if not passthrough and config.gateway.mode != "passthrough":
                return config
            options = replace(config.gateway, mode="passthrough")
            return replace(
                config, gateway=options, assembly=replace(config.assembly, enabled="off")
            )

        given = tuple(toolsets)
        try:
            found = Path(path) if path is not None else configuration.find(lists=lists)
        except ConfigError:
            if not given:
                raise
            # Nobody chose a threshold: show the drawer at work rather than tools that stay out.
            config = Config(assembly=AssemblyPolicy(enabled="on"))
            return cls(Drawer(given, config=adjust(config)), pending, scope=scope)
        trust = "recorded" if path is None else "file"
        drawer = Drawer.from_config(found, toolsets=given, adjust=adjust, trust=trust)
        gateway = cls(drawer, pending, scope=scope)
        gateway.config_path = str(found.absolute())
        return gateway

    @asynccontextmanager
    async def running(self, *, control: bool = True) -> AsyncGenerator[None]:
        """Connect the servers and keep clients informed, until the block is left.

        Calls in flight are finished first, as far as the time for draining allows.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(
                self.drawer.connected(changed=self._on_change, notified=self._on_notified)
            )
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            self.parking = Parking(
                self._tasks, max_suspended=lambda: self._quotas().suspended_calls
            )
            self._tasks.start_soon(self._announce)
            self._tasks.start_soon(self._follow)
            if control:
                await stack.enter_async_context(
                    Control(
                        status=self.status,
                        activity=self.drawer.activity,
                        pending=self.pending,
                        grants=self.drawer.grants,
                        is_unattended_allowed=lambda: (
                            self.drawer.config.gateway.unattended_approvals
                        ),
                    )
                )
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await self.drained()
                self.changes.close()
                self._tasks.cancel_scope.cancel()

    def _quotas(self) -> QuotaOptions:
        return self.drawer.config.gateway.quotas

    def emit(self, event: Event) -> None:
        """Report what happened."""
        self.drawer.parts.emit(event)

    def upstreams(self) -> Iterable[Upstream]:
        """The servers, in configured order."""
        return (each for each in self.drawer.registry if isinstance(each, Upstream))

    def scope(self, name: str) -> Scope:
        """A configured scope as it is now; one that is gone admits nothing."""
        if not name:
            return Scope()
        return self.drawer.parts.scopes.get(name) or Scope(toolsets=(), name=name)

    def admission(self, scope: str) -> Admission:
        """What a scope shows now of everything that the servers offer."""
        snapshot, found = self.drawer.registry.snapshot(), self.scope(scope)
        catalog = self.drawer.parts.catalogs.derive(snapshot, found)
        return Admission(scope=found, snapshot=snapshot, catalog=catalog)

    def stance(self, scope: str) -> Stance:
        """The gateway's say in the decisions of a scope."""
        if scope not in self._stances:
            self._stances[scope] = Stance(
                self.drawer.startup,
                self.upstreams,
                direct=lambda: self.drawer.parts.policy.enabled == "off",
            )
        return self._stances[scope]

    async def shown(self, scope: str) -> Shown:
        """The array of a scope, decided anew; the very same while nothing about it changed."""
        assembly = await self.sessions.listing(scope).tools()
        self.stance(scope).observe(assembly)
        last = self._shown.get(scope)
        if last is None or last.assembly is not assembly:
            before, last = last, Shown.of(assembly)
            self._shown[scope] = last
            if before is not None and before.digest != last.digest:
                self._stale.add(scope)
                self._changed.set()
        return last

    async def introduce(self, scope: str) -> str:
        """The instructions for a scope."""
        shown = await self.shown(scope)
        admission = self.admission(scope)
        return introduction(
            (each for each in self.upstreams() if admission.admits_toolset(each.name)),
            names=self.drawer.parts.policy.names,
            closed=shown.assembly.active,
            max_chars=self.drawer.config.gateway.instructions_max_chars,
        )

    def status(self) -> JsonObject:
        """What a person wants to know about a running gateway."""
        shown = self._shown.get(self.default.scope)
        servers: list[Json] = [self._server_status(upstream) for upstream in self.upstreams()]
        return {
            "pid": getpid(),
            "started": self.started,
            "transport": self.transport,
            "address": self.address,
            "config": self.config_path,
            "mistake": self.drawer.mistake,
            "mode": self.drawer.config.gateway.mode,
            "drawer": _about(shown) if shown else {},
            "servers": servers,
            "sessions": len(self.sessions),
            "calls": {"in_flight": len(self.handlers.in_flight)},
            "waiting": len(self.pending.waiting()),
        }

    def _server_status(self, upstream: Upstream) -> JsonObject:
        status = upstream.status
        return {
            "name": status.name,
            "state": status.state,
            "protocol": status.protocol,
            "tools": status.tools,
            "tokens": self.drawer.parts.costs.total(upstream.tools()),
            "error": status.error,
            "since": status.since,
            "starts": status.starts,
            "dropped": status.dropped,
        }

    def _on_change(self, upstream: Upstream) -> None:
        self.prompts.forget(upstream)
        self.resources.forget(upstream)
        self._changed.set()

    def _on_notified(self, upstream: Upstream, method: str, params: JsonObject) -> None:
        match method:
            case "notifications/prompts/list_changed":
                self.prompts.forget(upstream)
                self._tell(upstream.name, PromptsListChanged())
            case "notifications/resources/list_changed":
                self.resources.forget(upstream)
                self._tell(upstream.name, ResourcesListChanged())
            case "notifications/resources/updated":
                for item, (scope, uri) in self.subscriptions.of(upstream, str(params.get("uri"))):
                    news = (scope, ResourceUpdated(uri=uri))
                    if news not in self._news and admits_item(self.admission(scope), item):
                        self._gather(*news)
            case "notifications/tools/list_changed" if self.drawer.parts.policy.enabled == "off":
                # What the server says passes through too, also when its list is the same again.
                self._stale.update(self._scopes_of(upstream.name))
                self._changed.set()
            case _:
                return

    def _tell(self, toolset: str, event: ServerEvent) -> None:
        for scope in self._scopes_of(toolset):
            self._gather(scope, event)

    def _gather(self, scope: str, event: ServerEvent) -> None:
        if (scope, event) not in self._news:
            self._news.add((scope, event))
            self._tasks.start_soon(self._told, scope, event)

    async def _told(self, scope: str, event: ServerEvent) -> None:
        """Tell it once, however often it is said meanwhile."""
        await anyio.sleep(_SETTLE)
        self._news.discard((scope, event))
        await self.changes.tell(scope, event)

    def _scopes_of(self, toolset: str) -> list[str]:
        """The scopes in use that admit a server."""
        scopes = self.changes.scopes()
        return [scope for scope in scopes if self.admission(scope).admits_toolset(toolset)]

    async def _announce(self) -> None:
        """Tell clients that their array changed, when it really did."""
        while True:
            await self._changed.wait()
            await anyio.sleep(_SETTLE)
            self._changed = anyio.Event()
            for scope in tuple(self._shown):  # also without listeners: the status tells of it
                await self.shown(scope)
            # Whoever lists in the meantime sees the change first; the others must still be told.
            stale, self._stale = self._stale, set()
            for scope in stale.intersection(self.changes.scopes()):
                await self.changes.tell(scope, ToolsListChanged())
            for scope, kind in tuple(self._offers.find()):
                await self.changes.tell(scope, _LISTS[kind]())

    async def _follow(self) -> None:
        """Apply a changed configuration also while nobody calls."""
        seen, mistake = self.drawer.parts, ""
        while True:
            await anyio.sleep(_LOOK)
            before, seen = seen, await self.drawer.refresh()
            if seen is not before:  # whoever applied it
                # The listing names the configured toolsets, and must not depend on the past.
                self.sessions.renew()
                self._changed.set()
            told, mistake = mistake, self.drawer.mistake
            if mistake and mistake != told:
                _logger.warning("%s", mistake)

    async def drained(self) -> None:
        """Wait for the calls in flight, for as long as the settings allow; then end them."""
        in_flight = self.handlers.in_flight
        if not in_flight:
            return
        with anyio.move_on_after(self.drawer.config.gateway.drain):
            await in_flight.none()
        in_flight.end()
        with anyio.move_on_after(_FAREWELL):  # a server that does not read cannot be told at once
            await in_flight.none()
        for _ in range(_TURNS):
            await anyio.lowlevel.checkpoint()


def _about(shown: Shown) -> JsonObject:
    assembly = shown.assembly
    return {
        "active": assembly.active,
        "reason": assembly.reason,
        "tools": len(assembly.direct) + len(assembly.deferred),
        "deferred": len(assembly.deferred),
        "array_tokens": assembly.array_tokens,
        "schema_tokens": assembly.array_tokens
        - assembly.bridge_tokens
        + (assembly.deferrable_tokens if assembly.active else 0),
    }
