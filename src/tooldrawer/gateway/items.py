"""Prompts and resources, described as tools: so scopes, hooks and guardrails see them alike."""

from dataclasses import dataclass
from urllib.parse import unquote

from mcp import MCPError
from mcp_types import INVALID_PARAMS

from tooldrawer.admission import Admission
from tooldrawer.bounds.template import MAX_URI_CHARS
from tooldrawer.gateway.lists import Raw
from tooldrawer.naming import fitting, mcp_name
from tooldrawer.tool import JsonObject, Kind, Tool
from tooldrawer.upstream.upstream import Upstream

_READ_ONLY: JsonObject = {"readOnlyHint": True}
_ADDRESS: JsonObject = {
    "type": "object",
    "properties": {"uri": {"type": "string"}},
    "required": ["uri"],
}
_ANYTHING: JsonObject = {"type": "object"}
_MAX_DECODINGS = 8
"""Servers decode an address once or twice; one that is encoded more often is not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A prompt or a resource of one server."""

    upstream: Upstream
    tool: Tool
    address: str
    """What the server calls it: the name of a prompt, the address of a resource."""


def describe_item(
    admission: Admission, upstream: Upstream, name: str, *, kind: Kind, raw: Raw | None = None
) -> Tool:
    """The item as a tool that only reads, which the protocol promises whatever the server says."""
    naming = admission.snapshot.naming(upstream.name)
    full = mcp_name(upstream.spec.name, name, template=naming.template)
    own = fitting(full, identity=f"{upstream.name}\0{name}")
    return Tool(
        name=own,
        origin_name=name,
        long_name="" if own == full else full,
        description=str((raw or {}).get("description") or ""),
        parameters=_ADDRESS if kind == "resource" else _ANYTHING,
        source=upstream.name,
        annotations=_READ_ONLY,
        trusted=True,
        naming=naming,
        raw=raw or {},
        kind=kind,
    )


def admits_item(admission: Admission, item: Item) -> bool:
    """Whether an item that was found before is still admitted."""
    if item.tool.kind == "resource" and denies_address(admission, item.upstream, item.address):
        return False
    return admission.admits(item.tool)


def denies_address(admission: Admission, upstream: Upstream, uri: str) -> bool:
    """Whether the scope denies a server's address in any spelling that the server may accept."""
    spellings = address_spellings(uri)
    return spellings is None or any(
        admission.scope.denies(describe_item(admission, upstream, each, kind="resource"))
        for each in spellings
    )


def require_usable_address(uri: str) -> None:
    """Refuse an address that is longer than any that is served, before anything keeps it.

    Raises:
        MCPError: It is too long.
    """
    if len(uri) > MAX_URI_CHARS:
        message = f"The address has {len(uri):,} characters; at most {MAX_URI_CHARS:,} are allowed."
        raise MCPError(INVALID_PARAMS, message)


def address_spellings(uri: str) -> tuple[str, ...] | None:
    """An address as given and decoded step by step, each also without a slash at its end.

    `None` when it is encoded more often than servers decode, so that it cannot be judged.
    """
    found = {uri: None, uri.rstrip("/"): None}
    for _ in range(_MAX_DECODINGS):
        decoded = unquote(uri)
        if decoded == uri:
            return tuple(found)
        uri = decoded
        found |= {uri: None, uri.rstrip("/"): None}
    return None
