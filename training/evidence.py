"""What speaks for the best candidate of a search: from it a chance that it serves is fitted."""

from dataclasses import dataclass

import numpy as np

from tooldrawer.search.bm25 import Floats
from tooldrawer.search.fusion import FEATURES, Candidates

_SHOWN = (
    "words",
    "meaning",
    "covered",
    "named",
    "name_share",
    "served",
    "verb_agrees",
    "verb_conflicts",
)
_RIVALS = 5
EVIDENCE = (
    *_SHOWN,
    "score",
    "lead",
    "unknown",
    "nearest",
    "next_nearest",
    "constant",
)
"""What the best candidate shows, how far it leads, and how near anything is."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against the best candidate of a search."""

    values: Floats
    """One for each of `EVIDENCE`."""
    has_meaning: bool

    @classmethod
    def of(cls, found: Candidates, scores: Floats) -> "Evidence":
        """The evidence for a search's candidates."""
        near = found.cosines
        if not len(scores):
            return cls(np.zeros(len(EVIDENCE)), near is not None)
        # Ties by what they show: where a document stands in an index says nothing about it.
        order = np.lexsort((*found.features.T, -scores))
        top = found.features[order[0]]
        shown = [float(top[FEATURES.index(name)]) for name in _SHOWN]
        rivals = scores[order[1 : _RIVALS + 1]]
        lead = float(scores[order[0]] - rivals.mean()) if len(rivals) else 0.0
        nearest = next_nearest = 0.0
        if near is not None:
            highest = np.sort(near)[::-1][: _RIVALS + 1]
            nearest, next_nearest = float(highest[0]), float(highest[-1])
        more = [float(scores[order[0]]), lead, found.matches.unknown, nearest, next_nearest, 1.0]
        return cls(np.array([*shown, *more]), near is not None)
