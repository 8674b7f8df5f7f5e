"""Which era a server speaks: asked by `server/discover`, else found by the handshake."""

from dataclasses import dataclass
from typing import Any, cast

import anyio
import mcp_types as types
from mcp import MCPError
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.explanation import gone, is_closed
from tooldrawer.upstream.relay import RelaySession
from tooldrawer.upstream.unreachable import Unreachable

_PATIENCE = 5.0
"""Seconds for `server/discover` before the handshake is tried as well.

A server that starts slowly answers both in turn once it runs, and one that ignores what it does
not know costs this long at each start.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What a server says of itself, in MCP's words."""

    protocol: str
    instructions: str
    capabilities: JsonObject


async def negotiate(session: RelaySession, *, skip_discover: bool = False) -> Hello:
    """Agree on a version. Bounded by the caller.

    Raises:
        Unreachable: There is no version that both speak.
        MCPError: The server refused, or is gone.
    """
    version: str | None = None if skip_discover else LATEST_MODERN_VERSION
    for attempt in range(2):
        if version is not None:
            found = await _discovered(session, version)
            if isinstance(found, Hello):
                return found
            if found and not attempt:
                version = found
                continue
        try:
            return await _shaken_hands(session)
        except MCPError as error:
            # It knows the era: the question above reached it after all, too late for us to hear.
            version = _other_version(error)
            if attempt or not version:
                raise
    raise Unreachable("it names a version of MCP and then refuses it")


async def _discovered(session: RelaySession, version: str) -> Hello | str:
    """The answer; or another version to ask for; or nothing, then hands are to be shaken."""
    raw: dict[str, Any] = {}
    try:
        with anyio.move_on_after(_PATIENCE):
            raw = await session.send_discover(version)
    except MCPError as error:
        if is_closed(error):
            # There are servers that leave when the first request is not the handshake.
            raise gone(dislikes_discover=True) from error
        return _other_version(error)
    offered = raw.get("supportedVersions")
    names = cast("list[Json]", offered) if isinstance(offered, list) else []
    mutual = [known for known in MODERN_PROTOCOL_VERSIONS if known in names]
    if not mutual:
        return ""
    # Only the version matters to the session; what else the server says is read from its own words,
    # because one field of a wrong type must not lose the server.
    session.adopt(
        types.DiscoverResult(supported_versions=mutual, capabilities=types.ServerCapabilities())
    )
    return _hello(session, raw)


async def _shaken_hands(session: RelaySession) -> Hello:
    raw = await session.raw("initialize", session.introduction())
    version = raw.get("protocolVersion")
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise Unreachable(f"it speaks the version {version!r:.40} of MCP, which is unknown here")
    session.adopt(
        types.InitializeResult(
            protocol_version=version,
            capabilities=types.ServerCapabilities(),
            server_info=types.Implementation(name="", version=""),
        )
    )
    await session.send_notification(types.InitializedNotification())
    return _hello(session, raw)


def _hello(session: RelaySession, raw: dict[str, Any]) -> Hello:
    instructions, capabilities = raw.get("instructions"), raw.get("capabilities")
    return Hello(
        protocol=session.protocol_version or "",
        instructions=instructions if isinstance(instructions, str) else "",
        capabilities=cast("JsonObject", capabilities) if isinstance(capabilities, dict) else {},
    )


def _other_version(error: MCPError) -> str:
    supported = _supported(error)
    mutual = [known for known in MODERN_PROTOCOL_VERSIONS if known in supported]
    if mutual:
        return mutual[-1]
    if supported and not any(version in HANDSHAKE_PROTOCOL_VERSIONS for version in supported):
        said = ", ".join(supported)[:100]
        raise Unreachable(f"it speaks only versions of MCP that are unknown here: {said}")
    return ""


def _supported(error: MCPError) -> list[str]:
    """The versions that the server names when it refuses one."""
    data: Json = error.data
    if error.code != UNSUPPORTED_PROTOCOL_VERSION or not isinstance(data, dict):
        return []
    found = data.get("supported")
    return [v for v in found if isinstance(v, str)] if isinstance(found, list) else []
