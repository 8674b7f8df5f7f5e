"""`serve`: the gateway, over stdio or HTTP."""

import gc
import os
import socket
import sys
from contextlib import ExitStack
from functools import partial
from time import time
from typing import Annotated
from urllib.parse import urlsplit

import anyio
import typer

from tooldrawer.activity.log import GATHER_S
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.opening import ConfigOption, ScopeOption
from tooldrawer.cli.output import drop, notice, show
from tooldrawer.cli.server_log import ServerLog
from tooldrawer.config.settings import GatewayOptions
from tooldrawer.demo.desk import toolsets
from tooldrawer.errors import ConfigError
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.gateway.host_names import is_local
from tooldrawer.gateway.http import serve_http
from tooldrawer.gateway.stdio import serve_stdio
from tooldrawer.gateway.tokens import Tokens
from tooldrawer.upstream.spec import DEPTH

_DEFAULTS = GatewayOptions()
_DEEPEST = 3
_GARBAGE = 10_000
"""New objects between two looks for garbage; a call makes some hundreds."""
_ALONE = (
    "Waiting for an MCP client on standard input; usually an agent starts this, see `tooldrawer "
    "connect`. With --http it serves many of them. Ctrl-C ends it."
)
_HEADER = "Authorization: Bearer TOKEN"
_PATIENCE = 10.0
"""Seconds that the summary at the start waits for servers."""


def serve(
    *,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve many clients over HTTP instead of one over stdio.")
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="HOST",
            help="Address to listen on; one that others can reach needs a token. "
            f"[default: {_DEFAULTS.host}]",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="PORT",
            help=f"Port to listen on; 0 picks a free one. [default: {_DEFAULTS.port}]",
        ),
    ] = None,
    passthrough: Annotated[
        bool, typer.Option("--passthrough", help="Show every tool, whatever it costs.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Add the 80 tools of the demo to what is configured.")
    ] = False,
) -> None:
    """Serve all your MCP servers as one."""
    _refuse_to_nest()
    if not http and (host is not None or port is not None):
        raise ConfigError("--host and --port are for HTTP; add --http.")
    with ExitStack() as stack:
        given = stack.enter_context(toolsets()) if demo else ()
        gateway = Gateway.from_config(
            # Over stdio an agent starts this, in whatever folder it was opened.
            config,
            toolsets=given,
            scope=scope or "",
            passthrough=passthrough,
            lists=http,
        )
        stack.callback(gateway.drawer.close)
        for note in gateway.drawer.config.notes:
            notice(note)
        _spare_the_collector()
        anyio.run(
            partial(_served, gateway, http=http, host=host, port=port),
            backend_options={"use_uvloop": sys.platform != "win32"},
        )


def _spare_the_collector() -> None:
    """What is there now stays to the end: looking through it again and again would cost calls."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)


async def _served(gateway: Gateway, *, http: bool, host: str | None, port: int | None) -> None:
    if not http:
        is_alone = sys.stdin.isatty()
        await serve_stdio(gateway, started=lambda: notice(_ALONE) if is_alone else None)
        return
    options = gateway.drawer.config.gateway
    listening, tokens = options.host if host is None else host, Tokens()
    await serve_http(
        gateway,
        host=listening,
        port=options.port if port is None else port,
        tokens=tokens,
        started=partial(_summarize, gateway, tokens=tokens, is_public=not is_local(listening)),
    )


async def _summarize(gateway: Gateway, address: str, *, tokens: Tokens, is_public: bool) -> None:
    """Say what is there, once it is: the address at once, the rest when the servers are up."""
    try:
        show(f"tooldrawer is at {address}")
        if is_public:
            show(f"  from other machines at {_public_address(gateway, address)}")
        if tokens:
            show(f"  every request needs the header {_HEADER}")
        sys.stdout.flush()  # to a file or a pipe it would go at the very end
        with anyio.move_on_after(_PATIENCE):
            for upstream in gateway.upstreams():
                await upstream.settled()
        _log_changes(gateway)
        await _show_summary(gateway, address, has_tokens=bool(tokens))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever started it reads no further; clients are served all the same
        drop()


def _log_changes(gateway: Gateway) -> None:
    """Log from now on what changes; the summary has what there is until now."""
    states = [upstream.status for upstream in gateway.upstreams()]
    log = ServerLog(
        notice,
        since=time(),
        running=[each.name for each in states if each.state in ("up", "idle")],
        is_disabled=lambda name: any(name == spec.name for spec in gateway.drawer.config.disabled),
    )
    gateway.drawer.activity.attach(log, gather_s=GATHER_S)


def _public_address(gateway: Gateway, address: str) -> str:
    """Return the address by a name that others may call this machine by."""
    names = gateway.drawer.config.gateway.allowed_hosts or (socket.gethostname(),)
    name, port = names[0], urlsplit(address).port
    return f"http://{name}{'' if ':' in name else f':{port}'}/mcp"


async def _show_summary(gateway: Gateway, address: str, *, has_tokens: bool) -> None:
    for upstream in gateway.upstreams():
        status = upstream.status
        state = counted(status.tools, "tool") if status.state == "up" else status.state
        reason = f": {status.error}" if status.error and status.state != "up" else ""
        show(f"  {status.name:<20} {state}{reason}")
    for toolset in gateway.drawer.registry:
        if not any(toolset is upstream for upstream in gateway.upstreams()):
            show(f"  {toolset.name:<20} {counted(len(toolset.tools()), 'tool')}")
    shown = await gateway.shown(gateway.default.scope)
    assembly = shown.assembly
    before = assembly.array_tokens - assembly.bridge_tokens
    before += assembly.deferrable_tokens if assembly.active else 0
    show(f"  {before:,} tokens of schemas without the drawer, {assembly.array_tokens:,} with it")
    show(f"  ({assembly.reason})")
    show("To use it, paste one of these into your agent:")
    option = f' --header "{_HEADER}"' if has_tokens else ""
    key = ', "headers": {"Authorization": "Bearer TOKEN"}' if has_tokens else ""
    show(f"  claude mcp add --transport http tooldrawer {address}{option}")
    show(f'  "tooldrawer": {{"type": "http", "url": "{address}"{key}}}')


def _refuse_to_nest() -> None:
    depth = os.environ.get(DEPTH, "0")
    if depth.isdecimal() and int(depth) >= _DEEPEST:
        raise ConfigError(
            f"This is the {int(depth) + 1}th gateway inside another: one of them starts itself "
            "through its own list of servers. Take tooldrawer out of that list."
        )
