"""The vectors of tools, computed once for each content and kept for the next start."""

import logging
import os
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from time import time
from zlib import crc32

from platformdirs import user_cache_path

from tooldrawer.search.daemon_threads import check_exit
from tooldrawer.search.document import passage
from tooldrawer.search.embedder import Embedder
from tooldrawer.search.vector_table import STORED, VectorTable
from tooldrawer.tool import Tool

_log = logging.getLogger("tooldrawer.search")

_MOST_IN_MEMORY = 200_000
_MOST_ON_DISK = 200_000
_ROOM = 0.9
_DAY = 86_400
_PATIENCE = 5.0
_VARIABLES = 500
_CHECKSUM_BYTES = 4
_KEY = "{} crc32"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    model TEXT, content BLOB, vector BLOB, day INTEGER, PRIMARY KEY (model, content)
) WITHOUT ROWID
"""


class Shelf:
    """Vectors on disk, for all processes of a user. Whatever goes wrong, it is only a cache.

    Each entry ends with its checksum; an entry that does not fit it is treated as absent, so it is
    computed and stored again. Entries without checksums, of an earlier version, have other keys.
    """

    def __init__(self, path: Path, *, most: int = _MOST_ON_DISK) -> None:
        self._path = path
        self._most = most

    def read(self, model: str, contents: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """The stored vectors among `contents`."""
        found: dict[bytes, bytes] = {}
        today, key = _today(), _KEY.format(model)

        def look(database: sqlite3.Connection) -> None:
            for start in range(0, len(contents), _VARIABLES):
                some = contents[start : start + _VARIABLES]
                those = f"model = ? AND content IN ({','.join('?' * len(some))})"
                rows = database.execute(
                    f"SELECT content, vector, day < ? FROM vectors WHERE {those}",
                    (today, key, *some),
                ).fetchall()
                found.update(_unsealed(rows))
                if any(is_older for *_, is_older in rows):
                    database.execute(
                        f"UPDATE vectors SET day = ? WHERE {those}",
                        (today, key, *some),
                    )

        self._do(look)
        return found

    def write(self, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Store vectors; when there are too many, those that nobody asked for longest go."""
        today, key = _today(), _KEY.format(model)
        rows = [(key, content, vector + _checksum(vector), today) for content, vector in vectors]

        def put(database: sqlite3.Connection) -> None:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
            (count,) = database.execute("SELECT count(*) FROM vectors").fetchone()
            if count > self._most:
                oldest = (
                    "SELECT model, content FROM vectors ORDER BY day, model = ?, content LIMIT ?"
                )
                database.execute(
                    f"DELETE FROM vectors WHERE (model, content) IN ({oldest})",
                    (key, count - int(self._most * _ROOM)),
                )

        self._do(put)

    def _create(self) -> None:
        """Make sure that there is a file, and that only its owner can read it.

        SQLite gives its two companion files the mode of the database.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.fstat(descriptor).st_mode & 0o077:
                self._path.chmod(0o600)  # written by an earlier version
        finally:
            os.close(descriptor)

    def _do(self, work: Callable[[sqlite3.Connection], None]) -> None:
        try:
            self._create()
            with closing(sqlite3.connect(self._path, timeout=_PATIENCE)) as database:
                with suppress(sqlite3.OperationalError):
                    # Of several that open a new file, one does it; the others are not made to wait.
                    database.execute("PRAGMA journal_mode = WAL")
                # A lost cache is computed again; a slow one would cost every start.
                database.execute("PRAGMA synchronous = OFF")
                database.execute(_SCHEMA)
                with database:
                    work(database)
        except sqlite3.OperationalError as error:
            # Locked for too long, a full or a read-only disk: do without it this time.
            _log.debug("vectors are not kept: %s", error)
        except sqlite3.DatabaseError:
            # Not a database, or a damaged one: the next time starts a new one.
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.debug("vectors are not kept: %s", error)


def shelf(folder: str | None, name: str = "vectors", *, most: int = _MOST_ON_DISK) -> Shelf | None:
    """Where things are kept: a folder, the user's cache folder with an empty string, or nowhere."""
    if folder is None:
        return None
    base = Path(folder) if folder else user_cache_path("tooldrawer", appauthor=False)
    return Shelf(base / f"{name}.sqlite3", most=most)


class VectorStore:
    """The vectors of one embedder, by the content they were made from."""

    def __init__(self, embedder: Embedder, shelf: Shelf | None = None) -> None:
        self.embedder = embedder
        self._shelf = shelf
        self._lock = Lock()
        self._known: OrderedDict[str, bytes] = OrderedDict()
        """By a tool's fingerprint, so that a known tool is not even read again."""

    def vectors(self, tools: Sequence[Tool]) -> VectorTable:
        """The vectors of `tools`, all of them."""
        table = VectorTable([tool.fingerprint for tool in tools])
        self.fill(table, tools)
        return table

    def fill(
        self,
        table: VectorTable,
        tools: Sequence[Tool],
        *,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Fill a table of `tools`: first with what is known, then batch by batch.

        `progress` is told how many are left to read. Of two catalogs that share tools, one reads a
        batch while the other waits and then finds it.
        """
        with self._lock:
            known = {
                tool.fingerprint: self._known[tool.fingerprint]
                for tool in tools
                if tool.fingerprint in self._known
            }
        table.fill(known)
        texts: dict[bytes, str] = {}
        keys: dict[bytes, list[str]] = {}
        for tool in tools:
            if tool.fingerprint not in known:
                text = passage(tool)
                texts[_content(text)] = text
                keys.setdefault(_content(text), []).append(tool.fingerprint)
        stored: Mapping[bytes, bytes] = {}
        if self._shelf and texts:
            stored = _of_one_length(self._shelf.read(self.embedder.identity, list(texts)))
        with self._lock:
            table.fill(self._remember(stored, keys))
        missing = [content for content in texts if content not in stored]
        # Each batch is stored at once: a process that is killed loses one at most.
        size = self.embedder.batch
        for start in range(0, len(missing), size):
            check_exit()
            progress(len(missing) - start)
            some = missing[start : start + size]
            with self._lock:
                made = self._made({content: texts[content] for content in some}, keys)
                table.fill(self._remember(made, keys))
        with self._lock:
            while len(self._known) > max(_MOST_IN_MEMORY, len(tools)):
                self._known.popitem(last=False)

    def _made(
        self, texts: Mapping[bytes, str], keys: Mapping[bytes, Sequence[str]]
    ) -> Mapping[bytes, bytes]:
        """The vectors of some texts: another catalog's tools may have had the same meanwhile."""
        found = {
            content: self._known[keys[content][0]]
            for content in texts
            if keys[content][0] in self._known
        }
        unread = [content for content in texts if content not in found]
        if unread:
            rows = self.embedder.tools([texts[content] for content in unread]).astype(STORED)
            fresh = [(content, row.tobytes()) for content, row in zip(unread, rows, strict=True)]
            found.update(fresh)
            if self._shelf:
                self._shelf.write(self.embedder.identity, fresh)
        return found

    def _remember(
        self, vectors: Mapping[bytes, bytes], keys: Mapping[bytes, Sequence[str]]
    ) -> Mapping[str, bytes]:
        """Keep vectors under the fingerprints of the tools that they belong to."""
        by_key = {key: vector for content, vector in vectors.items() for key in keys[content]}
        self._known.update(by_key)
        return by_key


def _unsealed(rows: Iterable[tuple[bytes, object, object]]) -> Iterator[tuple[bytes, bytes]]:
    """The entries that are as they were stored, without their checksums."""
    for content, entry, _ in rows:
        if isinstance(entry, bytes):
            value, checksum = entry[:-_CHECKSUM_BYTES], entry[-_CHECKSUM_BYTES:]
            if checksum == _checksum(value):
                yield content, value


def _checksum(value: bytes) -> bytes:
    return crc32(value).to_bytes(_CHECKSUM_BYTES)


def _of_one_length(stored: Mapping[bytes, bytes]) -> Mapping[bytes, bytes]:
    """The vectors of the most frequent length that vectors can have.

    Another model may have had the same name; what it made is computed again.
    """
    sizes = Counter(len(v) for v in stored.values() if v and not len(v) % STORED().itemsize)
    size = max(sizes, key=lambda one: (sizes[one], one), default=0)
    return {content: vector for content, vector in stored.items() if len(vector) == size > 0}


def _content(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _today() -> int:
    return int(time()) // _DAY
