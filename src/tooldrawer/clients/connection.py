"""The gateway in a client's list: put in, and taken out again."""

from collections.abc import Iterable, Mapping
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
    served: Iterable[UpstreamSpec] = (),
) -> Plan:
    """Put the gateway into the client's list as `name`, and take out what it serves.

    `served` are servers as our own file writes them.

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
    known = list(served)
    removed = tuple(
        other
        for other, entry in entries.items()
        if other != name and _is_served(client, path, other, entry, known)
    )
    changes |= dict.fromkeys(removed)
    text = file.edited(keys, changes)
    return _plan(path, before, text.encode(), removed=removed)


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
    if name != OUR_NAME and not is_gateway(read_entry(client, name, entry, path).spec):
        raise ConfigError(
            f"{path}: has another server that is called {name!r}; choose a name with --name."
        )
    kept = {key: item for key, item in entry.items() if key in ours or key not in _TRANSPORT}
    return {**kept, **ours}


def _is_served(
    client: Client, path: Path, name: str, entry: Json, served: list[UpstreamSpec]
) -> bool:
    spec = read_entry(client, name, entry, path).spec
    return any(same_server(spec, other) for other in served if other.enabled)


def _plan(
    path: Path,
    before: bytes | None,
    after: bytes | None,
    *,
    removed: tuple[str, ...] = (),
    backup: change.Backup | None = None,
) -> Plan:
    shown = change.difference(path, _masked(path, before), _masked(path, after))
    return Plan(path=path, before=before, after=after, shown=shown, removed=removed, backup=backup)


def _masked(path: Path, data: bytes | None) -> str:
    """The file without secrets; nothing when there is none."""
    text = text_of(data or b"", path)
    return server_file(path, text).masked() if text.strip() else ""
