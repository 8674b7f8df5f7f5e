"""On whose behalf a request is made."""

from dataclasses import dataclass
from typing import Any, cast

from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

IN_REQUEST = "tooldrawer.principal"
"""Where the door of the HTTP side leaves it, in the ASGI scope."""

_PROCESS = "process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, and which scope that gives. Never a property of a connection."""

    key: str = _PROCESS
    """The process itself over stdio, anyone on this machine, or a token's id."""
    scope: str = ""
    """A configured scope; empty means everything."""

    @property
    def is_process(self) -> bool:
        """Whether it is the client that started this process, which ends with that client."""
        return self.key == _PROCESS

    @property
    def identity(self) -> str:
        """One text for both, to bind state to."""
        return f"{self.key}\0{self.scope}"


def principal_of(ctx: ServerRequestContext[Any, Any], default: Principal) -> Principal:
    """Who is behind a request: what the door found out, or the process over stdio."""
    request = cast("Request | None", ctx.request)
    return default if request is None else cast("Principal", request.scope[IN_REQUEST])


def conversation_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """What tells a conversation from others of its principal; nothing where nothing does.

    Over stdio that is the process, and in the handshake era the session. A stateless client over
    HTTP says nothing that is its own: ten of them may have one name and one token.
    """
    request = cast("Request | None", ctx.request)
    if request is None:
        return "process"
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return ""
    return request.headers.get("mcp-session-id", "")


def client_name(ctx: ServerRequestContext[Any, Any]) -> str:
    """What the client calls itself."""
    params = ctx.session.client_params
    return params.client_info.name if params else "client"
