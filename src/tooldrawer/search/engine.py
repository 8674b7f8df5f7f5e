"""Search over any catalog, with the index of each content built once."""

from collections import OrderedDict
from threading import Lock
from weakref import WeakSet

from tooldrawer.catalog import Catalog
from tooldrawer.search.bm25 import BM25
from tooldrawer.search.index import Hit, Index
from tooldrawer.tool import Tool

_WORTH_CHANGING = 0.5
"""Grow the nearest known index when it shares at least this part of its tools with the catalog."""


class SearchEngine:
    """Finds tools by what they do. Indexes are shared by all sessions whose catalogs are equal."""

    def __init__(self, *, keep: int = 16) -> None:
        self._keep = keep
        self._lock = Lock()
        self._known: OrderedDict[str, tuple[dict[str, Tool], BM25]] = OrderedDict()
        self._seen: WeakSet[Catalog] = WeakSet()

    def search(self, catalog: Catalog, query: str, limit: int = 5) -> list[Hit]:
        """The best `limit` tools for `query`, best first; empty when nothing fits.

        A tool whose exact name was asked for, in any notation, comes first. When no word is shared,
        tools whose names contain the query literally are found.
        """
        index = self.index(catalog)
        exact = catalog.spelled(query) if query.strip() else []
        ranked = list(index.search(query, limit=limit + len(exact)))
        if exact:
            ranked = _exact_first(exact, ranked)
        # The index may have been built from an equal catalog: what is given are this one's tools.
        own = [Hit(catalog.get(hit.tool.name), hit.score) for hit in ranked[:limit]]
        return own or _containing(catalog, query)[:limit]

    def is_ready(self, catalog: Catalog) -> bool:
        """Whether a search would find the index of this very catalog built."""
        return catalog in self._seen

    def index(self, catalog: Catalog) -> Index:
        """The index of `catalog`, from the known ones or from the nearest of them."""
        with self._lock:
            known = self._known.get(catalog.fingerprint)
            if known is not None:
                self._known.move_to_end(catalog.fingerprint)
                self._seen.add(catalog)
                return known[1]
            candidates = list(self._known.values())
        tools = {tool.fingerprint: tool for tool in catalog}
        built = _built(tools, candidates)
        with self._lock:
            self._known[catalog.fingerprint] = (tools, built)
            self._seen.add(catalog)
            while len(self._known) > self._keep:
                self._known.popitem(last=False)
        return built


def _built(tools: dict[str, Tool], known: list[tuple[dict[str, Tool], BM25]]) -> BM25:
    def shared(candidate: tuple[dict[str, Tool], BM25]) -> int:
        return len(candidate[0].keys() & tools.keys())

    nearest = max(known, key=shared, default=None)
    if nearest is None or shared(nearest) <= max(len(tools), len(nearest[0])) * _WORTH_CHANGING:
        return BM25.over(tools.values())
    had, index = nearest
    added = [tool for key, tool in tools.items() if key not in had]
    return index.changed(added=added, removed=frozenset(had.keys() - tools.keys()))


def _exact_first(exact: list[Tool], ranked: list[Hit]) -> list[Hit]:
    scores = {hit.tool.name: hit.score for hit in ranked}
    best = max(scores.values(), default=0.0) + 1.0
    first = [Hit(tool, best + scores.get(tool.name, 0.0)) for tool in exact]
    first.sort(key=lambda hit: (-hit.score, hit.tool.name))
    names = {tool.name for tool in exact}
    return first + [hit for hit in ranked if hit.tool.name not in names]


def _containing(catalog: Catalog, query: str) -> list[Hit]:
    wanted = query.strip().casefold()
    if not wanted:
        return []
    found = (tool for tool in catalog if wanted in tool.name.casefold())
    return [Hit(tool, len(wanted) / len(tool.name)) for tool in sorted(found, key=_by_name)]


def _by_name(tool: Tool) -> tuple[int, str]:
    return len(tool.name), tool.name
