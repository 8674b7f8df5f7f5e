"""On whose behalf a request is made."""

from dataclasses import dataclass
from typing import Any, cast

from mcp.server.context import ServerRequestContext
from starlette.requests import Request

IN_REQUEST = "tooldrawer.principal"
"""Where the door of the HTTP side leaves it, in the ASGI scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, and which scope that gives. Never a property of a connection."""

    key: str = "process"
    """The process itself over stdio, anyone on this machine, or a token's id."""
    scope: str = ""
    """A configured scope; empty means everything."""

    @property
    def identity(self) -> str:
        """One text for both, to bind state to."""
        return f"{self.key}\0{self.scope}"


def principal_of(ctx: ServerRequestContext[Any, Any], default: Principal) -> Principal:
    """Who is behind a request: what the door found out, or the process over stdio."""
    request = cast("Request | None", ctx.request)
    return default if request is None else cast("Principal", request.scope[IN_REQUEST])


def conversation_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """The handshake era's session, or the client's name: which calls belong together."""
    request = cast("Request | None", ctx.request)
    session = request.headers.get("mcp-session-id", "") if request is not None else ""
    return session or client_name(ctx)


def client_name(ctx: ServerRequestContext[Any, Any]) -> str:
    """What the client calls itself."""
    params = ctx.session.client_params
    return params.client_info.name if params else "client"
