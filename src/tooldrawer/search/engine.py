"""Search over any catalog, with the index of each content built once."""

import logging
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from threading import Event, Lock
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakSet

from tooldrawer.catalog import Catalog
from tooldrawer.errors import ModelFileChanged
from tooldrawer.search.daemon_threads import release_exit, start_daemon_thread
from tooldrawer.search.index import Hit
from tooldrawer.search.recipe import EVERYTHING, Recipe
from tooldrawer.tool import Tool

if TYPE_CHECKING:
    # At run time where needed first: numpy alone costs half of what `import tooldrawer` may.
    from tooldrawer.search.bm25 import BM25, Read
    from tooldrawer.search.embedder import Embedder
    from tooldrawer.search.hybrid import Hybrid
    from tooldrawer.search.vectors import VectorStore

_WORTH_CHANGING = 0.5
"""Grow the nearest known index when it shares at least this part of its tools with the catalog."""
_PATIENCE = 1.0
"""Seconds that searches wait for the vectors of a new catalog, counted from its first search.

After that they use the vectors that exist."""
_STEP = 0.2
_PAUSE = 30.0
"""Seconds after a failure before a search tries again to get the vectors."""
_LONGEST_NAME = 256
_MOST_SERVERS = 2_000
"""Whose words are kept on disk."""
_log = logging.getLogger("tooldrawer.search")

Progress = Callable[[int, int], None]
"""Told how many of how many tools have been read."""


class SearchEngine:
    """Finds tools by what they do. Indexes are shared by all sessions whose catalogs are equal.

    Vectors are made in a thread of their own; until a tool's is there, words alone find the tool,
    and `notice` says so. Safe to use from any number of threads.
    """

    def __init__(
        self,
        *,
        recipe: Recipe = EVERYTHING,
        embedder: "Callable[[], Embedder] | None" = None,
        cache: str | None = "",
        keep: int = 16,
        patience: float = _PATIENCE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Set up an engine; nothing is read before the first search.

        Args:
            recipe: The ingredients of a search.
            embedder: Makes what turns texts into vectors; by default the model in the package.
            cache: Folder for the vectors of known tools; by default the user's cache folder, and
                none with `None`.
            keep: Indexes to remember.
            patience: Seconds that the searches of a new catalog wait for its vectors.
            clock: Tells the seconds for that, and between a failure and the next attempt.
        """
        self._recipe = recipe
        self._make = embedder
        self._cache = cache
        self._keep = keep
        self._patience = patience
        self._clock = clock
        self._lock = Lock()
        self._known: OrderedDict[str, _Entry] = OrderedDict()
        self._being_built: dict[str, Future[_Entry]] = {}
        self._has_dictionaries = not recipe.languages
        self._seen: WeakSet[Catalog] = WeakSet()
        self._store: VectorStore | None = None
        self._store_lock = Lock()
        self._missing = "" if recipe.meaning else "lexical"

    def search(self, catalog: Catalog, query: str, limit: int = 5) -> list[Hit]:
        """The best `limit` tools for `query`, best first; empty when nothing fits.

        A tool whose exact name was asked for, in any notation, comes first. When it has no
        word of any tool, the tools whose names contain it literally come before any guess.
        """
        if limit < 0:
            raise ValueError(f"limit is {limit}; give the number of tools wanted.")
        entry = self._entry(catalog)
        entry.wait_until_due(self._clock)
        exact = _spelled(catalog, query)
        if not exact and not entry.index.knows(query) and (inside := _containing(catalog, query)):
            return inside[:limit]
        # With a name, everything: how several of one name stand must not depend on the limit.
        ranked = list(entry.index.search(query, limit=len(catalog) if exact else limit))
        if exact:
            ranked = _exact_first(exact, ranked)
        # The index may have been built from an equal catalog: what is given are this one's tools.
        return [_of(catalog, hit) for hit in ranked[:limit]]

    def is_ready(self, catalog: Catalog) -> bool:
        """Whether a search would answer at once: all is built, and nobody else has to be asked."""
        if catalog not in self._seen or self._make is not None or not self._has_dictionaries:
            return False
        entry = self._known.get(catalog.fingerprint)
        return entry is not None and (entry.index.has_meaning or bool(self._missing))

    def notice(self, catalog: Catalog) -> str:
        """What somebody who searches this catalog now should know; empty when all is well."""
        if self._missing:
            return "" if self._missing == "lexical" else self._missing
        entry = self._known.get(catalog.fingerprint)
        if entry is None:
            return ""
        return entry.index.failure if entry.index.has_meaning else entry.notice

    def index(self, catalog: Catalog) -> "Hybrid":
        """The index of `catalog`, from the known ones or from the nearest of them."""
        return self._entry(catalog).index

    def prepare(self, catalog: Catalog, progress: Progress = lambda _, __: None) -> "Hybrid":
        """The index of `catalog` with its vectors; waits for them as long as it takes."""
        entry = self._entry(catalog)
        entry.wait(progress)
        return entry.index

    def _entry(self, catalog: Catalog) -> "_Entry":
        """The entry of `catalog`; threads that need a new one at the same time build it once."""
        key = catalog.fingerprint
        with self._lock:
            self._seen.add(catalog)
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                if known.resumes(self._clock()):
                    self._start(known)
                return known
            is_first = key not in self._being_built
            result = self._being_built.setdefault(key, Future[_Entry]())
            candidates = list(self._known.values())
        if is_first:
            try:
                result.set_result(self._build(catalog, candidates))
            except BaseException as error:
                result.set_exception(error)
                raise
            finally:
                with self._lock:
                    del self._being_built[key]
        return result.result()

    def _build(self, catalog: Catalog, candidates: "list[_Entry]") -> "_Entry":
        from tooldrawer.search.hybrid import Hybrid  # noqa: PLC0415

        tools = {tool.fingerprint: tool for tool in catalog}
        words = _built(tools, candidates, self._read())
        index = Hybrid(words, recipe=self._recipe)
        entry = _Entry(tools, index, patience=self._patience, now=self._clock())
        with self._lock:
            self._known[catalog.fingerprint] = entry
            while len(self._known) > self._keep:
                self._known.popitem(last=False)
        self._start(entry)
        return entry

    def _start(self, entry: "_Entry") -> None:
        start_daemon_thread(partial(self._complete, entry), name="tooldrawer-vectors")

    def _complete(self, entry: "_Entry") -> None:
        """Load what an index does without at first. Runs in a thread of its own."""
        try:
            if not self._missing:
                self._understand(entry)
        finally:
            entry.finish()
        if not self._has_dictionaries:
            from tooldrawer.search.hybrid import load_dictionaries  # noqa: PLC0415

            load_dictionaries()
            self._has_dictionaries = True

    def _understand(self, entry: "_Entry") -> None:
        """Give an index its vectors."""
        from tooldrawer.search.vector_table import VectorTable  # noqa: PLC0415

        try:
            store = self._vectors()
            tools = entry.index.lexical.tools
            table = VectorTable([tool.fingerprint for tool in tools])
            entry.index.understand(store.embedder, table)
            store.fill(table, tools, progress=entry.progressed)
        except ImportError as error:
            package = "onnxruntime" if self._make is None else error.name or "what it needs"
            self._give_up(
                f"search by meaning is off: its runtime cannot be loaded ({error}). Words still "
                f"find tools; `pip install {package}` brings the rest back."
            )
        except ModelFileChanged as error:
            self._give_up(
                f"search by meaning is off: {error} Words still find tools; install tooldrawer "
                "again to get the rest back."
            )
        except Exception as error:  # noqa: BLE001 - whatever an embedder raises, words still search
            entry.failed(f"search by meaning is off for these tools: {error}", self._clock())

    def _read(self) -> "Read":
        from tooldrawer.search.readings import Readings  # noqa: PLC0415
        from tooldrawer.search.vectors import shelf  # noqa: PLC0415

        return Readings(shelf(self._cache, "words", most=_MOST_SERVERS))

    def _vectors(self) -> "VectorStore":
        from tooldrawer.search.embedder import shipped  # noqa: PLC0415
        from tooldrawer.search.vectors import VectorStore, shelf  # noqa: PLC0415

        with self._store_lock:
            if self._store is None:
                self._store = VectorStore((self._make or shipped)(), shelf(self._cache))
            return self._store

    def _give_up(self, notice: str) -> None:
        with self._lock:
            first, self._missing = not self._missing, notice
        if first:
            _log.warning(notice)


class _Entry:
    """An index, the tools it was built from, and how far its vectors are."""

    def __init__(
        self, tools: dict[str, Tool], index: "Hybrid", *, patience: float, now: float
    ) -> None:
        self.tools = tools
        self.index = index
        self._patience = patience
        self._done = Event()
        self._due = now + patience
        """When searches stop waiting for the vectors."""
        self._left: int | None = None
        """How many have to be read yet; None until that is known."""
        self._failure = ""
        self._failed_at = 0.0

    @property
    def notice(self) -> str:
        """Why meaning does not take part."""
        if self._failure:
            return self._failure
        if self._left is None:
            return "search by meaning is being loaded; words alone find tools for now"
        return (
            f"{self._count_read(self._left)} of {len(self.tools)} tools have been read for search "
            "by meaning; words alone find the others for now"
        )

    def _count_read(self, left: int) -> int:
        return max(len(self.tools) - left, 0)

    def progressed(self, left: int) -> None:
        """Some vectors more are there."""
        self._left = left

    def failed(self, reason: str, now: float) -> None:
        """There will be no vectors, until somebody tries again."""
        self._failure, self._failed_at = reason, now

    def resumes(self, now: float) -> bool:
        """Whether it is time to try again; then there is something to wait for once more."""
        if not (self._failure and self._done.is_set() and now - self._failed_at >= _PAUSE):
            return False
        self._done.clear()
        self._due = now + self._patience
        return True

    def finish(self) -> None:
        """There is nothing more to wait for."""
        self._done.set()

    def wait_until_due(self, clock: Callable[[], float]) -> None:
        """Wait until the vectors are there, or cannot be had, or enough time has passed."""
        with release_exit():
            self._done.wait(max(self._due - clock(), 0.0))

    def wait(self, progress: Progress) -> None:
        """Wait until the vectors are there, or cannot be had."""
        while not self._done.wait(_STEP):
            if self._left is not None:
                progress(self._count_read(self._left), len(self.tools))


def _built(tools: dict[str, Tool], known: list[_Entry], read: "Read") -> "BM25":
    from tooldrawer.search.bm25 import BM25  # noqa: PLC0415

    def shared(candidate: _Entry) -> int:
        return len(candidate.tools.keys() & tools.keys())

    nearest = max(known, key=shared, default=None)
    if nearest is None or shared(nearest) <= max(len(tools), len(nearest.tools)) * _WORTH_CHANGING:
        return BM25.over(tools.values(), read=read)
    had, index = nearest.tools, nearest.index.lexical
    added = [tool for key, tool in tools.items() if key not in had]
    return index.changed(added=added, removed=frozenset(had.keys() - tools.keys()), read=read)


def _spelled(catalog: Catalog, query: str) -> list[Tool]:
    """The tools whose name was asked for, in any notation: `createIssue`, `github create issue`."""
    if not query.strip() or len(query) > _LONGEST_NAME:
        return []
    return catalog.spelled(query) or catalog.run_together(query)


def _of(catalog: Catalog, hit: Hit) -> Hit:
    return replace(hit, tool=catalog.get(hit.tool.name))


def _exact_first(exact: list[Tool], ranked: list[Hit]) -> list[Hit]:
    found = {hit.tool.name: hit for hit in ranked}
    best = max((hit.score for hit in ranked), default=0.0) + 1.0
    least = min((hit.score for hit in ranked), default=0.0)
    first: list[Hit] = []
    for tool in exact:
        hit = found.get(tool.name, Hit(tool, least))
        score = best + hit.score - least
        named = round(score - sum(hit.parts.values()), 3)
        first.append(replace(hit, score=score, parts={**hit.parts, "name": named}))
    first.sort(key=lambda hit: (-hit.score, hit.tool.name))
    names = {tool.name for tool in exact}
    return first + [hit for hit in ranked if hit.tool.name not in names]


def _containing(catalog: Catalog, query: str) -> list[Hit]:
    wanted = query.strip().casefold()
    if not wanted or any(map(str.isspace, wanted)):
        return []
    found = (tool for tool in catalog if wanted in tool.name.casefold())
    return [Hit(tool, len(wanted) / len(tool.name)) for tool in sorted(found, key=_by_name)]


def _by_name(tool: Tool) -> tuple[int, str]:
    return len(tool.name), tool.name
