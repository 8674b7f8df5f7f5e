"""Lexical search: BM25 over weighted fields, in segments so that a change costs what it changes."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from math import log
from typing import Self

from tooldrawer.search.index import Hit
from tooldrawer.search.text import query_words, weighted_words
from tooldrawer.tool import Tool

_SATURATION = 1.5
_LENGTH_NORM = 0.75
_UNIT = 100
"""Weights are hundredths."""
_MOST_SEGMENTS = 8
_MOST_DEAD = 4
"""An index is built anew when more than one in this many of its documents is dead."""


class Segment:
    """Postings of some tools. Never changes."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self.lengths = array("I")
        postings: dict[str, tuple[array[int], array[int]]] = {}
        for position, tool in enumerate(self.tools):
            counts = _counts(tool)
            self.lengths.append(counts.total())
            for word, weight in counts.items():
                found = postings.get(word)
                if found is None:
                    found = postings[word] = (array("I"), array("I"))
                found[0].append(position)
                found[1].append(weight)
        self.postings: Mapping[str, tuple[array[int], array[int]]] = postings


class BM25:
    """An index over the living documents of one or more segments.

    Scores follow from whole numbers only, so an index that grew gives the same ones as an index
    built at once.
    """

    def __init__(self, segments: Sequence[Segment], dead: Sequence[frozenset[int]]) -> None:
        self._segments = tuple(zip(segments, dead, strict=True))
        self._size = sum(len(segment.tools) - len(gone) for segment, gone in self._segments)
        length = sum(
            sum(segment.lengths) - sum(segment.lengths[position] for position in gone)
            for segment, gone in self._segments
        )
        self._mean_length = length / max(self._size, 1) or 1.0

    @classmethod
    def over(cls, tools: Iterable[Tool]) -> Self:
        """An index built at once."""
        return cls((Segment(tools),), (frozenset(),))

    @property
    def tools(self) -> Iterator[Tool]:
        """The living documents."""
        for segment, gone in self._segments:
            for position, tool in enumerate(segment.tools):
                if position not in gone:
                    yield tool

    def changed(self, *, added: Sequence[Tool], removed: frozenset[str]) -> "BM25":
        """The index with some tools more and some, by fingerprint, less; this one stays."""
        segments = [segment for segment, _ in self._segments]
        dead = [
            gone
            if not removed
            else gone | {at for at, tool in enumerate(segment.tools) if tool.fingerprint in removed}
            for segment, gone in self._segments
        ]
        if added:
            segments.append(Segment(added))
            dead.append(frozenset())
        total, gone_in_all = sum(len(s.tools) for s in segments), sum(map(len, dead))
        if len(segments) > _MOST_SEGMENTS or gone_in_all * _MOST_DEAD > total:
            return BM25.over(BM25(segments, dead).tools)
        return BM25(segments, dead)

    def search(self, query: str, *, limit: int) -> Sequence[Hit]:
        """Tools that share at least one word with `query`, ties broken by name."""
        scores: list[dict[int, float]] = [{} for _ in self._segments]
        for word, times in Counter(query_words(query)).items():
            self._add(word, times, scores)
        hits = (
            Hit(segment.tools[position], score)
            for (segment, gone), found in zip(self._segments, scores, strict=True)
            for position, score in found.items()
            if position not in gone
        )
        return nsmallest(limit, hits, key=lambda hit: (-hit.score, hit.tool.name))

    def _add(self, word: str, times: int, scores: Sequence[dict[int, float]]) -> None:
        found = [segment.postings.get(word) for segment, _ in self._segments]
        documents = sum(
            len(posting[0]) - (sum(at in gone for at in posting[0]) if gone else 0)
            for posting, (_, gone) in zip(found, self._segments, strict=True)
            if posting
        )
        rarity = times * log(1 + (self._size - documents + 0.5) / (documents + 0.5))
        flat = _SATURATION * (1 - _LENGTH_NORM)
        slope = _SATURATION * _LENGTH_NORM / self._mean_length
        for posting, (segment, _), into in zip(found, self._segments, scores, strict=True):
            if posting:
                for position, weight in zip(*posting, strict=True):
                    times_here = weight / _UNIT
                    norm = flat + slope * segment.lengths[position]
                    gain = rarity * times_here * (_SATURATION + 1) / (times_here + norm)
                    into[position] = into.get(position, 0.0) + gain


def _counts(tool: Tool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for weight, found in weighted_words(tool):
        for word in found:
            counts[word] += weight
    return counts
