"""A configuration file that changes while it is in use."""

from collections.abc import Callable
from pathlib import Path
from time import time

import anyio

from tooldrawer.config.document import Document
from tooldrawer.config.file_writers import is_open_for_writing
from tooldrawer.config.loading import sources
from tooldrawer.errors import ConfigError
from tooldrawer.trust import TrustStore

_QUIET_S = 0.2
"""A file that was changed less than this ago may still be being written."""
_MAX_WAITS = 10
_CUT_OFF_WAIT_S = 5.0
"""A file that only lost its end is applied when it has stayed so for this long: a program that
writes slowly, or died while it wrote, leaves the same text as a person who deleted the end."""
_SERVERS = "mcp_servers"

_FileState = tuple[int, int, int] | None
Stamp = tuple[object, ...]


class WatchedFile:
    """A file with what is read beside it, and which state of them was read."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time) -> None:
        self.path = path
        self._clock = clock
        self._sources = sources(path)
        self._trust = TrustStore()
        self._trusted: tuple[_FileState, tuple[str, ...]] = (None, ())
        self.seen = self.stamp()
        """The state that was last read."""
        self._retry_at: float | None = None
        """When files that were incomplete are read again although they have not changed."""
        self._first_found: tuple[tuple[_FileState, ...], float] = ((), 0.0)
        """The state in which a file had only lost its end, and when that was found."""
        self.applied = self._read_sources()
        """The texts of the settings in force."""

    def has_changed(self) -> bool:
        """Whether the files have to be read again."""
        return self.needs_reading(self.stamp())

    def needs_reading(self, stamp: Stamp) -> bool:
        """Whether this is another state than the one last read, or that one may be complete now."""
        is_due = self._retry_at is not None and self._clock() >= self._retry_at
        return stamp != self.seen or is_due

    def stamp(self) -> Stamp:
        """What differs after any change of the files, or of what the user trusts in them."""
        return (*map(_stat, self._sources), self._list_trusted())

    async def wait_until_quiet(self) -> None:
        """Wait while the files are being written, for a moment at most and once for each change."""
        for _ in range(_MAX_WAITS):
            if self.stamp() == self.seen:
                return
            states = map(_stat, self._sources)
            written = max((each[0] for each in states if each), default=0) / 1e9
            age = time() - written
            if 0 <= age < _QUIET_S:  # a date in the future says nothing
                await anyio.sleep(_QUIET_S - age)
            elif any(map(is_open_for_writing, self._sources)):
                await anyio.sleep(_QUIET_S)
            else:
                return

    def _list_trusted(self) -> tuple[str, ...]:
        """Return the fingerprints of these files only: others concern other folders."""
        state = _stat(self._trust.path)
        if state != self._trusted[0]:
            own = {str(file.resolve()) for file in self._sources}
            found = (each.fingerprint for each in self._trust.items() if each.file in own)
            self._trusted = (state, tuple(found))
        return self._trusted[1]

    def check_complete(self) -> tuple[str, ...]:
        """Return the texts of the files, unless one looks half-written.

        Raises:
            ConfigError: A program is still writing, or a file lost what one loses that is cut off.
        """
        self._retry_at = None
        for file in self._sources:
            if is_open_for_writing(file):
                self._retry_at = self._clock()
                raise ConfigError(
                    f"{file}: a program has it open for writing, so it may be half-written; it is "
                    "read when that program closes it."
                )
        texts = self._read_sources()
        self._check_end(texts[0])
        return texts

    def check_settled(self, texts: tuple[str, ...]) -> None:
        """Check that no file only lost its end a moment ago; for texts without mistakes.

        Raises:
            ConfigError: One did, so it is probably half-written.
        """
        for file, text, applied in zip(self._sources, texts, self.applied, strict=True):
            if _has_lost_end(text, applied):
                self._check_age(file)

    def _check_end(self, text: str) -> None:
        """Reject a file that lost its last line break or its servers, however old it is."""
        applied = self.applied[0]
        if text.strip() and applied.endswith("\n") and not text.endswith("\n"):
            raise ConfigError(
                f"{self.path}: ends in the middle of a line, so it may be half-written; if it is "
                "complete, end it with a line break."
            )
        if _has_servers(applied) and not _has_servers_key(text):
            raise ConfigError(
                f"{self.path}: has no {_SERVERS} any more, so it may be half-written; to stop all "
                f"servers, write `{_SERVERS}: {{}}`."
            )

    def _check_age(self, file: Path) -> None:
        """Reject a file that only lost its end, until it has stayed unchanged for some seconds."""
        now, state = self._clock(), _stat(file)
        states = tuple(map(_stat, self._sources))
        if states != self._first_found[0]:
            self._first_found = (states, now)
        written = state[0] / 1e9 if state else now
        # A date in the future says nothing.
        unchanged_since = written if written <= now else self._first_found[1]
        if now - unchanged_since < _CUT_OFF_WAIT_S:
            self._retry_at = unchanged_since + _CUT_OFF_WAIT_S
            raise ConfigError(
                f"{file}: has lost its end, so it is probably half-written; if it is complete, "
                f"leave it so: it is applied when it has not changed for {_CUT_OFF_WAIT_S:.0f} "
                "seconds."
            )

    def _read_sources(self) -> tuple[str, ...]:
        return tuple(map(_read, self._sources))


def _has_lost_end(text: str, applied: str) -> bool:
    """Whether a part of the applied text is there, and what followed it is missing."""
    return bool(text) and applied.startswith(text) and bool(applied[len(text) :].strip())


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
