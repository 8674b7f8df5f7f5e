"""The gateway in a client's list: put in, and taken out again."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tooldrawer.clients import change
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import EVERY, Client, Keys, Place
from tooldrawer.clients.launch import Launch
from tooldrawer.clients.same import same_server
from tooldrawer.clients.server_file import ServerFile, server_file, text_of
from tooldrawer.clients.taken import read_entry
from tooldrawer.config.itself import is_gateway
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.spec import UpstreamSpec

OUR_NAME = "tooldrawer"
_TRANSPORT = ("type", "command", "args", "url", "httpUrl", "serverUrl")
_OF_COMMANDS = ("env", "environment", "env_vars", "cwd")
_OF_ADDRESSES = ("headers", "http_headers", "env_http_headers", "bearer_token_env_var")
"""Some clients refuse an entry that has keys of the other kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedEntry:
    """A server in a client's list that the gateway serves too."""

    name: str
    spec: UpstreamSpec
    """As the client's file has it, in the words of our own."""
    served: UpstreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A change of a client's file that was not made yet."""

    path: Path
    before: bytes | None
    after: bytes | None
    """Nothing when the file goes."""
    shown: str
    """What changes, without secrets; empty when nothing does."""
    removed: tuple[str, ...] = ()
    """Servers that leave the list, since the gateway serves them."""
    entry: Json = None
    """The gateway's entry, when it is put in."""
    backup: change.Backup | None = None
    """What is taken back."""

    @property
    def is_needed(self) -> bool:
        """Whether it changes anything."""
        return self.before != self.after

    def carry_out(self) -> Path | None:
        """Change the file; where the file as it was is kept.

        Raises:
            ConfigError: It changed meanwhile, or cannot be written.
        """
        if self.backup is None:
            return change.write(self.path, cast("bytes", self.after), before=self.before)
        change.check_unchanged(self.path, self.before)
        if self.after == self.backup.before:
            change.restore(self.path, self.backup)
            return None
        return change.rewrite(self.path, cast("bytes", self.after), self.backup)


def connecting(
    client: Client,
    place: Place,
    folders: Folders,
    launch: Launch,
    *,
    name: str = OUR_NAME,
    removed: Collection[str] = (),
) -> Plan:
    """Put the gateway into the client's list as `name`, and take the servers `removed` out.

    Raises:
        ConfigError: The file is broken or cannot be edited, or another server has that name.
    """
    path = place.file(folders)
    before = change.read(path)
    file = _read(path, before)
    keys = _list_of(file, place, folders)
    entries = file.entries(keys) or {}
    ours = client.dialect.gateway(launch)
    changes: dict[str, Json] = {name: _joined(client, path, name, entries.get(name), ours)}
    leaving = tuple(other for other in entries if other != name and other in removed)
    changes |= dict.fromkeys(leaving)
    text = file.edited(keys, changes)
    return _plan(path, before, text.encode(), removed=leaving, entry=changes[name])


def served_entries(
    client: Client,
    place: Place,
    folders: Folders,
    served: Iterable[UpstreamSpec],
    *,
    name: str = OUR_NAME,
) -> list[ServedEntry]:
    """Return the servers of the client's list that the gateway serves.

    `served` are servers as our own file writes them.

    Raises:
        ConfigError: The file is broken.
    """
    path = place.file(folders)
    file = _read(path, change.read(path))
    known = [spec for spec in served if spec.enabled]
    found: list[ServedEntry] = []
    for other, entry in (file.entries(_list_of(file, place, folders)) or {}).items():
        spec = read_entry(client, other, entry, path).spec
        ours = next((one for one in known if same_server(spec, one)), None)
        if other != name and ours is not None:
            found.append(ServedEntry(name=other, spec=spec, served=ours))
    return found


def unserved_entries(
    client: Client,
    place: Place,
    folders: Folders,
    entries: Iterable[ServedEntry],
    *,
    name: str = OUR_NAME,
) -> dict[str, str]:
    """Return the other servers of the client's list, and why the gateway does not serve each.

    Raises:
        ConfigError: The file is broken.
    """
    path = place.file(folders)
    file, served = _read(path, change.read(path)), {one.name for one in entries}
    found: dict[str, str] = {}
    for other, entry in (file.entries(_list_of(file, place, folders)) or {}).items():
        if other != name and other not in served:
            read = read_entry(client, other, entry, path)
            found[other] = read.left_out or "the gateway does not serve it"
    return found


def undoing(client: Client, place: Place, folders: Folders, *, name: str = OUR_NAME) -> Plan:
    """Take the last change of the client's file back.

    When nobody changed the file since, it becomes what it was. Else only the list does: the gateway
    goes, and the servers that left come back.

    Raises:
        ConfigError: There is no backup, or the file is broken.
    """
    path = place.file(folders)
    backup = change.last_backup(path)
    current = change.read(path)
    if current is None:
        raise ConfigError(f"{path}: is gone; as it was before, it is in {backup.path}.")
    if backup.is_of(current):
        return _plan(path, current, backup.before, backup=backup)
    file, old = _read(path, current), _read(path, backup.before)
    keys = _list_of(file, place, folders)
    entries, before = file.entries(keys) or {}, old.entries(keys) or {}
    changes: dict[str, Json] = {
        other: entry for other, entry in before.items() if other not in entries
    }
    for other, entry in entries.items():
        is_ours = other == name or is_gateway(read_entry(client, other, entry, path).spec)
        if is_ours and entry != before.get(other):
            changes[other] = before.get(other)
    text = file.edited(keys, changes)
    return _plan(path, current, text.encode(), backup=backup)


def _read(path: Path, data: bytes | None) -> ServerFile:
    return server_file(path, text_of(data or b"", path))


def _list_of(file: ServerFile, place: Place, folders: Folders) -> Keys:
    """The list to write to: of several the last that is there, since it is the more exact one."""
    here = folders.here.as_posix()
    lists = [tuple(here if key == EVERY else key for key in keys) for keys in place.lists]
    there = [keys for keys in lists[1:] if _is_list(file.entries(keys))]
    return there[-1] if there else lists[0]


def _is_list(entries: JsonObject | None) -> bool:
    """Whether it is a list of servers, and not a server that is called so."""
    return entries is not None and all(isinstance(entry, Mapping) for entry in entries.values())


def _joined(client: Client, path: Path, name: str, there: Json, ours: JsonObject) -> JsonObject:
    """Our entry, with what the user added to the one that is there."""
    if not isinstance(there, Mapping):
        return ours
    entry = cast("JsonObject", there)
    is_address = "command" not in ours
    if name != OUR_NAME and not is_gateway(read_entry(client, name, entry, path).spec):
        raise ConfigError(
            f"{path}: has another server that is called {name!r}; choose a name with --name."
        )
    foreign = (*_TRANSPORT, *(_OF_COMMANDS if is_address else _OF_ADDRESSES))
    kept = {key: item for key, item in entry.items() if key in ours or key not in foreign}
    return {**kept, **ours, **_united(kept, ours)}


def _united(theirs: JsonObject, ours: JsonObject) -> JsonObject:
    """Texts by name from both: a variable is the user's, a header is ours."""
    found: dict[str, Json] = {}
    for key, first, second in (
        ("env", ours, theirs),
        ("environment", ours, theirs),
        ("headers", theirs, ours),
        ("http_headers", theirs, ours),
    ):
        both = [one[key] for one in (first, second) if isinstance(one.get(key), Mapping)]
        if both:
            found[key] = {
                name: text for one in both for name, text in cast("JsonObject", one).items()
            }
    return found


def _plan(
    path: Path,
    before: bytes | None,
    after: bytes | None,
    *,
    removed: tuple[str, ...] = (),
    entry: Json = None,
    backup: change.Backup | None = None,
) -> Plan:
    shown = change.difference(path, _masked(path, before), _masked(path, after))
    return Plan(
        path=path,
        before=before,
        after=after,
        shown=shown,
        removed=removed,
        entry=entry,
        backup=backup,
    )


def _masked(path: Path, data: bytes | None) -> str:
    """The file without secrets; nothing when there is none."""
    text = text_of(data or b"", path)
    return server_file(path, text).masked() if text.strip() else ""
