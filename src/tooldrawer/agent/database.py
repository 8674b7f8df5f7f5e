"""The SQLite file that conversations are in: private, versioned, and plain about what is wrong."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock

from tooldrawer.errors import ToolDrawerError

VERSION = 1
_PATIENCE = 10.0
"""Seconds to wait for another process that writes; it takes milliseconds."""
_CREATING = Lock()
"""POSIX drops a process's locks on a file when it closes any handle of it, so that the file must
not be made by one thread while another has it open."""
_OTHERS = 0o077
_SCHEMA = (
    """CREATE TABLE conversation (
        id TEXT PRIMARY KEY, started REAL NOT NULL, last REAL NOT NULL, model TEXT NOT NULL,
        cwd TEXT NOT NULL, scope TEXT NOT NULL, parent TEXT, title TEXT NOT NULL DEFAULT '',
        turns INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX conversation_last ON conversation (last)",
    # A summary made by a compaction says where the messages begin that it leaves: `begins`.
    """CREATE TABLE message (
        conversation TEXT NOT NULL REFERENCES conversation, number INTEGER NOT NULL,
        at REAL NOT NULL, body BLOB NOT NULL, begins INTEGER, UNIQUE (conversation, number))""",
    """CREATE TABLE passage (
        id INTEGER PRIMARY KEY, conversation TEXT NOT NULL REFERENCES conversation,
        at REAL NOT NULL, who TEXT NOT NULL, text TEXT NOT NULL)""",
)
_INDEX = """CREATE VIRTUAL TABLE passage_index USING fts5(
    text, content='passage', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2')"""
# A program without FTS5 may have added passages since.
_CATCH_UP = """INSERT INTO passage_index (rowid, text) SELECT id, text FROM passage
    WHERE id > (SELECT coalesce(max(id), 0) FROM passage_index_docsize)"""


class Database:
    """Opens the file anew for each use, so that threads, forks and processes need not agree."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._has_fts5 = True
        self._has_caught_up = False

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """The file as it is at one moment.

        Raises:
            ToolDrawerError: It cannot be used; the text says where it is and what to do.
        """
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """The file, for a change that is there as a whole, and on the disk, or not at all.

        Raises:
            ToolDrawerError: It cannot be used; the text says where it is and what to do.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def erasing(self) -> Generator[sqlite3.Connection]:
        """As `writing`, and nothing of what is removed stays readable in the file.

        Raises:
            ToolDrawerError: It cannot be used; the text says where it is and what to do.
        """
        with self._transaction("BEGIN IMMEDIATE", erase=True) as connection:
            yield connection
            if self.has_index(connection):
                # The words of a passage stay in the index until it is merged, or made anew.
                connection.execute("INSERT INTO passage_index (passage_index) VALUES ('rebuild')")

    def has_index(self, connection: sqlite3.Connection) -> bool:
        """Whether words can be looked up."""
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'passage_index'")
        return self._has_fts5 and found.fetchone() is not None

    @contextmanager
    def _transaction(self, begin: str, *, erase: bool = False) -> Generator[sqlite3.Connection]:
        try:
            with closing(self._opened()) as connection:
                if erase:
                    connection.execute("PRAGMA secure_delete = ON")
                connection.execute(begin)
                with connection:  # commits, or rolls back
                    yield connection
                if erase:  # else the text stays in the file that ends in -wal
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (sqlite3.Error, OSError) as error:
            raise ToolDrawerError(self._explained(error)) from error

    def _opened(self) -> sqlite3.Connection:
        self._create()
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            # The default of some builds is less: there a message could be lost with the power.
            connection.execute("PRAGMA synchronous = FULL")
            self._prepare(connection)
            _let_others_read(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self) -> None:
        with _CREATING:
            if not self.path.exists():
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with suppress(FileExistsError):  # another process was faster
                    self.path.touch(mode=0o600, exist_ok=False)
        if self.path.stat().st_mode & _OTHERS:
            with suppress(PermissionError):
                self.path.chmod(0o600)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = _version(connection)
        if version > VERSION:
            raise ToolDrawerError(
                f"The conversations in {self.path} were written by a later version of tooldrawer "
                f"(format {version}; this one knows {VERSION}). Update tooldrawer, or move the "
                "file away to begin anew."
            )
        if version < VERSION:
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                if _version(connection) < VERSION:  # else another process was faster
                    for statement in _SCHEMA:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {VERSION}")
        if not self._has_caught_up:
            self._index(connection)
            self._has_caught_up = True

    def _index(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            with connection:
                if not self.has_index(connection):
                    connection.execute(_INDEX)
                connection.execute(_CATCH_UP)
        except sqlite3.OperationalError as error:
            if "no such module" not in str(error):
                raise
            self._has_fts5 = False

    def _explained(self, error: Exception) -> str:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        where = f"The conversations in {self.path}"
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return (
                f"{where} cannot be read, the file is damaged: {error}. Move it away, and those "
                "beside it that end in -wal and -shm, to begin anew; `sqlite3 FILE .recover` "
                "may still get at what is in it."
            )
        if code == sqlite3.SQLITE_BUSY:
            return f"{where} are in use by another program: {error}. End that one, or try again."
        if code == sqlite3.SQLITE_FULL:
            return f"{where} cannot be kept: {error}. Make room on the disk."
        reason = error.strerror if isinstance(error, OSError) else error
        return (
            f"{where} cannot be used: {reason}. See that the file and its folder can be written, "
            "and that the disk is whole."
        )


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _let_others_read(connection: sqlite3.Connection) -> None:
    """Write-ahead mode: who reads does not wait for who writes. It stays in the file."""
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # SQLite does not wait here: when six processes made a file at once, one of them was refused
        # in 8 of 85 tries. Without this mode all is as safe, and the next one tries again.
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
