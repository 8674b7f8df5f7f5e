"""The gateway for many clients, over streamable HTTP."""

import socket
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn import Config, Server

from tooldrawer.errors import ConfigError
from tooldrawer.gateway.connection_limits import (
    ConnectionTable,
    fit_to_open_files,
    limited_protocol,
)
from tooldrawer.gateway.door import WELL_KNOWN, Door, Guard, LimitedRequests, metadata
from tooldrawer.gateway.ending import stopped_by_signals
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.gateway.host_names import allowed_names, is_local
from tooldrawer.gateway.journal import ResumableSessions
from tooldrawer.gateway.metrics import CONTENT_TYPE, render
from tooldrawer.gateway.quotas import OpenRequests
from tooldrawer.gateway.tokens import Tokens

_MCP_PATHS = ("/mcp", "/mcp/", "/mcp/{scope}", "/mcp/{scope}/")
"""With and without the last slash: behind a proxy a redirect would name the wrong scheme."""
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


async def _nothing(_: str) -> None: ...


async def serve_http(
    gateway: Gateway,
    *,
    host: str,
    port: int,
    tokens: Tokens,
    started: Callable[[str], Coroutine[Any, Any, None]] = _nothing,
) -> None:
    """Serve until a signal asks to stop; `started` runs along, with the address that answers.

    Raises:
        ConfigError: The address cannot be used, or would be open to a network without a token.
    """
    tokens.check()
    if not is_local(host) and not tokens:
        raise ConfigError(
            f"Listening on {host} without a token would let in everyone who can reach it. "
            "Make a token first with `tooldrawer token create`, or listen on 127.0.0.1."
        )
    listener = _listening(host, port)
    gateway.transport = "http"
    gateway.address = address_of(host, listener.getsockname()[1])
    limits = fit_to_open_files(gateway.drawer.config.gateway.connections)
    connections = ConnectionTable(limits)
    manager = ResumableSessions(
        gateway.server,
        max_request_body_size=limits.request_max_bytes,
        max_sessions=lambda: gateway.drawer.config.gateway.quotas.sessions,
    )
    requests = OpenRequests(limits.max_open)
    server = _Server(
        Config(
            app(gateway, manager, tokens=tokens, host=host, requests=requests),
            http=limited_protocol(connections),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
        )
    )

    def refuse() -> None:
        server.should_exit = True  # nobody new comes in

    def stop() -> None:
        gateway.handlers.in_flight.end()
        gateway.changes.close()
        server.force_exit = True  # streams that only listen would keep it waiting

    with listener:  # uvicorn closes it when it is told to stop, not when it is cancelled
        async with (
            stopped_by_signals(stop, drained=gateway.drained, asked=refuse),
            gateway.running(),
            manager.run(),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(connections.run)
            tasks.start_soon(started, gateway.address)
            await server.serve([listener])
            tasks.cancel_scope.cancel()


def app(
    gateway: Gateway,
    manager: StreamableHTTPSessionManager,
    *,
    tokens: Tokens,
    host: str,
    requests: OpenRequests,
) -> ASGIApp:
    """`/mcp`, `/mcp/{scope}`, health and metrics behind the checks that `host` needs."""
    options = gateway.drawer.config.gateway
    door = Door(
        StreamableHTTPASGIApp(manager),
        tokens=tokens,
        scopes=lambda: gateway.drawer.config.scopes,
        requests=requests,
        is_local=is_local(host),
    )
    about = LimitedRequests(metadata(options.authorization_servers), requests)

    async def healthy(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(_: Request) -> Response:
        # A server that failed, or starts again, is no reason to send clients elsewhere.
        found = [each.status for each in gateway.upstreams()]
        first = (each for each in found if each.starts <= 1 and not each.error)
        starting = sum(each.state == "connecting" for each in first)
        state = {"ready": not starting, "starting": starting}
        return JSONResponse(state, status_code=503 if starting else 200)

    async def figures(request: Request) -> Response:
        if not door.admits(request):
            return PlainTextResponse("A token without a scope is needed.\n", status_code=401)
        text = render(gateway.quality.snapshot(), gateway.status())
        return Response(text, media_type=CONTENT_TYPE)

    inner = Starlette(
        routes=[
            *(Route(path, door) for path in _MCP_PATHS),
            *(Route(f"{WELL_KNOWN}{path}", about, methods=["GET"]) for path in _MCP_PATHS),
            Route("/healthz", healthy),
            Route("/readyz", ready),
            Route("/metrics", figures),
        ]
    )
    inner.router.redirect_slashes = False
    hosts = allowed_names(host, options.allowed_hosts)
    return Guard(inner, hosts=hosts, origins=options.allowed_origins)


def address_of(host: str, port: int) -> str:
    """Return the address that a client on this machine uses for a gateway that listens there."""
    # No client can call the two that stand for all addresses.
    name = _ANY_ADDRESS.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/mcp"


class _Server(Server):
    """Leaves signals to us: calls in flight are finished first."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        raise ConfigError(
            f"Cannot listen on {host}:{port}: {error.strerror}. "
            "Choose another with --host or --port."
        ) from error
    return listener
