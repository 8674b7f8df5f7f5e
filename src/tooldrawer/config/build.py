"""From the file's shape to settings; what only the whole file can tell is checked here."""

import re
from collections import Counter
from collections.abc import Callable, Collection
from string import Formatter
from typing import Any, cast

from tooldrawer.assembly import AssemblyPolicy, BenefitModel
from tooldrawer.bounds.backtracking import LONG_BACKTRACKING, may_backtrack_long
from tooldrawer.bridge import BridgeNames, SearchPolicy
from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.dotted import CannotImport, imported, is_dotted
from tooldrawer.config.server_names import SERVER_NAME_WORDS, is_server_name
from tooldrawer.config.settings import (
    ActivityOptions,
    AgentOptions,
    Config,
    ConnectionOptions,
    GatewayOptions,
    ModelOptions,
    QuotaOptions,
)
from tooldrawer.config.shape import (
    APPROVER,
    EMBEDDINGS,
    TEMPLATE,
    ApprovalsSection,
    FileShape,
    LimitsSection,
    PricesSection,
    ServerSection,
)
from tooldrawer.config.words import shown
from tooldrawer.dispatch import (
    Approver,
    Guardrail,
    Hook,
    Limits,
    RateLimit,
    RepeatGuard,
    Rules,
    TerminalApprover,
    read_only,
)
from tooldrawer.ledger import Prices
from tooldrawer.naming import fitting
from tooldrawer.option_checks import find_pattern_mistake
from tooldrawer.scope import Scope
from tooldrawer.search import EVERYTHING, LEXICAL
from tooldrawer.search.spec import EndpointSpec
from tooldrawer.toolset import Toolset
from tooldrawer.upstream.spec import UpstreamSpec

_SEARCH: Path = ("tools", "tool_search")
_NAMES: Path = (*_SEARCH, "names")
_CORE: Path = ("tools", "core")
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s]+")


class Builder:
    """Builds one `Config`, and collects the mistakes that it meets on the way.

    The values at `secret` are not repeated in messages. Nothing is said about the keys at
    `doubtful`: they have a mistake already, and the shape has a default in their place.
    """

    def __init__(
        self,
        shape: FileShape,
        *,
        secret: Collection[Path] = (),
        doubtful: Collection[Path] = (),
    ) -> None:
        self._shape = shape
        self._secret, self._doubtful = secret, doubtful
        self.mistakes: list[Mistake] = []

    def build(self) -> Config:
        """The settings; of use only when there were no mistakes."""
        shape = self._shape
        return Config(
            assembly=self._assembly(),
            search=self._search(),
            recipe=LEXICAL if shape.tools.tool_search.search == "lexical" else EVERYTHING,
            embeddings=self._embeddings(),
            limits=_limits(shape.limits, shape.approvals),
            context_length=shape.model.context_length,
            name_template=self._template(),
            scopes={
                name: Scope(
                    name=name,
                    toolsets=section.toolsets,
                    disabled_toolsets=section.disabled_toolsets,
                    allow=section.allow,
                    deny=section.deny,
                )
                for name, section in shape.scopes.items()
            },
            servers=tuple(self._server(*item) for item in shape.mcp_servers.items()),
            toolsets=self._toolsets(),
            hooks=cast("tuple[Hook, ...]", self._objects("hooks", shape.hooks, _is_callable)),
            guardrails=self._guardrails(),
            approver=self._approver(),
            activity=self._activity(),
            gateway=self._gateway(),
            model=self._model(),
            agent=AgentOptions(**vars(shape.agent)),
        )

    def _wrong(self, path: Path, text: str, *, after: tuple[Path, ...] = ()) -> None:
        """Report `path`, unless it or one of the keys that the judgement rests on is doubtful."""
        around = (path, *after)
        if not any(_overlap(one, other) for one in around for other in self._doubtful):
            self.mistakes.append(Mistake(path, text))

    def _shown(self, path: Path, value: str) -> str:
        return shown(value, is_hidden=path in self._secret)

    def _assembly(self) -> AssemblyPolicy:
        tools, section = self._shape.tools, self._shape.tools.tool_search
        core = (*tools.core.replace, *tools.core.add)
        return AssemblyPolicy(
            enabled=section.enabled,
            threshold_pct=section.threshold_pct,
            core=core,
            pinned=tools.pinned,
            names=self._names(core),
            listing=section.listing,
            listing_max_tokens=section.listing_max_tokens,
            benefit=BenefitModel(**vars(section.benefit)),
        )

    def _names(self, core: tuple[str, ...]) -> BridgeNames:
        given = vars(self._shape.tools.tool_search.names)
        counts = Counter(given.values())
        is_usable = len(counts) == len(given)
        for key, name in given.items():
            path, after = (*_NAMES, key), ()
            if fitting(name, identity=name) != name:
                text = "expected at most 64 letters, digits, dashes and underscores"
                is_usable = False
            elif counts[name] > 1 and name != getattr(BridgeNames(), key):
                text, after = "which is the name of another bridge tool too", (_NAMES,)
            elif name in core:
                text, after = "which is the name of a core tool", (_CORE,)
            else:
                continue
            self._wrong(path, f"is {self._shown(path, name)}, {text}", after=after)
        return BridgeNames(**given) if is_usable else BridgeNames()

    def _search(self) -> SearchPolicy:
        section = self._shape.tools.tool_search
        default = section.search_default_limit
        if default is None:
            default = min(SearchPolicy().default_limit, section.max_search_limit)
        if default > section.max_search_limit:
            self._wrong(
                (*_SEARCH, "search_default_limit"),
                f"is {default}, expected at most max_search_limit, "
                f"which is {section.max_search_limit}",
                after=((*_SEARCH, "max_search_limit"),),
            )
        return SearchPolicy(
            default_limit=default,
            max_limit=section.max_search_limit,
            reply_max_tokens=section.search_reply_max_tokens,
            most_in_a_row=section.max_searches_in_a_row,
        )

    def _embeddings(self) -> EndpointSpec | None:
        section = self._shape.tools.tool_search.embeddings
        if section is None:
            return None
        missing = [key for key in ("url", "model") if not getattr(section, key)]
        for key in missing:
            self._wrong((*EMBEDDINGS, key), "is missing, expected a text")
        spec = EndpointSpec(
            url=section.url or "",
            model=section.model or "",
            api_key=section.api_key,
            query_prefix=section.query_prefix,
            tool_prefix=section.tool_prefix,
            dimensions=section.dimensions,
            timeout=section.timeout,
        )
        for key, text in spec.mistakes():
            if key not in missing:
                self._wrong((*EMBEDDINGS, key), text)
        return spec

    def _model(self) -> ModelOptions:
        section = self._shape.model
        if section.base_url and not section.base_url.startswith(("http://", "https://")):
            text = "is a text that does not begin with http:// or https://"
            self._wrong(("model", "base_url"), text)
        return ModelOptions(
            name=section.name or "",
            wire=section.wire,
            base_url=section.base_url or "",
            api_key=section.api_key or "",
            max_output=section.max_output,
            bridge=section.bridge,
            prices=self._prices(section.prices),
        )

    def _prices(self, section: PricesSection | None) -> Prices | None:
        if section is None:
            return None
        for key in ("input", "output"):
            if getattr(section, key) is None:
                self._wrong(("model", "prices", key), "is missing, expected a number from 0")
        return Prices(
            input=section.input or 0.0,
            output=section.output or 0.0,
            cached=section.cached,
            written=section.written,
        )

    def _template(self) -> str:
        template, path = self._shape.tools.name_template, ("tools", "name_template")
        if not _is_template(template):
            self._wrong(path, f"is {self._shown(path, template)}, expected {TEMPLATE}")
        return template

    def _server(self, name: str, section: ServerSection) -> UpstreamSpec:
        path: Path = ("mcp_servers", name)
        if not is_server_name(name):
            text = f"is not a server's name; expected {SERVER_NAME_WORDS}"
            self.mistakes.append(Mistake(path, text))
        if bool(section.command) == bool(section.url):
            has = "both a command and a url" if section.command else "neither a command nor a url"
            self._wrong(path, f"has {has}, expected one of the two")
        elif section.url and not section.url.startswith(("http://", "https://")):
            self._wrong((*path, "url"), "is a text that does not begin with http:// or https://")
        return UpstreamSpec(
            name=name,
            command=section.command or "",
            args=section.args,
            env=section.env,
            cwd=section.cwd or "",
            url=section.url or "",
            headers=section.headers,
            enabled=section.enabled,
            timeout=section.timeout,
            allow=section.allow,
            deny=section.deny,
            trusted=section.trusted,
            lazy=section.lazy,
        )

    def _toolsets(self) -> tuple[Toolset, ...]:
        found: dict[str, Toolset] = {}
        for position, path in enumerate(self._shape.toolsets):
            place = ("toolsets", position)
            toolset = cast("Toolset | None", self._object(place, path, _is_toolset))
            if toolset is not None and toolset.name in found:
                self._wrong(place, f"is a second toolset named {toolset.name!r}")
            elif toolset is not None:
                found[toolset.name] = toolset
        return tuple(found.values())

    def _guardrails(self) -> tuple[Guardrail, ...]:
        section, limits = self._shape.approvals, self._shape.limits
        rules = Rules(
            allow=section.allow,
            ask=section.ask,
            deny=section.deny,
            destructive=section.destructive,
            writing=section.writing,
        )
        shipped: list[Guardrail] = [rules] if rules != Rules() else []
        if section.read_only:
            shipped.append(read_only)
        if limits.repeats is not None:
            shipped.append(RepeatGuard(most=limits.repeats))
        if limits.rate is not None:
            shipped.append(RateLimit(calls=limits.rate.calls, seconds=limits.rate.seconds))
        own = self._objects("guardrails", self._shape.guardrails, _is_callable)
        return (*shipped, *cast("tuple[Guardrail, ...]", own))

    def _approver(self) -> Approver | None:
        path = self._shape.approvals.approver
        if path is None:
            return None
        if path == "terminal":
            return TerminalApprover()
        found = self._object(("approvals", "approver"), path, _is_callable, takes=APPROVER)
        return cast("Approver | None", found)

    def _activity(self) -> ActivityOptions:
        section = self._shape.activity
        usable: list[str] = []
        for position, pattern in enumerate(section.mask):
            path = ("activity", "mask", position)
            mistake = find_pattern_mistake(pattern)
            if mistake:
                reason = "" if path in self._secret else f": {mistake}"
                self._wrong(path, f"is not a regular expression{reason}")
            elif may_backtrack_long(pattern):
                self._wrong(path, LONG_BACKTRACKING)
            else:
                usable.append(pattern)
        return ActivityOptions(keep=section.keep, jsonl=section.jsonl or "", mask=tuple(usable))

    def _gateway(self) -> GatewayOptions:
        section = self._shape.gateway
        for position, origin in enumerate(section.allowed_origins):
            if not _ORIGIN.fullmatch(origin):
                path = ("gateway", "allowed_origins", position)
                given = self._shown(path, origin)
                self._wrong(path, f"is {given}, expected an origin such as 'https://example.com'")
        for position, url in enumerate(section.authorization_servers):
            if not url.startswith(("http://", "https://")):
                path = ("gateway", "authorization_servers", position)
                given = self._shown(path, url)
                self._wrong(path, f"is {given}, which does not begin with http:// or https://")
        options: dict[str, Any] = dict(vars(section))
        options["connections"] = ConnectionOptions(**vars(section.connections))
        options["quotas"] = QuotaOptions(**vars(section.quotas))
        options["unattended_approvals"] = self._shape.approvals.unattended
        return GatewayOptions(**options)

    def _objects(
        self, key: str, paths: tuple[str, ...], fits: Callable[[Any], str]
    ) -> tuple[object, ...]:
        found = [self._object((key, at), path, fits) for at, path in enumerate(paths)]
        return tuple(item for item in found if item is not None)

    def _object(
        self,
        key: Path,
        path: str,
        fits: Callable[[Any], str],
        *,
        takes: str = "'package.module:name'",
    ) -> object | None:
        given = f"is {self._shown(key, path)}"
        if not is_dotted(path):
            self._wrong(key, f"{given}, expected {takes}")
            return None
        try:
            found = imported(path)
        except CannotImport as error:
            reason = "which cannot be imported" if key in self._secret else f"but {error}"
            self._wrong(key, f"{given}, {reason}")
            return None
        if complaint := fits(found):
            self._wrong(key, f"{given}, which is {complaint}")
            return None
        return found


def _limits(section: LimitsSection, approvals: ApprovalsSection) -> Limits:
    return Limits(
        call_timeout=section.call_timeout,
        approval_timeout=approvals.timeout,
        result_max_chars=section.result_max_chars,
        arguments_max_bytes=section.arguments_max_bytes,
        concurrency=section.concurrency,
    )


def _is_callable(found: Any) -> str:
    return "" if callable(found) else "not callable"


def _is_toolset(found: Any) -> str:
    is_one = isinstance(getattr(found, "name", None), str) and callable(getattr(found, "run", None))
    return "" if is_one and callable(getattr(found, "tools", None)) else "not a toolset"


def _is_template(text: str) -> bool:
    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        return False
    fields = [(name, spec, kind) for _, name, spec, kind in parts if name is not None]
    known = all(field in (("server", "", None), ("tool", "", None)) for field in fields)
    return known and any(name == "tool" for name, *_ in fields)


def _overlap(one: Path, other: Path) -> bool:
    """Whether one of the keys lies within the other."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]
