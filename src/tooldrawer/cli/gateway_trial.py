"""Start the gateway once as a client would, and see which of its servers come up."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from tooldrawer.cli.running import Gateway
from tooldrawer.clients.known import Client
from tooldrawer.clients.taken import read_entry
from tooldrawer.config.environment import Filling
from tooldrawer.errors import ToolDrawerError
from tooldrawer.gateway.runtime import FOLDER_VARIABLE, Card, running
from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.spec import UpstreamSpec

if TYPE_CHECKING:
    from tooldrawer.upstream.upstream import Upstream

_SERVERS_TIMEOUT_S = 90.0
"""For all servers together: the first `npx` of a package downloads it."""
_POLL_S = 0.1
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """One server behind the gateway."""

    name: str
    is_up: bool
    reason: str
    """Why it is not up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How it went."""

    problem: str = ""
    """Why the gateway did not come up; empty when it did."""
    servers: tuple[ServerState, ...] | None = None
    """None when the gateway is on another machine, so that only its tools can be seen."""
    tools: int = 0
    """How many the gateway lists."""

    @property
    def down(self) -> tuple[ServerState, ...]:
        """Return the servers that did not come up."""
        return tuple(one for one in self.servers or () if not one.is_up)


def start_of(
    client: Client,
    name: str,
    entry: Json,
    file: Path,
    environment: Mapping[str, str] | None = None,
) -> UpstreamSpec:
    """Return how the client starts or reaches its server `entry`, with the environment it gives."""
    own = os.environ if environment is None else environment
    spec = read_entry(client, name, entry, file).spec
    env = {key: _filled(text, own) for key, text in spec.env.items()}
    return replace(
        spec,
        command=_filled(spec.command, own),
        args=tuple(_filled(text, own) for text in spec.args),
        cwd=_filled(spec.cwd, own) or ("" if spec.url else _usual_folder()),
        env={**client.inheritance(own), **{key: text for key, text in env.items() if text}},
        url=_filled(spec.url, own),
        headers={key: _filled(text, own) for key, text in spec.headers.items()},
    )


def try_gateway(spec: UpstreamSpec, waiting: Callable[[list[str]], None]) -> Trial:
    """Start or call the gateway, list its tools, and wait until its servers are up or failed.

    `waiting` is given the names of servers that still start, each time they change.
    """
    if spec.url:
        return anyio.run(_observe, spec, lambda: _running_at(spec.url), waiting)
    # Only this gateway announces itself in a folder of its own.
    with TemporaryDirectory(prefix="tooldrawer-trial-") as folder:
        started = replace(spec, env={**spec.env, FOLDER_VARIABLE: folder})
        return anyio.run(_observe, started, lambda: running(Path(folder)), waiting)


async def _observe(
    spec: UpstreamSpec,
    cards: Callable[[], list[Card]],
    waiting: Callable[[list[str]], None],
) -> Trial:
    # Imported here: MCP is half a second that no other command needs.
    from tooldrawer.upstream.upstream import Upstream  # noqa: PLC0415

    upstream, trial = Upstream(spec, emit=lambda _: None), Trial()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.serve)
        await upstream.settled()
        if upstream.status.state == "up":
            states = await _server_states(upstream, cards, waiting)
            trial = Trial(servers=states, tools=upstream.status.tools)
        else:
            trial = Trial(problem=upstream.status.error)
        tasks.cancel_scope.cancel()
    return trial


async def _server_states(
    upstream: "Upstream",
    cards: Callable[[], list[Card]],
    waiting: Callable[[list[str]], None],
) -> tuple[ServerState, ...] | None:
    found: list[JsonObject] | None = None
    starting: list[str] = []
    with anyio.move_on_after(_SERVERS_TIMEOUT_S):
        while upstream.status.state == "up":
            found = await anyio.to_thread.run_sync(_ask_servers, cards)
            before, starting = starting, [_name(one) for one in found or () if _is_starting(one)]
            if not starting:
                break
            if starting != before:
                waiting(starting)
            await anyio.sleep(_POLL_S)
    return None if found is None else tuple(map(_state, found))


def _ask_servers(cards: Callable[[], list[Card]]) -> list[JsonObject] | None:
    """Ask the gateway for its servers; None when it cannot be found on this machine."""
    for card in cards():
        try:
            status = Gateway(card=card).get("/status")
        except ToolDrawerError:
            continue
        servers = status.get("servers")
        return cast("list[JsonObject]", servers) if isinstance(servers, list) else []
    return None


def _running_at(url: str) -> list[Card]:
    """Return the gateway of this user that serves at `url`."""
    wanted = urlsplit(url)
    if wanted.hostname not in _LOCAL_HOSTS:
        return []
    return [card for card in running() if urlsplit(card.address).port == wanted.port]


def _is_starting(server: JsonObject) -> bool:
    """Whether its first attempt is not over yet."""
    return server.get("state") == "connecting" and not server.get("error")


def _state(server: JsonObject) -> ServerState:
    is_up = server.get("state") in ("up", "idle")
    reason = str(server.get("error") or f"did not answer within {_SERVERS_TIMEOUT_S:g} s")
    return ServerState(name=_name(server), is_up=is_up, reason="" if is_up else reason)


def _name(server: JsonObject) -> str:
    return str(server.get("name"))


def _usual_folder() -> str:
    """Return where a client starts servers that was not opened in a project's folder."""
    home = Path.home()
    return str(home) if home.is_dir() else home.anchor


def _filled(text: str, environment: Mapping[str, str]) -> str:
    """Fill a text; empty when a variable in it is not set, as far as a client can tell."""
    filling = Filling(environment)
    found = str(filling.fill(text))
    return "" if filling.mistakes else found
