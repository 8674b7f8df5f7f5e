"""Whether anything fits at all: an answer to every question is no answer."""

import json
from dataclasses import dataclass
from functools import cache
from math import exp

import numpy as np

from tooldrawer.search.bm25 import Floats
from tooldrawer.search.fusion import FEATURES, Candidates
from tooldrawer.search.model_files import read_model_file

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
_ALL = 0.95
_STRANGE, _FAR = 0.6, 0.35
"""Set by hand on two small catalogs; silences none of the served development queries."""
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

    @property
    def is_plain(self) -> bool:
        """Whether the best one has every word of the query: then there is nothing to doubt."""
        shown = dict(zip(EVIDENCE, self.values.tolist(), strict=True))
        return shown["covered"] >= _ALL and shown["unknown"] <= 1 - _ALL

    @property
    def is_strange(self) -> bool:
        """Whether most of the words are nobody's and nothing is near in meaning either."""
        shown = dict(zip(EVIDENCE, self.values.tolist(), strict=True))
        return self.has_meaning and shown["unknown"] >= _STRANGE and shown["nearest"] < _FAR

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


@dataclass(frozen=True, slots=True)
class Threshold:
    """Weights of the evidence, and the chance of fitting below which nothing is answered."""

    weights: Floats
    least: float

    def chance(self, evidence: Evidence) -> float:
        """How likely it is that the best candidate serves the query."""
        return 1.0 / (1.0 + exp(-max(min(float(evidence.values @ self.weights), 30.0), -30.0)))


def fits(evidence: Evidence) -> bool:
    """Whether the best candidate is likely enough to serve the query."""
    if evidence.is_plain:
        return True
    if evidence.is_strange:
        return False
    threshold = learned(has_meaning=evidence.has_meaning)
    return threshold.chance(evidence) >= threshold.least


@cache
def learned(*, has_meaning: bool) -> Threshold:
    """The threshold in the package."""
    stored = json.loads(read_model_file("silence.json"))
    one = stored["hybrid" if has_meaning else "words"]
    return Threshold(np.array([one["weights"][name] for name in EVIDENCE]), one["least"])
