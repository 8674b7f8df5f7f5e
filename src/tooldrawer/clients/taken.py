"""Servers found in the lists of clients, in the words of our own file."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from tooldrawer.clients import change
from tooldrawer.clients.dialect import COMMON, OPENCODE
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.inheritance import everything
from tooldrawer.clients.known import CLIENTS, EVERY, Client, Keys, Place
from tooldrawer.clients.server_file import ServerFile, server_file, text_of
from tooldrawer.config.client_places import rewritten
from tooldrawer.config.document import Path as KeyPath
from tooldrawer.config.entry import EntryReader, unused_keys
from tooldrawer.config.itself import is_gateway
from tooldrawer.config.sentences import key_shown
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json
from tooldrawer.upstream.spec import UpstreamSpec

_LISTS: tuple[Keys, ...] = (("mcpServers",), ("servers",), ("mcp_servers",))
_ITSELF = "it is this gateway itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One server, and whose list it is in."""

    spec: UpstreamSpec
    """With texts as `tooldrawer.yaml` has them: nothing is filled."""
    title: str
    path: Path
    left_out: str = ""
    """Why it cannot be used; empty when it can."""
    unused: tuple[str, ...] = ()
    """Keys of its entry that mean nothing here."""

    @property
    def reach(self) -> str:
        """The program or the host; the rest may be secret."""
        if not self.spec.url:
            return self.spec.command
        try:
            return urlsplit(self.spec.url).hostname or "(an address)"
        except ValueError:
            return "(an address)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What was found, and which files could not be read."""

    found: tuple[Found, ...]
    broken: tuple[str, ...] = ()


def find_servers(folders: Folders, clients: Iterable[Client] = CLIENTS) -> Search:
    """The servers in the lists of these clients; a broken file hides only its own."""
    found: list[Found] = []
    broken: list[str] = []
    for client in clients:
        for place in client.places:
            for path in place.files(folders):
                try:
                    found += _of_file(client, place, path)
                except ConfigError as error:
                    broken += [one for one in error.mistakes if one not in broken]
    return Search(found=tuple(found), broken=tuple(broken))


def servers_of(path: Path, folders: Folders) -> Search:
    """The servers in one file, whichever client it belongs to.

    Raises:
        ConfigError: It cannot be read, or has no list.
    """
    data = change.read(path)
    if data is None:
        raise ConfigError(f"{path}: cannot be read: No such file or directory.")
    file = server_file(path, text_of(data, path))
    for client in _readers(path, folders):
        found = [
            one for keys in client.places[0].lists for one in _listed(client, keys, path, file)
        ]
        if found or any(file.entries(keys) is not None for keys in client.places[0].lists):
            return Search(found=tuple(found))
    raise ConfigError(f"{path}: has no list of servers; expected one such as mcpServers.")


def read_entry(client: Client, name: str, entry: Json, path: Path, at: KeyPath = ()) -> Found:
    """One entry of the client's file `path`."""
    own = client.dialect.standard(entry) if isinstance(entry, dict) else entry
    is_filled = client.dialect.is_filled
    reader = EntryReader(fill=lambda text, _: rewritten(text, path) if is_filled else text)
    spec = reader.read(name, own, at)
    reason = ""
    if is_gateway(spec):
        reason = _ITSELF
    elif reader.mistakes:
        first = reader.mistakes[0]
        key = key_shown(first.path[len(at) :]) if len(first.path) > len(at) else "it"
        reason = f"{key} {first.text}"
    elif not spec.command and not spec.url:
        reason = "it has neither a command nor a url"
    own_keys = client.dialect.own_keys
    unused = unused_keys(own, spec) if isinstance(own, dict) else ()
    return Found(
        spec=spec,
        title=client.title,
        path=path,
        left_out=reason,
        unused=tuple(key for key in unused if key not in own_keys),
    )


def _readers(path: Path, folders: Folders) -> tuple[Client, ...]:
    """Clients whose file it may be: by its place, or by what lists it has."""
    for client in CLIENTS:
        for place in client.places:
            if path.absolute() in place.files(folders):
                return (replace(client, places=(place,)),)
    anyone = Client(
        name="",
        title=path.name,
        places=(Place(where="user", files=lambda _: (path,), lists=_LISTS),),
        dialect=COMMON,
        inheritance=everything,
    )
    opencode = Client(
        name="",
        title=path.name,
        places=(
            Place(where="user", files=lambda _: (path,), lists=(("mcp",), ("mcp", "servers"))),
        ),
        dialect=OPENCODE,
        inheritance=everything,
    )
    if path.suffix == ".toml":
        return tuple(client for client in CLIENTS if client.name == "codex")
    return anyone, opencode


def _of_file(client: Client, place: Place, path: Path) -> list[Found]:
    data = change.read(path)
    if data is None:
        return []
    file = server_file(path, text_of(data, path))
    lists = [keys for pattern in place.lists for keys in _spelled_out(file, pattern)]
    return [found for keys in lists for found in _listed(client, keys, path, file)]


def _spelled_out(file: ServerFile, keys: Keys) -> list[Keys]:
    """The lists that a pattern stands for."""
    if EVERY not in keys:
        return [keys]
    at = keys.index(EVERY)
    return [(*keys[:at], name, *keys[at + 1 :]) for name in file.entries(keys[:at]) or {}]


def _listed(client: Client, keys: Keys, path: Path, file: ServerFile) -> list[Found]:
    found: list[Found] = []
    for name, entry in (file.entries(keys) or {}).items():
        if isinstance(entry, dict) and client.dialect.standard(entry) is None:
            continue
        found.append(read_entry(client, name, entry, path, (*keys, name)))
    return found
