"""`import`: the servers that other programs know."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from tooldrawer.cli.call_row import counted
from tooldrawer.cli.opening import JsonOption
from tooldrawer.cli.output import notice, show, show_json, table
from tooldrawer.clients import change
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import CLIENTS, client_named
from tooldrawer.clients.server_file import text_of
from tooldrawer.clients.taken import Found, Search, find_servers, servers_of
from tooldrawer.clients.takeover import Taken, Takeover, take_over
from tooldrawer.config.appending import with_servers, written_servers
from tooldrawer.config.loading import FILE_NAME
from tooldrawer.config.secret_file import SecretFile
from tooldrawer.config.sentences import key_shown
from tooldrawer.config.server_names import SERVER_NAME_WORDS, is_server_name
from tooldrawer.config.trust_decisions import SERVERS_KEY
from tooldrawer.config.trust_items import read_items
from tooldrawer.config.variables import known_variables
from tooldrawer.config.words import quoted
from tooldrawer.errors import ConfigError
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
        _write_servers(write, text, takeover, secrets)
        known = known_variables()
    if json:
        show_json(_facts(takeover, write, known))
    elif search.found:
        _show(takeover)
        _tell(takeover, write)
        if write is not None:
            _tell_variables(takeover, secrets, known)
    elif not search.broken:
        place = "in the lists of other programs" if source is None else f"in {source}"
        show(f"No MCP servers were found {place}.")
    if _is_failed(search, source):
        raise typer.Exit(2)


def _write_servers(file: Path, text: str | None, takeover: Takeover, secrets: SecretFile) -> None:
    """Add the servers to the file, whose text is `text`, and their secrets to the secret file."""
    new = with_servers(text or "", [one.spec for one in takeover.taken], name=str(file))
    secrets.add(takeover.secrets)
    if takeover.taken:
        before = None if text is None else text.encode()
        change.write(file, new.encode(), before=before, is_undoable=False)
        _trust(file, {one.spec.name for one in takeover.taken})


def _trust(file: Path, names: set[str]) -> None:
    """Trust what was just written: the person asked for it. What was in the file before waits."""
    entries = {(SERVERS_KEY, name) for name in names}
    TrustStore().add(item for item in read_items(file) if item.path in entries)


def _is_failed(search: Search, source: str | None) -> bool:
    """Of all clients a broken list hides only its own servers, unless that leaves none at all."""
    return bool(search.broken) and (source is not None or not search.found)


def _search(source: str | None) -> Search:
    folders = Folders.of_this_machine()
    if source is None:
        return find_servers(folders)
    path = Path(source)
    if source.endswith(_FILES) or path.name != source or path.is_file():
        return servers_of(path, folders)
    try:
        client = client_named(source)
    except ConfigError as error:
        if path.exists():
            return servers_of(path, folders)
        raise ConfigError(f"{error} There is no file of that name here, either.") from error
    return find_servers(folders, [client])


def _target(write: Path | None) -> tuple[str | None, list[UpstreamSpec]]:
    """The text of the file to write, if there is one, and the servers in it."""
    if write is not None and not write.parent.is_dir():
        raise ConfigError(
            f"{write}: cannot be written: there is no folder {write.parent}. Make it first, or "
            "choose another file."
        )
    data = None if write is None else change.read(write)
    if write is None or data is None:
        return None, []
    text = text_of(data, write)
    return text, written_servers(text, name=str(write))


def _show(takeover: Takeover) -> None:
    rows = [
        (
            _name_both(one),
            one.sources[0].reach,
            _join(source.title for source in one.sources),
            _join(_short(source.path) for source in one.sources),
        )
        for one in (*takeover.taken, *takeover.there)
    ]
    if rows:
        table(("server", "command or host", "client", "file"), rows)
    for one in takeover.left_out:
        end = "" if one.left_out.endswith("?") else "."
        notice(f"{_short(one.path)}: {one.spec.name} is left out: {one.left_out}{end}")
    for one in takeover.taken:
        for source in one.sources:
            _tell_changes(one, source)


def _name_both(one: Taken) -> str:
    """What the server is called here, and what the clients call it where that is another name."""
    theirs = [source.spec.name for source in one.sources if source.spec.name != one.spec.name]
    return f"{one.spec.name} ({_join(theirs)})" if theirs else one.spec.name


def _join(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _tell_changes(one: Taken, source: Found) -> None:
    """Say in a line each what is not as in the client's list: the name, and settings."""
    path, given, name = _short(source.path), source.spec.name, one.spec.name
    if not is_server_name(given):
        notice(f"{path}: {quoted(given)} is called {name} here; a name has {SERVER_NAME_WORDS}.")
    elif given != one.sources[0].spec.name:
        notice(f"{path}: {given} is the same server as {name}, and is taken over once.")
    elif given != name:
        notice(f"{path}: {given} is called {name} here; another server has that name.")
    if source.unused:
        keys = ", ".join(key_shown((key,)) for key in source.unused)
        notice(f"{path}: settings of {quoted(given)} that are not taken over: {keys}.")


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
    added, there = len(takeover.taken), len(takeover.there)
    was_there = f"; {there} {_was(there)} there already" if there else ""
    show(f"{counted(added, 'server')} {_was(added)} added to {write}{was_there}.")
    _tell_next_step(takeover, write)


def _tell_next_step(takeover: Takeover, write: Path) -> None:
    """Name the commands that put the gateway into the lists in place of these servers."""
    titles = {source.title for one in (*takeover.taken, *takeover.there) for source in one.sources}
    clients = [client for client in CLIENTS if client.title in titles]
    is_found = write.absolute() == Path(FILE_NAME).absolute()
    option = "" if is_found else f" --config {shlex.quote(str(write))}"
    if clients:
        show("Next, let the gateway take their place in the client's own list:")
    for client in clients:
        show(f"  tooldrawer connect {client.name} --replace{option}")


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


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
        "there": [_source(source) for one in takeover.there for source in one.sources],
        "left_out": [{**_source(one), "reason": one.left_out} for one in takeover.left_out],
        "variables": [
            {"name": name, "for": use, "is_set": bool(known.get(name))}
            for name, use in takeover.variables.items()
        ],
        "written": None if write is None or not takeover.taken else str(write),
    }


def _source(one: Found) -> dict[str, object]:
    return {
        "name": one.spec.name,
        "client": one.title,
        "file": str(one.path),
        "unused": list(one.unused),
    }
