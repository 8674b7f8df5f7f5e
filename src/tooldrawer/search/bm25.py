"""Lexical search: BM25 over weighted fields, in segments so that a change costs what it changes."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tooldrawer.search.document import NAME, SERVER
from tooldrawer.search.query import Wanted
from tooldrawer.search.segment import Segment
from tooldrawer.tool import Tool

Floats = NDArray[np.float64]
Postings = list[tuple[NDArray[np.int64], Floats, NDArray[np.integer[Any]]]]
"""By segment: documents, how often they have the word, and where."""

_SATURATION = 0.9
_LENGTH_NORM = 0.75
_UNIT = 100
"""Weights are hundredths."""
_MOST_SEGMENTS = 8
_MOST_DEAD = 4
"""An index is built anew when more than one in this many of its documents is dead."""


@dataclass(frozen=True, slots=True)
class Matches:
    """How well each document fits the words of a query, by position."""

    score: Floats
    covered: Floats
    """Rarity of the query's words that it has, anywhere."""
    named: Floats
    """The same, for its name."""
    served: Floats
    """The same, for its server's name."""
    name_share: Floats
    """Part of its name's words that the query has."""
    wanted: float
    """Rarity of all words of the query that any document has."""
    unknown: float
    """Part of the query's words that no document has."""


Read = Callable[[Iterable[Tool]], Segment]
"""Gives the words of tools: read now, or known from before."""


class BM25:
    """An index over the living documents of one or more segments.

    Scores follow from whole numbers only, so an index that grew gives the same ones as an index
    built at once.
    """

    def __init__(self, segments: Sequence[Segment], dead: Sequence[frozenset[int]]) -> None:
        self._segments = tuple(segments)
        self._dead = tuple(dead)
        self.tools = tuple(tool for segment in segments for tool in segment.tools)
        """By position, the dead ones too."""
        self.alive = np.ones(len(self.tools), dtype=np.bool_)
        starts = np.cumsum([0, *(len(segment.tools) for segment in segments)])
        self._starts = [int(start) for start in starts[:-1]]
        for start, gone in zip(self._starts, dead, strict=True):
            self.alive[[start + position for position in gone]] = False
        self.size = int(self.alive.sum())
        self._stems = tuple(map(_living_stems, segments, dead))
        lengths = np.concatenate([np.zeros(0, np.int64), *(s.lengths for s in segments)])
        mean = int(lengths[self.alive].sum()) / max(self.size, 1) or 1.0
        self._norms = _SATURATION * (1 - _LENGTH_NORM + _LENGTH_NORM * lengths / mean)
        self._name_sizes = np.concatenate([np.zeros(0), *(s.name_sizes for s in segments)])
        self.verbs = np.concatenate([np.zeros(0, np.int64), *(s.verbs for s in segments)])

    @classmethod
    def over(cls, tools: Iterable[Tool], *, read: Read = Segment.over) -> Self:
        """An index built at once."""
        return cls((read(tools),), (frozenset(),))

    def living(self) -> Iterator[Tool]:
        """The documents that can be found."""
        return (tool for tool, alive in zip(self.tools, self.alive, strict=True) if alive)

    def changed(
        self, *, added: Sequence[Tool], removed: frozenset[str], read: Read = Segment.over
    ) -> "BM25":
        """The index with some tools more and some, by fingerprint, less; this one stays."""
        segments = list(self._segments)
        dead = [
            gone
            if not removed
            else gone | {at for at, tool in enumerate(segment.tools) if tool.fingerprint in removed}
            for segment, gone in zip(self._segments, self._dead, strict=True)
        ]
        if added:
            segments.append(read(added))
            dead.append(frozenset())
        total, gone_in_all = sum(len(s.tools) for s in segments), sum(map(len, dead))
        if len(segments) > _MOST_SEGMENTS or gone_in_all * _MOST_DEAD > total:
            return BM25.over(BM25(segments, dead).living(), read=read)
        return BM25(segments, dead)

    def has(self, stemmed: str) -> bool:
        """Whether any living document has the word."""
        return any(stemmed in stems for stems in self._stems)

    def stems(self) -> Iterator[str]:
        """Every word of every living document; one may come more than once."""
        for stems in self._stems:
            yield from stems

    def having(self, stems: Iterable[str]) -> NDArray[np.int64]:
        """The positions of the living documents that have any of some words."""
        has = np.zeros(len(self.tools), dtype=np.bool_)
        for stemmed in stems:
            for docs, *_ in self._postings(stemmed)[0]:
                has[docs] = True
        return np.flatnonzero(has & self.alive)

    def written(self, stemmed: str) -> str:
        """A way to write the word of a stem; the stem itself when no document has it."""
        found = zip(self._segments, self._stems, strict=True)
        return min(
            (segment.written[stemmed] for segment, stems in found if stemmed in stems),
            default=stemmed,
        )

    def has_any(self, want: Wanted, position: int) -> bool:
        """Whether a document has a word in any of its readings."""
        which = bisect_right(self._starts, position) - 1
        segment, place = self._segments[which], position - self._starts[which]
        for stemmed, _ in want.readings:
            at = segment.posting(stemmed)
            if at is not None:
                docs = segment.docs[at]  # in rising order
                found = int(np.searchsorted(docs, place))
                if found < len(docs) and docs[found] == place:
                    return True
        return False

    def match(self, wanted: Sequence[Wanted]) -> Matches:
        """How well each document fits the words wanted."""
        count = len(self.tools)
        score, covered, named, served, shared = (np.zeros(count) for _ in range(5))
        total = unknown = 0.0
        for want in wanted:
            rarity = self._add(want, (score, covered, named, served, shared))
            total += rarity
            unknown += want.weight if rarity == 0 else 0.0
        gone = np.flatnonzero(~self.alive)
        for array in (score, covered, named, served, shared):
            array[gone] = 0.0
        all_weight = sum(want.weight for want in wanted) or 1.0
        name_share = np.minimum(shared / self._name_sizes, 1.0)
        return Matches(score, covered, named, served, name_share, total, unknown / all_weight)

    def _add(self, want: Wanted, into: Sequence[Floats]) -> float:
        """Add one word's part; of several readings, a document counts the best. Its rarity."""
        found = [
            (want.weight * weight, postings, rarity)
            for stemmed, weight in want.readings
            for postings, rarity in (self._postings(stemmed),)
            if rarity
        ]
        if len(found) == 1:
            self._put(found[0], into, np.add)
        elif found:
            best = [np.zeros(len(self.tools)) for _ in into]
            for reading in found:
                self._put(reading, best, np.maximum)
            for array, part in zip(into, best, strict=True):
                array += part
        return max((gain * rarity for gain, _, rarity in found), default=0.0)

    def _put(
        self, reading: tuple[float, Postings, float], into: Sequence[Floats], how: np.ufunc
    ) -> None:
        """Put a reading's part of each of the five figures to what its documents have."""
        gain, postings, rarity = reading
        worth = gain * rarity
        for docs, times, places in postings:
            named, served = (places & NAME) > 0, (places & SERVER) > 0
            score = worth * times * (_SATURATION + 1) / (times + self._norms[docs])
            parts = (score, worth, worth * named, worth * served, gain * named)
            for array, part in zip(into, parts, strict=True):
                array[docs] = how(array[docs], part)

    def _postings(self, stemmed: str) -> tuple[Postings, float]:
        """Where a word stands, and how rare it is; nowhere when only the dead have it."""
        found: Postings = []
        documents = 0
        for start, segment in zip(self._starts, self._segments, strict=True):
            at = segment.posting(stemmed)
            if at is not None:
                docs = segment.docs[at].astype(np.int64) + start
                documents += int(self.alive[docs].sum())
                places = segment.places[at].astype(np.uint8)
                found.append((docs, segment.weights[at] / _UNIT, places))
        if not documents:
            return [], 0.0
        return found, log(1 + (self.size - documents + 0.5) / (documents + 0.5))


def _living_stems(segment: Segment, dead: frozenset[int]) -> Collection[str]:
    if not dead:
        return segment.rows.keys()
    alive = np.ones(len(segment.tools), dtype=np.bool_)
    alive[list(dead)] = False
    lives = np.logical_or.reduceat(alive[segment.docs], segment.starts[:-1])
    return {stemmed for stemmed, row in segment.rows.items() if lives[row]}
