"""From the file's shape to settings; what only the whole file can tell is checked here."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from tooldrawer.assembly import AssemblyPolicy, BenefitModel
from tooldrawer.bridge import BridgeNames, SearchPolicy
from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.dotted import CannotImport, imported
from tooldrawer.config.settings import ActivityOptions, Config
from tooldrawer.config.shape import ApprovalsSection, FileShape, LimitsSection, ServerSection
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
from tooldrawer.naming import fitting
from tooldrawer.scope import Scope, matches
from tooldrawer.toolset import Toolset
from tooldrawer.upstream.spec import UpstreamSpec

_SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,47}")
_SEARCH: Path = ("tools", "tool_search")


class Builder:
    """Builds one `Config`, and collects the mistakes that it meets on the way."""

    def __init__(self, shape: FileShape) -> None:
        self._shape = shape
        self.mistakes: list[Mistake] = []

    def build(self) -> Config:
        """The settings; of use only when there were no mistakes."""
        shape = self._shape
        return Config(
            assembly=self._assembly(),
            search=self._search(),
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
        )

    def _wrong(self, path: Path, text: str) -> None:
        self.mistakes.append(Mistake(path, text))

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
        for key, name in given.items():
            path = (*_SEARCH, "names", key)
            if fitting(name, identity=name) != name:
                self._wrong(
                    path,
                    f"is {name!r}, expected at most 64 letters, digits, dashes and underscores",
                )
            elif counts[name] > 1:
                self._wrong(path, f"is {name!r}, which another of the three bridge tools has too")
            elif matches(name, core):
                self._wrong(path, f"is {name!r}, which is the name of a core tool")
        return BridgeNames(**given)

    def _search(self) -> SearchPolicy:
        section = self._shape.tools.tool_search
        if section.search_default_limit > section.max_search_limit:
            self._wrong(
                (*_SEARCH, "search_default_limit"),
                f"is {section.search_default_limit}, expected at most max_search_limit, "
                f"which is {section.max_search_limit}",
            )
        return SearchPolicy(
            default_limit=section.search_default_limit,
            max_limit=section.max_search_limit,
            reply_max_tokens=section.search_reply_max_tokens,
            most_in_a_row=section.max_searches_in_a_row,
        )

    def _template(self) -> str:
        template = self._shape.tools.name_template
        try:
            is_usable = "\0t" in template.format(server="\0s", tool="\0t")
        except (KeyError, IndexError, ValueError):
            is_usable = False
        if not is_usable:
            self._wrong(
                ("tools", "name_template"), f"is {template!r}, expected a text with {{tool}}"
            )
        return template

    def _server(self, name: str, section: ServerSection) -> UpstreamSpec:
        path: Path = ("mcp_servers", name)
        if not _SERVER_NAME.fullmatch(name):
            self._wrong(path, "is not a usable name; take letters, digits, dots and dashes")
        if bool(section.command) == bool(section.url):
            has = "both a command and a url" if section.command else "neither a command nor a url"
            self._wrong(path, f"has {has}, expected one of the two")
        elif section.url and not section.url.startswith(("http://", "https://")):
            self._wrong((*path, "url"), "does not begin with http:// or https://")
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
        )

    def _toolsets(self) -> tuple[Toolset, ...]:
        found = self._objects("toolsets", self._shape.toolsets, _is_toolset)
        toolsets = cast("tuple[Toolset, ...]", found)
        seen: set[str] = set()
        for position, toolset in enumerate(toolsets):
            if toolset.name in seen:
                self._wrong(("toolsets", position), f"is a second toolset named {toolset.name!r}")
            seen.add(toolset.name)
        return toolsets

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
        found = self._object(("approvals", "approver"), path, _is_callable)
        return cast("Approver | None", found)

    def _activity(self) -> ActivityOptions:
        section = self._shape.activity
        for position, pattern in enumerate(section.mask):
            try:
                re.compile(pattern)
            except re.error as error:
                self._wrong(("activity", "mask", position), f"is not a regular expression: {error}")
        return ActivityOptions(keep=section.keep, jsonl=section.jsonl or "", mask=section.mask)

    def _objects(
        self, key: str, paths: tuple[str, ...], fits: Callable[[Any], str]
    ) -> tuple[object, ...]:
        found = [self._object((key, at), path, fits) for at, path in enumerate(paths)]
        return tuple(item for item in found if item is not None)

    def _object(self, key: Path, path: str, fits: Callable[[Any], str]) -> object | None:
        try:
            found = imported(path)
        except CannotImport as error:
            self._wrong(key, f"is {path!r}: {error}")
            return None
        if complaint := fits(found):
            self._wrong(key, f"is {path!r}, which is {complaint}")
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
