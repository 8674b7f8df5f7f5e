"""One order out of words and meaning: what each candidate shows, weighed as learned."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooldrawer.search.bm25 import BM25, Floats, Matches
from tooldrawer.search.lexicon import ENGLISH
from tooldrawer.search.model_files import read_model_file
from tooldrawer.search.query import Query
from tooldrawer.search.verbs import deeds

Positions = NDArray[np.int64]

_CANDIDATES = 60
"""Of each side."""
_COMPARED = 100
"""Scores mean little across catalogs; how far one stands out of its first hundred means more."""
_SMALL = 1e-6
_LOWEST, _HIGHEST = -1.5, 6.0
_COSINE_SCALE = 5.0
_DIGITS = 5
"""Cosines are rounded: the last bits depend on where in a matrix a row stands."""

PARTS = {
    "words": ("words", "words_share", "words_rank", "words_unknown", "words_sure"),
    "meaning": (
        "meaning",
        "nearness",
        "meaning_rank",
        "meaning_unknown",
        "meaning_foreign",
        "meaning_unsure",
    ),
    "coverage": ("covered", "named", "name_share"),
    "server": ("served",),
    "verb": ("verb_agrees", "verb_conflicts"),
}
"""The features, by what a person calls them."""
FEATURES = tuple(name for names in PARTS.values() for name in names)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The documents worth weighing, and what each shows."""

    positions: Positions
    features: Floats
    """A row for each position, a column for each of `FEATURES`."""
    matches: Matches
    """Of every living document, in the order of positions."""
    cosines: Floats | None
    """One for each position."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learned: with meaning, and for words alone."""

    hybrid: Floats
    words: Floats

    def scores(self, found: Candidates) -> Floats:
        """How well each candidate fits."""
        return np.round(found.features @ self.of(found), _DIGITS)

    def of(self, found: Candidates) -> Floats:
        """The weights for what the candidates were found by."""
        return self.words if found.cosines is None else self.hybrid


@cache
def learned() -> Weights:
    """The weights in the package.

    Raises:
        ModelFileChanged: They are not the ones that were packaged.
    """
    stored = json.loads(read_model_file("fusion.json"))
    hybrid, words = stored["hybrid"], stored["words"]
    return Weights(
        hybrid=np.array([hybrid[name] for name in FEATURES]),
        words=np.array([words[name] for name in FEATURES]),
    )


def candidates(
    query: Query,
    index: BM25,
    names: Positions,
    cosines: NDArray[np.float32] | None,
    has_vector: NDArray[np.bool_] | None = None,
) -> Candidates:
    """The best of both sides.

    Args:
        query: What is wanted.
        index: The documents.
        names: Each document's place in the order of names.
        cosines: How near each document is in meaning; None when words alone decide.
        has_vector: Which documents that is known of already; None when of all.

    While a document that the words find has no vector yet, words alone decide: an estimate of its
    nearness would rank it below documents that happen to have been read first.
    """
    living = np.flatnonzero(index.alive)
    matches, names = _among(living, index.match(query.wanted)), names[living]
    by_words = best(matches.score, names, _CANDIDATES)
    by_words = by_words[matches.score[by_words] > 0]
    has_vector = None if has_vector is None else has_vector[living]
    if cosines is None or (has_vector is not None and not has_vector[by_words].all()):
        near = None
        by_meaning = np.zeros(0, dtype=np.int64)
    else:
        near = _nearness(cosines[living], has_vector)
        by_meaning = best(near, names, _CANDIDATES)
        by_meaning = by_meaning[np.isfinite(near[by_meaning])]
    at = np.union1d(by_words, by_meaning)
    columns = {
        **_words(matches, at, by_words),
        **_meaning(near, matches, at, by_meaning, is_foreign=query.language != ENGLISH),
        **_operation(query, index.verbs[living[at]]),
    }
    features = np.stack([columns[name] for name in FEATURES], axis=1)
    return Candidates(living[at], features, matches, None if near is None else near[at])


def nearest_read(
    cosines: NDArray[np.float32], names: Positions, is_eligible: NDArray[np.bool_], least: float
) -> Positions:
    """The eligible documents that are at least so near, the nearest first."""
    near = np.where(is_eligible, _nearness(cosines, None), -np.inf)
    ranked = best(near, names, _CANDIDATES)
    return ranked[near[ranked] >= least]


def _nearness(cosines: NDArray[np.float32], has_vector: NDArray[np.bool_] | None) -> Floats:
    """Rounded cosines; minus infinity for documents without a vector."""
    near = np.round(cosines.astype(np.float64), _DIGITS)
    return near if has_vector is None else np.where(has_vector, near, -np.inf)


def best(scores: Floats, names: Positions, most: int) -> Positions:
    """The positions of the highest scores, best first, ties by name."""
    if len(scores) > most:
        least = np.partition(scores, len(scores) - most)[len(scores) - most]
        positions = np.flatnonzero(scores >= least)
    else:
        positions = np.arange(len(scores))
    order = np.lexsort((names[positions], -scores[positions]))
    return positions[order[:most]]


def _among(living: Positions, matches: Matches) -> Matches:
    """The matches of the living: what is gone is no rival, and no measure for the others."""
    if len(living) == len(matches.score):
        return matches
    return Matches(
        score=matches.score[living],
        covered=matches.covered[living],
        named=matches.named[living],
        served=matches.served[living],
        name_share=matches.name_share[living],
        wanted=matches.wanted,
        unknown=matches.unknown,
    )


def _words(matches: Matches, at: Positions, ranked: Positions) -> dict[str, Floats]:
    wanted = max(matches.wanted, _SMALL)
    standing = _standing(matches.score, at)
    highest = float(matches.score.max(initial=0.0))
    served = float(matches.served.max(initial=0.0))
    sure = float(matches.covered[ranked[0]]) / wanted if len(ranked) else 0.0
    return {
        "words": standing,
        "words_share": matches.score[at] / max(highest, _SMALL),
        "words_rank": _reciprocal(ranked, at, len(matches.score)),
        "words_unknown": standing * matches.unknown,
        "words_sure": standing * sure,
        "covered": matches.covered[at] / wanted,
        "named": matches.named[at] / wanted,
        "name_share": matches.name_share[at],
        "served": matches.served[at] / max(served, _SMALL),
    }


def _meaning(
    near: Floats | None,
    matches: Matches,
    at: Positions,
    ranked: Positions,
    *,
    is_foreign: bool,
) -> dict[str, Floats]:
    if near is None:
        return {name: np.zeros(len(at)) for name in PARTS["meaning"]}
    standing = _standing(near, at)
    wanted = max(matches.wanted, _SMALL)
    sure = float(matches.covered.max(initial=0.0)) / wanted
    return {
        "meaning": standing,
        "nearness": (near[at] - near.max(initial=-1.0)) * _COSINE_SCALE,
        "meaning_rank": _reciprocal(ranked, at, len(near)),
        "meaning_unknown": standing * matches.unknown,
        "meaning_foreign": standing * is_foreign,
        "meaning_unsure": standing * (1.0 - min(sure, 1.0)),
    }


def _operation(query: Query, verbs: NDArray[np.integer[Any]]) -> dict[str, Floats]:
    asked = 0
    for stemmed in query.stems:
        asked |= deeds(stemmed)
    agrees = (verbs & asked) > 0
    conflicts = ~agrees & (verbs > 0) & (asked > 0)
    return {
        "verb_agrees": agrees.astype(np.float64),
        "verb_conflicts": conflicts.astype(np.float64),
    }


def _standing(scores: Floats, at: Positions) -> Floats:
    """How many deviations above the mean of the first hundred."""
    count = len(scores)
    top = scores if count <= _COMPARED else np.partition(scores, count - _COMPARED)[-_COMPARED:]
    top = top[np.isfinite(top)]
    if not len(top):
        return np.zeros(len(at))
    return np.clip((scores[at] - top.mean()) / (top.std() + _SMALL), _LOWEST, _HIGHEST)


def _reciprocal(ranked: Positions, at: Positions, count: int) -> Floats:
    ranks = np.full(count, np.inf)
    ranks[ranked] = np.arange(1, len(ranked) + 1)
    return 1.0 / ranks[at]
