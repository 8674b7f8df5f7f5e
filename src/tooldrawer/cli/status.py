"""`status`: what a running gateway is doing."""

import time
from collections.abc import Sequence
from typing import cast

import typer

from tooldrawer.cli.opening import JsonOption
from tooldrawer.cli.output import harmless, notice, show, show_json, table
from tooldrawer.cli.running import PidOption, gateways, spoken
from tooldrawer.errors import ToolDrawerError
from tooldrawer.tool import Json, JsonObject


def status(
    pid: PidOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Show the gateways that run, their servers and what the drawer saves."""
    found: list[JsonObject] = []
    silent = False
    for gateway in gateways(pid):
        try:
            found.append(gateway.get("/status"))
        except ToolDrawerError as error:  # the others can still be shown
            silent = True
            notice(str(error))
    if json:
        show_json(found)
    else:
        for position, each in enumerate(found):
            _show(each, is_first=position == 0)
    if silent:
        raise typer.Exit(2)


def _show(found: JsonObject, *, is_first: bool) -> None:
    if not is_first:
        show("")
    for line in (_who(found), _drawer(_object(found.get("drawer"))), _busy(found)):
        show(harmless(line, keep=""))
    if mistake := _text(found, "mistake"):
        show(mistake)
    servers = cast("Sequence[JsonObject]", found.get("servers") or ())
    if servers:
        show("")
        rows = [_row(server) for server in servers]
        table(("server", "state", "attempts", "tools", "tokens"), rows, numbers=3)
        for line in _dropped(servers):
            show(harmless(line, keep=""))


def _who(found: JsonObject) -> str:
    transport, address = _text(found, "transport"), _text(found, "address")
    where = f"{transport} at {address}" if address not in ("", transport) else transport
    parts = [f"Gateway {found.get('pid')}", where, f"up {_spent(found.get('started'))}"]
    if config := _text(found, "config"):
        parts.append(config)
    if scopes := cast("Sequence[Json]", found.get("scopes") or ()):
        parts.append(f"scopes {' '.join(map(str, scopes))}")
    if mode := _text(found, "mode"):
        parts.append(mode)
    return ", ".join(parts)


def _drawer(drawer: JsonObject) -> str:
    if not drawer:
        return "No client has asked for tools yet."
    reason = f": {why}" if (why := _text(drawer, "reason")) else ""
    tools, array = _count(drawer, "tools"), _count(drawer, "array_tokens")
    deferred, whole = _count(drawer, "deferred"), _count(drawer, "schema_tokens")
    if not drawer.get("active"):
        return f"Tool search is inactive{reason}. All {tools} tools are shown: {array} tokens."
    return (
        f"Tool search is active{reason}. {deferred} of {tools} tools are deferred; "
        f"the array costs {array} tokens a turn instead of {whole}."
    )


def _busy(found: JsonObject) -> str:
    calls = _object(found.get("calls"))
    line = f"Sessions {_count(found, 'sessions')}, calls in flight {_count(calls, 'in_flight')}."
    if found.get("waiting"):
        line += f" Waiting for a person: {_count(found, 'waiting')}; see `tooldrawer approve`."
    return line


def _row(server: JsonObject) -> tuple[str, ...]:
    counts = (_count(server, key) for key in ("starts", "tools", "tokens"))
    return (_text(server, "name"), _state(server), *counts)


def _dropped(servers: Sequence[JsonObject]) -> list[str]:
    """What each server lists and nobody can use."""
    return [
        f"{_text(server, 'name')} dropped {reason}"
        for server in servers
        for reason in cast("Sequence[Json]", server.get("dropped") or ())
    ]


def _state(server: JsonObject) -> str:
    protocol = f" ({name})" if (name := _text(server, "protocol")) else ""
    since = f" for {_spent(at)}" if (at := server.get("since")) else ""
    error = f"; {text}" if (text := _text(server, "error")) else ""
    return f"{_text(server, 'state')}{protocol}{since}{error}"


def _spent(at: Json) -> str:
    return spoken(time.time() - at) if isinstance(at, int | float) else "some time"


def _count(found: JsonObject, key: str) -> str:
    value = found.get(key)
    return f"{value:,}" if isinstance(value, int | float) else "0"


def _text(found: JsonObject, key: str) -> str:
    return str(found.get(key) or "")


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
