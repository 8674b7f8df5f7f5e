"""A built, read-only index over one catalog: words always, meaning when its vectors are there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from tooldrawer.errors import ModelFileChanged
from tooldrawer.search.bm25 import BM25, Floats
from tooldrawer.search.daemon_threads import check_exit
from tooldrawer.search.embedder import Embedder, Vectors
from tooldrawer.search.fusion import (
    FEATURES,
    PARTS,
    Candidates,
    Positions,
    Weights,
    best,
    candidates,
    learned,
    nearest_read,
)
from tooldrawer.search.index import Hit
from tooldrawer.search.lexicon import ENGLISH, LATIN, language
from tooldrawer.search.needs import needs
from tooldrawer.search.query import LONGEST, Query, read, read_loosely
from tooldrawer.search.recipe import EVERYTHING, Recipe
from tooldrawer.search.silence import is_meaningless
from tooldrawer.search.spelling import Spelling
from tooldrawer.search.substring import Occurrence, SubstringIndex, is_unspaced
from tooldrawer.search.text import forms
from tooldrawer.search.vector_table import Flags, VectorTable

_CONTEXT = 0.7
"""A part of a query is read together with this much of the whole: it may name the service."""
_UNRELATED = 0.3
"""Set by hand. No padding in lists, at one right tool in 506 development queries."""
_COVERED = FEATURES.index("covered")
_LEVEL = Weights(
    hybrid=np.array([1.0 if name in {"words", "meaning"} else 0.0 for name in FEATURES]),
    words=np.array([1.0 if name == "words" else 0.0 for name in FEATURES]),
)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The candidates of one query with their scores."""

    query: Query
    found: Candidates
    scores: Floats
    also_near: Sequence[int] = ()
    """Documents that words do not find, nearest first, while other vectors are missing."""


_dictionaries = Lock()
"""Dictionaries are loaded when a query needs them: by one thread, while others wait for it."""


def load_dictionaries() -> None:
    """Load what queries in Latin letters need, so that no later query waits for it."""
    for code in (ENGLISH, *LATIN):
        check_exit()
        with _dictionaries:
            language(code)


class Hybrid:
    """Finds tools by words and by meaning."""

    def __init__(self, lexical: BM25, *, recipe: Recipe = EVERYTHING) -> None:
        self.lexical = lexical
        self._recipe = recipe
        self._weights = _weights(recipe)
        self._spelling = Spelling((stem, lexical.written(stem)) for stem in lexical.stems())
        names = [tool.name for tool in lexical.tools]
        self._names: Positions = np.empty(len(names), dtype=np.int64)
        self._names[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        self._vectors: VectorTable | None = None
        self._embedder: Embedder | None = None
        self._substrings: SubstringIndex | None = None
        self.failure = ""
        """Why words alone decided the last search, though the documents have vectors."""

    @property
    def has_meaning(self) -> bool:
        """Whether the vectors of all documents take part."""
        return self._vectors is not None and self._vectors.is_complete

    def knows(self, text: str) -> bool:
        """Whether a document has any word of a text, as it is written there."""
        return any(self.lexical.has(form.stem) for form in forms(text[:LONGEST]))

    def understand(self, embedder: Embedder, vectors: VectorTable) -> None:
        """Use the vectors of the documents, by position, as far as the table has them."""
        self._embedder = embedder
        self._vectors = vectors

    def search(self, said: str, *, limit: int) -> Sequence[Hit]:
        """The best `limit` tools; empty when nothing fits. Ties go by name."""
        text = " ".join(said[:LONGEST].split())
        if not any(map(str.isalnum, text)):
            return []
        parts = needs(text) if self._recipe.needs else []
        whole, *ranked = self._ranked([self._read(one) for one in (text, *parts)])
        query, has_words = whole.query, whole.found.matches.wanted > 0
        if self._is_silent(whole, ranked):
            (whole,) = self._ranked([self._read_loosely(text, query)])
            ranked = []
        hits = [] if self._is_silent(whole, ranked) else self._found(whole, ranked, limit)
        occurrences = self._occurrences(text, query, has_words=has_words)
        return self._with_literal(occurrences, hits, limit) if occurrences else hits

    def _is_silent(self, whole: _Ranked, parts: Sequence[_Ranked]) -> bool:
        """Whether a query finds nothing."""
        if self._recipe.silence and is_meaningless(whole.query, whole.found):
            return True
        return not any(one.found.positions.size for one in (whole, *parts))

    def _found(self, whole: _Ranked, parts: Sequence[_Ranked], limit: int) -> list[Hit]:
        if any(part.found.positions.size for part in parts):
            hits = self._merged(whole, parts, limit)
        else:
            order = self._order(whole.found, whole.scores)
            hits = [self._hit(whole, at) for at in order[:limit]]
        least = min((hit.score for hit in hits), default=0.0)
        # A list that words do not fill has room for what meaning finds among the tools read so far.
        given = {hit.tool.name for hit in hits}
        near = [self.lexical.tools[at] for at in whole.also_near]
        more = [tool for tool in near if tool.name not in given][: limit - len(hits)]
        return hits + [Hit(tool, least - 1 - rank) for rank, tool in enumerate(more)]

    def _occurrences(self, text: str, query: Query, *, has_words: bool) -> Sequence[Occurrence]:
        """The tools that have the text itself or, when no word finds a tool, pieces of it."""
        if text.isascii() or (has_words and not is_unspaced(text)):
            return ()
        if self._substrings is None:
            words = self.lexical
            some = words.having(one for one in words.stems() if not one.isascii())
            self._substrings = SubstringIndex((int(at), words.tools[int(at)]) for at in some)
        found = self._substrings.find_whole(text)
        if not found and not has_words:
            found = self._substrings.find_pieces(text, [want.said for want in query.wanted])
        return sorted(found, key=lambda one: (-one.share, -one.density, self._names[one.position]))

    def _with_literal(
        self, occurrences: Sequence[Occurrence], hits: Sequence[Hit], limit: int
    ) -> list[Hit]:
        """Put the tools that have the query's own text before the other hits."""
        top = max((hit.score for hit in hits), default=0.0)
        by_name = {hit.tool.name: hit for hit in hits}
        first: list[Hit] = []
        for one in occurrences[:limit]:
            tool = self.lexical.tools[one.position]
            score = top + one.share + one.density
            hit = by_name.pop(tool.name, Hit(tool, 0.0))
            literal = round(score - sum(hit.parts.values()), 3)
            first.append(replace(hit, score=score, parts={**hit.parts, "literal": literal}))
        return [*first, *by_name.values()][:limit]

    def _ranked(self, queries: Sequence[Query]) -> list[_Ranked]:
        table = self._vectors
        # Before the rows are read: a row that is filled later is then one without a vector.
        has_vector = None if table is None else table.filled()
        is_any = table is not None and (has_vector is None or bool(has_vector.any()))
        rows = table.rows if table is not None and is_any else None
        cosines = self._cosines(rows, [query.text for query in queries])
        ranked = self._weighed(queries, cosines, has_vector)
        if cosines is None or has_vector is None or all(_has_cosines(one) for one in ranked):
            return ranked
        # Scores with and without meaning cannot be compared: all parts of a query use the same.
        whole, *parts = self._weighed(queries, None, None)
        is_eligible = has_vector & self.lexical.alive
        is_eligible[whole.found.positions] = False
        near = nearest_read(np.asarray(cosines[0]), self._names, is_eligible, _UNRELATED)
        return [replace(whole, also_near=near.tolist()), *parts]

    def _weighed(
        self,
        queries: Sequence[Query],
        cosines: Sequence[Vectors] | None,
        has_vector: Flags | None,
    ) -> list[_Ranked]:
        ranked: list[_Ranked] = []
        for at, query in enumerate(queries):
            near = None if cosines is None else cosines[at]
            some = candidates(query, self.lexical, self._names, near, has_vector)
            ranked.append(_Ranked(query, some, self._weights.scores(some)))
        return ranked

    def _cosines(self, vectors: Vectors | None, texts: Sequence[str]) -> Sequence[Vectors] | None:
        """How near each document is to each text; nothing when words alone decide."""
        embedder = self._embedder
        if vectors is None or embedder is None or not len(vectors):
            return None
        failure = ""
        try:
            near = _near(vectors, embedder.queries(texts))
        except Exception as error:  # noqa: BLE001 - whatever an embedder raises, words still search
            near, failure = None, f"search by meaning was off, words alone decided: {error}"
        self.failure = failure
        return near

    def _read(self, text: str) -> Query:
        corrected = self._spelling.corrected if self._recipe.spelling else _as_it_is
        with _dictionaries:
            return read(
                text,
                knows=self.lexical.has,
                corrected=corrected,
                languages=self._recipe.languages,
                synonyms=self._recipe.synonyms,
            )

    def _read_loosely(self, text: str, query: Query) -> Query:
        with _dictionaries:
            loose = read_loosely(text, knows=self.lexical.has, corrected=self._guessed)
        return replace(loose, text=query.text, language=query.language)

    def _guessed(self, word: str) -> Sequence[tuple[str, float]]:
        if not self._recipe.spelling:
            return ()
        return self._spelling.guessed(word) or self._spelling.extended(word)

    def _merged(self, whole: _Ranked, parts: Sequence[_Ranked], limit: int) -> list[Hit]:
        """In turn the best of each part that is not given yet."""
        context = dict(zip(whole.found.positions.tolist(), whole.scores.tolist(), strict=True))
        least = min(context.values(), default=0.0)
        orders: list[tuple[_Ranked, list[int]]] = []
        for part in parts:
            also = np.array([context.get(at, least) for at in part.found.positions.tolist()])
            scores = part.scores + _CONTEXT * also
            orders.append((replace(part, scores=scores), self._order(part.found, scores)))
        hits: list[Hit] = []
        given: set[int] = set()
        for rank in range(max((len(order) for _, order in orders), default=0)):
            for part, order in orders:
                if rank < len(order) and order[rank] not in given and len(hits) < limit:
                    given.add(order[rank])
                    hits.append(self._hit(part, order[rank]))
        # A list of hits has the best first: in turns, that is the order itself.
        top = max((hit.score for hit in hits), default=0.0)
        return [replace(hit, score=top - place) for place, hit in enumerate(hits)]

    def _order(self, found: Candidates, scores: Floats) -> list[int]:
        """The candidates, best first, without those that only fill the list."""
        positions = found.positions
        ranked = best(scores, self._names[positions], len(positions))
        if self._recipe.silence and found.cosines is not None:
            shares_words = found.features[:, _COVERED] > 0
            is_related = shares_words | (found.cosines >= _UNRELATED)
            # When none is, the nearest ones are better than nothing: the model can judge them.
            if is_related.any():
                ranked = ranked[is_related[ranked]]
        return positions[ranked].tolist()

    def _hit(self, ranked: _Ranked, at: int) -> Hit:
        row = int(np.flatnonzero(ranked.found.positions == at)[0])
        shown = ranked.found.features[row] * self._weights.of(ranked.found)
        worth = dict(zip(FEATURES, shown.tolist(), strict=True))
        parts = {
            part: round(sum(worth[name] for name in names), 3) for part, names in PARTS.items()
        }
        matched = [want.said for want in ranked.query.wanted if self.lexical.has_any(want, at)]
        return Hit(
            self.lexical.tools[at],
            float(ranked.scores[row]),
            parts,
            tuple(dict.fromkeys(matched)),
        )


def _weights(recipe: Recipe) -> Weights:
    try:
        return learned() if recipe.weighing else _LEVEL
    except ModelFileChanged:  # the encoder refuses to load then, and its notice says why
        return _LEVEL


def _has_cosines(ranked: _Ranked) -> bool:
    return ranked.found.cosines is not None


def _near(vectors: Vectors, asked: Vectors) -> list[Vectors]:
    if asked.shape[1] != vectors.shape[1]:
        raise ValueError(
            f"the vector of a query has {asked.shape[1]} numbers, those of known tools have "
            f"{vectors.shape[1]}. Another model seems to have the name of the one before; give it "
            "its own."
        )
    # Row by row: in a product with the whole matrix, a row's last bits depend on where it stands.
    return [np.vecdot(vectors, one) for one in asked]


def _as_it_is(_: str) -> Sequence[tuple[str, float]]:
    return ()
