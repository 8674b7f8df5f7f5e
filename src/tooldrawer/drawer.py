"""Where the parts are put together. The only module that builds the others."""

import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Any, Self

import anyio.to_thread

from tooldrawer import config as configuration
from tooldrawer.activity import ActivityLog, ConfigReloaded, JsonLines, Masker, UpstreamDown
from tooldrawer.catalogs import Catalogs
from tooldrawer.config import Config
from tooldrawer.config.reload_report import compare_servers, describe_kept, describe_rejected
from tooldrawer.dispatch import (
    Approver,
    Dispatcher,
    Grants,
    Guardrail,
    Hook,
    Permission,
    ResultMemory,
)
from tooldrawer.errors import ConfigError, ToolDrawerError
from tooldrawer.option_checks import CALLABLES, freeze, instance_of, require_values
from tooldrawer.parts import Parts
from tooldrawer.registry import Registry
from tooldrawer.scope import SCOPE_OR_NAME, Scope
from tooldrawer.search import SearchEngine
from tooldrawer.search.spec import EndpointSpec
from tooldrawer.server_startup import ServerStartup
from tooldrawer.session import Session
from tooldrawer.tokens import SchemaCosts, TokenCounter, default_counter
from tooldrawer.tool import JsonObject
from tooldrawer.toolset import TOOLSETS, Toolset
from tooldrawer.trust import TrustStore
from tooldrawer.turn import Host
from tooldrawer.upstream.manifest import Manifests
from tooldrawer.upstream.pool import Pool
from tooldrawer.upstream.spec import UpstreamSpec

if TYPE_CHECKING:
    from tooldrawer.config import Trust, WatchedFile
    from tooldrawer.search.embedder import Embedder
    from tooldrawer.upstream.upstream import Upstream

_logger = logging.getLogger(__name__)


def _ignore(*_: object) -> None: ...


class Drawer:
    """All your tools, and sessions that see only what they should."""

    def __init__(
        self,
        toolsets: Iterable[Toolset] = (),
        *,
        config: Config | None = None,
        hooks: Iterable[Hook] = (),
        guardrails: Iterable[Guardrail] = (),
        approver: Approver | None = None,
        grants: Grants | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        """Hooks, guardrails and approver given here come before the configuration's own.

        Raises:
            ToolsetTaken: Two toolsets have one name.
            BridgeNameTaken: A tool has the name of a bridge tool.
            ConfigError: An argument is of another kind than expected.
        """
        toolsets, self._hooks, self._guardrails = map(freeze, (toolsets, hooks, guardrails))
        require_values(
            "Drawer",
            toolsets=(toolsets, TOOLSETS),
            config=(config or Config(), instance_of(Config)),
            hooks=(self._hooks, CALLABLES),
            guardrails=(self._guardrails, CALLABLES),
        )
        self._approver = approver
        self.grants = grants or Grants()
        """What people allowed for good."""
        self._counter = counter or default_counter()
        self._file: WatchedFile | None = None
        self._read: Callable[[], Config] = lambda: self.config
        self._pool: Pool | None = None
        self._lazy = False
        self._reloading = Lock()
        self._sessions = 0
        self.config = config or Config()
        """The settings in force."""
        self.mistake = ""
        """What of a changed file is not in force and why, as sentences; empty when all of it is."""
        options = self.config.activity
        self.activity = ActivityLog(
            keep=options.keep,
            masker=Masker(options.mask),
            sinks=[JsonLines(options.jsonl)] if options.jsonl else (),
        )
        self.registry = Registry(
            (*toolsets, *self.config.toolsets), reserved=tuple(self.config.assembly.names)
        )
        self.search = _engine(self.config)
        """Finds tools; there is another one when its settings change."""
        self._catalogs = Catalogs(reserved=tuple(self.config.assembly.names))
        self._costs = SchemaCosts(self._counter)
        self._results = ResultMemory()
        self.startup = ServerStartup(
            self.registry,
            configured=lambda: self.config.servers,
            template=lambda: self.config.name_template,
            is_switched_off=lambda: self.config.assembly.enabled == "off",
        )
        """Waits for servers whose tools are not known yet."""
        self._parts = self._built()
        self._report_disabled(self.config.disabled)

    @classmethod
    def from_config(
        cls,
        path: str | Path | None = None,
        *,
        toolsets: Iterable[Toolset] = (),
        hooks: Iterable[Hook] = (),
        guardrails: Iterable[Guardrail] = (),
        approver: Approver | None = None,
        grants: Grants | None = None,
        adjust: Callable[[Config], Config] = lambda config: config,
        trust: "Trust | None" = None,
        clock: Callable[[], float] = time,
    ) -> Self:
        """A drawer whose file is watched: a change is applied before the next turn or call.

        Whatever the file says goes through `adjust` first. A server whose entry is wrong, or needs
        a variable that is not set, is not started: it is in `config.disabled`, in the activity as
        `UpstreamDown`, and logged as a warning.

        Without a path the file is found in this folder, and only what the user has trusted with
        `tooldrawer trust` is used of it (`trust="recorded"`). A path is trusted (`"file"`), but not
        the `.mcp.json` beside it; `"all"` trusts both.

        `clock` says for how long a file that only lost its end has stayed unchanged.

        Raises:
            ConfigError: The file is missing, or wrong elsewhere than in a server's entry.
        """
        trust = trust or ("recorded" if path is None else "file")
        found = configuration.find() if path is None else Path(path)
        file = configuration.WatchedFile(found.absolute(), clock=clock)
        read = partial(configuration.gather, file.path, trust=trust)
        drawer = cls(
            toolsets,
            config=adjust(read()),
            hooks=hooks,
            guardrails=guardrails,
            approver=approver,
            grants=grants,
        )
        drawer._file, drawer._read = file, lambda: adjust(read())
        return drawer

    def session(
        self,
        name: str | None = None,
        *,
        scope: Scope | str | None = None,
        context_length: int | None = None,
        host: Host | None = None,
        principal: str = "",
    ) -> Session:
        """Open a session. Nothing is copied: it always sees the live registry.

        `principal` is on whose behalf it calls: what one is granted for good holds for no other.

        Raises:
            ConfigError: There is no configured scope of that name, or `scope` is something else.
        """
        require_values("session", scope=(scope, SCOPE_OR_NAME))
        if isinstance(scope, str) and scope not in self.config.scopes:
            known = ", ".join(sorted(self.config.scopes)) or "none"
            raise ConfigError(f"There is no scope named {scope!r}; configured are: {known}.")
        self._sessions += 1
        return Session(
            name or f"session-{self._sessions}",
            self,
            scope=Scope() if scope is None else scope,
            context_length=context_length or self.config.context_length,
            host=host or self.startup,
            principal=principal,
        )

    @property
    def parts(self) -> Parts:
        """What sessions use, as it is."""
        return self._parts

    async def refresh(self) -> Parts:
        """What sessions use, after a changed file was applied."""
        if self._file is not None and self._file.has_changed():
            await self._file.wait_until_quiet()
            await anyio.to_thread.run_sync(self._reload, self._file)
            if self._pool is not None:
                self._offer(self._pool)
        return self._parts

    @asynccontextmanager
    async def connected(
        self,
        *,
        changed: Callable[["Upstream"], None] = _ignore,
        notified: Callable[["Upstream", str, JsonObject], None] = _ignore,
        lazy: bool = False,
    ) -> AsyncGenerator[Pool]:
        """Start the configured servers, and offer their tools until the block is left.

        It does not wait for them: a server offers what it listed the last time until it lists
        again, and the first `session.tools()`, search or call of an unknown name waits for those
        whose tools are not known, up to `gateway.first_search_wait` seconds from now.
        With `lazy` no server starts before it is called, unless its tools are not known.
        """
        make = partial(
            _make_upstream,
            emit=self.activity,
            template=self.config.name_template,
            manifests=Manifests(),
            changed=changed,
            notified=notified,
            longest=lambda: self.config.limits.call_timeout,
        )
        # On the event loop, importing MCP would hold up everything else for seconds.
        await anyio.to_thread.run_sync(_import_upstream, self.config)
        pool = Pool(make)
        try:
            async with pool:
                self._pool, self._lazy = pool, lazy
                self._offer(pool)
                self.startup.begin(self.config.gateway.first_search_wait)
                try:
                    yield pool
                finally:
                    self._pool = None
        finally:
            self.registry.exchange([each.name for each in pool.upstreams], ())

    def _offer(self, pool: Pool) -> None:
        """Run the servers that the settings name now, no others, and offer their tools."""
        removed, added = pool.apply(
            replace(spec, lazy=spec.lazy or self._lazy) for spec in self.config.servers
        )
        if removed or added:
            self.registry.exchange(removed, added)

    def close(self) -> None:
        """Write what the sinks still hold and end the subscriptions."""
        self.activity.close()

    def _reload(self, file: "WatchedFile") -> None:
        # Whoever comes while another applies the change waits for it: a call must not run under
        # settings that were already taken back.
        with self._reloading:
            stamp = file.stamp()
            if not file.needs_reading(stamp):
                return
            before = self.config
            try:
                texts = file.check_complete()
                config = self._read()
                if file.stamp() != stamp:  # it is being written: the next turn or call looks again
                    return
                file.check_settled(texts)
                config, kept = _keep_running(config, before)
                if self._pool is not None:
                    _import_upstream(config)
                self._apply(config)
                file.applied, error = texts, describe_kept(kept)
            except ToolDrawerError as wrong:
                error = describe_rejected(wrong, before.disabled)
                if (stamp, error) == (file.seen, self.mistake):  # incomplete as before
                    return
            file.seen, self.mistake = stamp, error
            disabled = self.config.disabled
            self._report_disabled(spec for spec in disabled if spec not in before.disabled)
            changes = compare_servers(before.servers, self.config.servers)
            self.activity(ConfigReloaded(at=time(), path=str(file.path), error=error, **changes))

    def _apply(self, config: Config) -> None:
        """Everything but the activity's sinks and the bridge's names, which stay as they began."""
        config = replace(
            config,
            activity=self.config.activity,
            assembly=replace(config.assembly, names=self.config.assembly.names),
        )
        before = {toolset.name: toolset for toolset in self.config.toolsets}
        after = {toolset.name: toolset for toolset in config.toolsets}
        if before != after:
            self.registry.exchange(before, after.values())
        if (config.recipe, config.embeddings) != (self.config.recipe, self.config.embeddings):
            self.search = _engine(config)
        self.config = config
        self._parts = self._built()

    def _report_disabled(self, servers: Iterable[UpstreamSpec]) -> None:
        waiting: dict[str, list[str]] = {}
        for spec in servers:
            if spec.problem is not None:
                error = "\n".join(spec.problem.details) or spec.problem.reason
                self.activity(UpstreamDown(at=time(), upstream=spec.name, error=error))
                if command := spec.problem.command:
                    waiting.setdefault(command, []).append(spec.name)
                else:
                    _logger.warning("The server %r is not started: %s", spec.name, error)
        for command, names in waiting.items():
            said = "Not trusted yet, so not started: %s. To see and trust it, run `%s`."
            _logger.warning(said, ", ".join(names), command)

    def _built(self) -> Parts:
        config = self.config
        permission = Permission(
            emit=self.activity,
            approver=self._approver or config.approver,
            grants=self.grants,
            timeout=config.limits.approval_timeout,
        )
        dispatcher = Dispatcher(
            emit=self.activity,
            permission=permission,
            hooks=(*self._hooks, *config.hooks),
            guardrails=(*self._guardrails, *config.guardrails),
            limits=config.limits,
            describe=config.assembly.names.describe,
        )
        return Parts(
            registry=self.registry,
            catalogs=self._catalogs,
            engine=self.search,
            costs=self._costs,
            counter=self._counter,
            dispatcher=dispatcher,
            emit=self.activity,
            policy=config.assembly,
            search=config.search,
            limits=config.limits,
            results=self._results,
            scopes=config.scopes,
        )


def _upstream_class() -> "type[Upstream]":
    # Imported here: MCP is half a second that a drawer without servers does without.
    from tooldrawer.upstream.upstream import Upstream  # noqa: PLC0415

    return Upstream


def _import_upstream(config: Config) -> None:
    if any(spec.enabled for spec in config.servers):
        _upstream_class()


def _make_upstream(spec: UpstreamSpec, **options: Any) -> "Upstream":
    return _upstream_class()(spec, **options)


def _engine(config: Config) -> SearchEngine:
    if config.embeddings is None or not config.recipe.meaning:
        return SearchEngine(recipe=config.recipe)
    # When to say nothing was learned from the distances of the package's own model.
    recipe = replace(config.recipe, silence=False)
    return SearchEngine(recipe=recipe, embedder=partial(_embedder, config.embeddings))


def _embedder(spec: EndpointSpec) -> "Embedder":
    # Imported here: it needs numpy, which `import tooldrawer` does without.
    from tooldrawer.search.endpoint import Endpoint  # noqa: PLC0415

    return Endpoint(spec)


def _keep_running(after: Config, before: Config) -> tuple[Config, list[UpstreamSpec]]:
    """Return `after` with the last valid entries of servers that now have wrong ones, and these."""
    trusted = TrustStore()
    valid = {
        spec.name: spec
        for spec in before.servers
        # What was trusted and no longer is must not go on.
        if not spec.problem and (not spec.fingerprint or spec.fingerprint in trusted)
    }
    kept = [spec for spec in after.disabled if spec.name in valid]
    servers = [valid[spec.name] if spec in kept else spec for spec in after.servers]
    return replace(after, servers=tuple(servers)), kept
