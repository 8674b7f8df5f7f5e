"""How good an answer is: what of the needs it meets, and how early."""

from collections.abc import Sequence
from math import ceil, log2

Need = frozenset[str]
"""The names of the tools of which each one alone is enough."""

RESAMPLES = 1_000
_SEED = 7
_MIDDLE = (0.025, 0.975)


def hit(needs: Sequence[Need], ranked: Sequence[str]) -> float:
    """1 when the first answer serves one of the needs, else 0."""
    return float(any(set(ranked[:1]) & need for need in needs))


def recall(needs: Sequence[Need], ranked: Sequence[str], first: int) -> float:
    """The part of the needs, of which there is at least one, that the `first` answers meet."""
    given = set(ranked[:first])
    return sum(bool(given & need) for need in needs) / len(needs)


def ndcg(needs: Sequence[Need], ranked: Sequence[str], first: int) -> float:
    """How early the needs are met, against an answer that meets one more at each place.

    Each need counts once, at the first of its tools. At most 1, even where one tool serves several
    needs at once.
    """
    met = [_place(need, ranked[:first]) for need in needs]
    gained = sum(_worth(place) for place in met if place is not None)
    best = sum(map(_worth, range(min(len(needs), first))))
    return min(gained / best, 1.0)


def interval(strata: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Where the mean of the strata's means lies, for 95 of 100 samples like these.

    Bootstrapped within each stratum, of which none is empty, always with the same seed.
    """
    # Here, because numpy alone would take half the time that a command needs to start.
    import numpy as np  # noqa: PLC0415

    generator = np.random.default_rng(_SEED)
    means = np.zeros(RESAMPLES)
    for stratum in strata:
        values, size = np.array(stratum, dtype=np.float64), len(stratum)
        means += [values[generator.integers(size, size=size)].mean() for _ in range(RESAMPLES)]
    low, high = np.quantile(means / len(strata), _MIDDLE)
    return float(low), float(high)


def percentile(values: Sequence[float], share: float) -> float:
    """The least of the values, of which there is one, that `share` of them do not pass."""
    return sorted(values)[max(ceil(share * len(values)), 1) - 1]


def _place(need: Need, ranked: Sequence[str]) -> int | None:
    return next((place for place, name in enumerate(ranked) if name in need), None)


def _worth(place: int) -> float:
    return 1 / log2(place + 2)
