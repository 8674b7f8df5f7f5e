"""What a client is shown: the array of its scope, and why it is that one."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from typing import cast

from tooldrawer.assembly import Assembly
from tooldrawer.bridge import BRIDGE
from tooldrawer.loading_servers import find_starting, join_names
from tooldrawer.scope import Scope
from tooldrawer.server_startup import ServerStartup
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.upstream.upstream import Upstream
from tooldrawer.wire import mcp

_OPENS_AT = 0.8
"""A drawer that the threshold closed opens again below this part of it: it must not flap."""
_ALWAYS_LOAD = "anthropic/alwaysLoad"
"""Claude Code would put tools without it behind a tool search of its own, and search twice."""

Upstreams = Callable[[], Iterable[Upstream]]


class Stance:
    """What the gateway adds to a scope's decision: nothing is shown by halves, or taken back."""

    def __init__(
        self, startup: ServerStartup, upstreams: Upstreams, *, direct: Callable[[], bool]
    ) -> None:
        self._startup, self._upstreams = startup, upstreams
        self._direct = direct
        """Whether every tool is shown, whatever it costs."""
        self._reached = False
        """Whether the threshold closed it."""
        self._said = ""

    async def wait(self, scope: Scope, is_needed: Callable[[], bool]) -> bool:
        """Wait a little for servers of a scope that are starting."""
        return await self._startup.wait(scope, is_needed)

    def keep_closed(self, plain: Assembly, scope: Scope) -> str:
        """Why the drawer is closed though the settings would open it."""
        self._said = self._why(plain, scope)
        return self._said

    def missing(self, scope: Scope, tool: str = "") -> str:
        """The servers that no search can have looked into, or only the one of a tool."""
        return self._startup.missing(scope, tool)

    def observe(self, assembly: Assembly) -> None:
        """Take notice of what was decided."""
        if not assembly.active:
            self._reached = False
        elif assembly.reason != self._said:
            self._reached = True

    def _why(self, plain: Assembly, scope: Scope) -> str:
        if not plain.tools:
            return "there are no tools yet, and an array is never empty"
        if self._direct():
            return ""
        if starting := find_starting(self._upstreams(), scope):
            return f"the tools of {join_names(starting)} are not known yet"
        if self._reached and plain.deferrable_tokens >= _OPENS_AT * plain.threshold_tokens:
            return (
                f"{plain.deferrable_tokens:,} tokens of deferrable schemas < threshold "
                f"{ceil(plain.threshold_tokens):,}, but not by a fifth, so it stays active"
            )
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One scope's answer to `tools/list`."""

    assembly: Assembly
    tools: tuple[JsonObject, ...]
    digest: str

    @classmethod
    def of(cls, assembly: Assembly) -> "Shown":
        """The array of an assembly, in MCP's words."""
        tools = tuple(_entry(tool, closed=assembly.active) for tool in assembly.tools)
        text = json.dumps(tools, sort_keys=True, default=str)
        digest = blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        return cls(assembly=assembly, tools=tools, digest=digest)


def _entry(tool: Tool, *, closed: bool) -> JsonObject:
    entry = mcp.render(tool)
    schema = cast("JsonObject", entry["inputSchema"])
    if "type" not in schema:
        # MCP asks for it, and a strict client drops the whole list over one that lacks it.
        entry["inputSchema"] = {"type": "object", **schema}
    if tool.source == BRIDGE:
        entry["annotations"] = _honest(tool)
    if closed:
        # In an array that was made small on purpose every tool is meant to be seen.
        meta = cast("Mapping[str, Json]", entry.get("_meta") or {})
        entry["_meta"] = {**meta, _ALWAYS_LOAD: True}
    return entry


def _honest(tool: Tool) -> JsonObject:
    """What a bridge tool may do: two only look, the third does whatever the tool it runs does."""
    if tool.annotations.get("readOnlyHint") is True:
        return {"readOnlyHint": True, "openWorldHint": False}
    return {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
