"""A configuration file that changes while it is in use."""

from pathlib import Path
from time import time

import anyio

from tooldrawer.config.document import Document
from tooldrawer.config.loading import sources
from tooldrawer.errors import ConfigError
from tooldrawer.trust import TrustStore

_QUIET_S = 0.2
"""A file that was changed less than this ago may still be being written."""
_MAX_WAITS = 10
_SERVERS = "mcp_servers"

_FileState = tuple[int, int, int] | None
Stamp = tuple[object, ...]


class WatchedFile:
    """A file with what is read beside it, and which state of them was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sources = sources(path)
        self._trust = TrustStore()
        self._trusted: tuple[_FileState, tuple[str, ...]] = (None, ())
        self.seen = self.stamp()
        """The state that was last read."""
        self.applied = _read(path)
        """The text of the settings in force."""

    def has_changed(self) -> bool:
        """Whether the files are in another state than when they were last read."""
        return self.stamp() != self.seen

    def stamp(self) -> Stamp:
        """What differs after any change of the files, or of what the user trusts in them."""
        return (*map(_stat, self._sources), self._list_trusted())

    async def wait_until_quiet(self) -> None:
        """Wait while the files are being written, for a moment at most."""
        for _ in range(_MAX_WAITS):
            states = map(_stat, self._sources)
            written = max((each[0] for each in states if each), default=0) / 1e9
            age = time() - written
            if not 0 <= age < _QUIET_S:  # a date in the future says nothing
                return
            await anyio.sleep(_QUIET_S - age)

    def _list_trusted(self) -> tuple[str, ...]:
        """Return the fingerprints of these files only: others concern other folders."""
        state = _stat(self._trust.path)
        if state != self._trusted[0]:
            own = {str(file.resolve()) for file in self._sources}
            found = (each.fingerprint for each in self._trust.items() if each.file in own)
            self._trusted = (state, tuple(found))
        return self._trusted[1]

    def check_complete(self) -> str:
        """Return the text of the file, unless it looks half-written.

        Raises:
            ConfigError: It lost what a file loses that is cut off.
        """
        text = _read(self.path)
        if text.strip() and self.applied.endswith("\n") and not text.endswith("\n"):
            raise ConfigError(
                f"{self.path}: ends in the middle of a line, so it may be half-written; if it is "
                "complete, end it with a line break."
            )
        if _has_servers(self.applied) and not _has_servers_key(text):
            raise ConfigError(
                f"{self.path}: has no {_SERVERS} any more, so it may be half-written; to stop all "
                f"servers, write `{_SERVERS}: {{}}`."
            )
        return text


def _has_servers(text: str) -> bool:
    value = Document(text).value
    return isinstance(value, dict) and bool(value.get(_SERVERS))


def _has_servers_key(text: str) -> bool:
    """Whether the servers are there, if only as `{}`; also in a text that is no settings at all."""
    value = Document(text).value
    return not isinstance(value, dict) or value.get(_SERVERS) is not None


def _read(path: Path) -> str:
    """The text; nothing when it cannot be read, which reading the settings reports."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _stat(file: Path) -> _FileState:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
