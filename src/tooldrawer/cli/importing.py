"""`import`: the servers that other programs know."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from tooldrawer.cli.opening import JsonOption
from tooldrawer.cli.output import notice, show, show_json, table
from tooldrawer.clients import change
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import client_named
from tooldrawer.clients.server_file import text_of
from tooldrawer.clients.taken import Found, Search, find_servers, servers_of
from tooldrawer.clients.takeover import Takeover, take_over
from tooldrawer.config.appending import with_servers, written_servers
from tooldrawer.config.secret_file import SecretFile
from tooldrawer.config.trust_decisions import SERVERS_KEY
from tooldrawer.config.trust_items import read_items
from tooldrawer.config.variables import known_variables
from tooldrawer.trust import TrustStore
from tooldrawer.upstream.spec import UpstreamSpec

_FILES = (".json", ".jsonc", ".toml")


def import_servers(
    source: Annotated[
        str | None, typer.Option("--from", help="A client, or a file; by default all clients.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Add them to this tooldrawer.yaml.")
    ] = None,
    with_secrets: Annotated[  # noqa: FBT002  typer's way to write a flag
        bool,
        typer.Option("--with-secrets", help="Copy keys and passwords in clear."),
    ] = False,
    json: JsonOption = False,  # noqa: FBT002
) -> None:
    """Find the MCP servers of other programs, and take them over."""
    search = _search(source)
    for sentence in search.broken:
        notice(sentence)
    text, served = _target(write)
    known = known_variables()
    takeover = take_over(search.found, served=served, with_secrets=with_secrets, known=known)
    secrets = SecretFile()
    if write is not None:
        new = with_servers(text or "", [one.spec for one in takeover.taken], name=str(write))
        secrets.add(takeover.secrets)
        if takeover.taken:
            before = None if text is None else text.encode()
            change.write(write, new.encode(), before=before, is_undoable=False)
            _trust(write, {one.spec.name for one in takeover.taken})
        known = known_variables()
    if json:
        show_json(_facts(takeover, write, known))
        return
    if not search.found:
        show("No MCP servers were found in the lists of other programs.")
        return
    _show(takeover)
    _tell(takeover, write)
    if write is not None:
        _tell_variables(takeover, secrets, known)


def _trust(file: Path, names: set[str]) -> None:
    """Trust what was just written: the person asked for it. What was in the file before waits."""
    entries = {(SERVERS_KEY, name) for name in names}
    TrustStore().add(item for item in read_items(file) if item.path in entries)


def _search(source: str | None) -> Search:
    folders = Folders.of_this_machine()
    if source is None:
        return find_servers(folders)
    if source.endswith(_FILES) or Path(source).is_file():
        return servers_of(Path(source), folders)
    return find_servers(folders, [client_named(source)])


def _target(write: Path | None) -> tuple[str | None, list[UpstreamSpec]]:
    """The text of the file to write, if there is one, and the servers in it."""
    data = None if write is None else change.read(write)
    if write is None or data is None:
        return None, []
    text = text_of(data, write)
    return text, written_servers(text, name=str(write))


def _show(takeover: Takeover) -> None:
    rows = [
        (one.spec.name, source.reach, source.title, _short(source.path))
        for one in takeover.taken
        for source in one.sources
    ]
    rows += [(one.spec.name, one.reach, one.title, _short(one.path)) for one in takeover.there]
    if rows:
        table(("server", "command or host", "client", "file"), rows)
    for one in takeover.left_out:
        notice(f"{one.path}: {one.spec.name} is left out: {one.left_out}.")


def _short(path: Path) -> str:
    """A path as a person writes it."""
    for folder, start in ((Path.cwd(), Path()), (Path.home(), Path("~"))):
        if path.is_relative_to(folder):
            return str(start / path.relative_to(folder))
    return str(path)


def _tell(takeover: Takeover, write: Path | None) -> None:
    if write is None:
        show("Take them over with --write tooldrawer.yaml.")
        return
    count = len(takeover.taken)
    was_there = f"; {len(takeover.there)} were there already" if takeover.there else ""
    show(f"{count} servers were added to {write}{was_there}.")


def _tell_variables(takeover: Takeover, secrets: SecretFile, known: Mapping[str, str]) -> None:
    if takeover.secrets:
        show(f"Their secrets are in {_short(secrets.path)}, which only you can read, as:")
        for name in takeover.secrets:
            show(f"  {name}{_use(takeover, name)}")
    missing = [name for name in takeover.variables if not known.get(name)]
    if missing:
        show("These variables have to be set where the gateway is started; without them only the")
        show("servers that need them are down:")
        for name in missing:
            show(f"  {name}{_use(takeover, name)}")


def _use(takeover: Takeover, name: str) -> str:
    return f"  ({takeover.variables[name]})" if name in takeover.variables else ""


def _facts(takeover: Takeover, write: Path | None, known: Mapping[str, str]) -> dict[str, object]:
    return {
        "servers": [
            {
                "name": one.spec.name,
                "reach": one.sources[0].reach,
                "enabled": one.spec.enabled,
                "found": [_source(source) for source in one.sources],
            }
            for one in takeover.taken
        ],
        "there": [_source(one) for one in takeover.there],
        "left_out": [{**_source(one), "reason": one.left_out} for one in takeover.left_out],
        "variables": [
            {"name": name, "for": use, "is_set": bool(known.get(name))}
            for name, use in takeover.variables.items()
        ],
        "written": None if write is None or not takeover.taken else str(write),
    }


def _source(one: Found) -> dict[str, object]:
    return {"name": one.spec.name, "client": one.title, "file": str(one.path)}
