"""`mcpServers` files, as Claude Code, Cursor, VS Code and others write them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import cast

from tooldrawer.config.client_places import ClientFilling
from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.entry import EntryReader
from tooldrawer.config.itself import is_gateway
from tooldrawer.config.jsonc import JsonText, Member, line_of
from tooldrawer.config.list_key import list_key
from tooldrawer.config.sentences import key_shown
from tooldrawer.config.server_names import server_names
from tooldrawer.config.server_problems import start_problem
from tooldrawer.config.settings import GatewayOptions
from tooldrawer.config.trust_items import Trusts, server_item, untrusted
from tooldrawer.config.words import quoted, shown
from tooldrawer.tool import Json
from tooldrawer.upstream.spec import UpstreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerList:
    """The servers of one file, and what there is to say about it."""

    servers: tuple[UpstreamSpec, ...] = ()
    notes: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


def server_list(
    document: JsonText,
    *,
    name: str,
    environment: Mapping[str, str],
    gateway: GatewayOptions,
    trusts: Trusts | None = None,
) -> ServerList:
    """The servers of `document`, the file `name`; those that are the gateway itself are left out.

    They are named as in the file, or as near to it as a server's name can be.
    """
    key = list_key(document.value)
    if key is None:
        return ServerList(mistakes=(Mistake((), "has no mcpServers, expected servers by name"),))
    entries = cast("dict[str, Json]", document.value)[key]
    if not isinstance(entries, dict):
        given = shown(entries, is_hidden=True)
        return ServerList(mistakes=(Mistake((key,), f"is {given}, expected servers by name"),))
    node = document.node((key,))
    twice = _twice(document, key, node.members if node else ())
    names = server_names(entries)
    servers: list[UpstreamSpec] = []
    notes: list[str] = []
    for given, entry in entries.items():
        place: Path = (key, given)
        filling = ClientFilling(environment, FilePath(name))
        reader = EntryReader(fill=filling.fill)
        spec = reader.read(names[given], entry, place)
        start = f"{name}:{document.line(place)}: {key_shown(place)}"
        if is_gateway(spec, gateway):
            notes.append(f"{start} is this gateway itself, so it is left out.")
            continue
        if spec.name != given:
            notes.append(f"{start} is called {quoted(spec.name)} here.")
        unfilled = {mistake.path for mistake in filling.mistakes}
        item = server_item((key, given), entry, str(FilePath(name).resolve()))
        mistakes = [
            *untrusted((item,) if item else (), trusts, name),
            *(mistake for mistake in twice if mistake.path == place),
            # A value that could not be filled would only be complained about a second time.
            *(mistake for mistake in reader.mistakes if mistake.path not in unfilled),
            *filling.mistakes,
        ]
        if problem := start_problem(mistakes, document.line, name):
            spec = UpstreamSpec(name=spec.name, enabled=spec.enabled, problem=problem)
        servers.append(replace(spec, fingerprint=item.fingerprint if item and trusts else ""))
    return ServerList(servers=tuple(servers), notes=tuple(notes))


def _twice(document: JsonText, key: str, members: tuple[Member, ...]) -> list[Mistake]:
    """Other programs would quietly take the last of them."""
    first: dict[str, int] = {}
    mistakes: list[Mistake] = []
    for member in members:
        line = line_of(document.text, member.start)
        if member.key in first:
            text = f"is there twice; the first is on line {first[member.key]}"
            mistakes.append(Mistake((key, member.key), text, line))
        first.setdefault(member.key, line)
    return mistakes
