"""Words that no tool has, as the words that were meant."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import ceil

from rapidfuzz import process
from rapidfuzz.distance import OSA

from tooldrawer.search.text import is_function_word, stem

_SHORTEST = 4
_LONG = 7
"""From this length on, two letters may be wrong."""
_MOST = 3
_NEIGHBOURS = 12
_SHORTEST_PIECE = 3
_LONGEST = 40
_ONE_OFF, _TWO_OFF, _PIECES, _BEGINNING = 0.9, 0.6, 0.9, 0.7
_MIN_SHARED = 0.6
"""A word is taken for a form of one that makes up at least this part of its beginning."""


class Spelling:
    """Corrects to the words of one index. Its memory is a sorted list of them."""

    def __init__(self, written: Iterable[tuple[str, str]]) -> None:
        self._written = dict(written)
        self._stems = sorted(one for one in self._written if not is_function_word(one))
        self._words = [self._written[one] for one in self._stems]

    def corrected(self, word: str) -> Sequence[tuple[str, float]]:
        """What an unknown word may be meant for, the likeliest first.

        It may be misspelt, run together or cut off.
        """
        return self.guessed(word) if word.isascii() else ()

    def guessed(self, word: str) -> Sequence[tuple[str, float]]:
        """The same for words of any script."""
        if len(word) > _LONGEST or word.isdigit():
            return ()
        near, off = self._misspelt(word)
        # `notificaton` is nearer to `notification` than to `notifi cat on`.
        pieces = self._pieces(word) if off != 1 else ""
        if pieces:
            return [(pieces, _PIECES)]
        weight = _ONE_OFF if off == 1 else _TWO_OFF
        return [(found, weight) for found in near] or self._begun(word)

    def extended(self, word: str) -> Sequence[tuple[str, float]]:
        """The longest word of a tool that `word` begins with: `reference` for `referencing`."""
        shortest = max(_SHORTEST, ceil(_MIN_SHARED * len(word)))
        for end in range(min(len(word), _LONGEST), shortest - 1, -1):
            stemmed = stem(word[:end])
            if stemmed in self._written and not is_function_word(stemmed):
                return [(self._written[stemmed], _BEGINNING)]
        return ()

    def _pieces(self, word: str) -> str:
        """`listpods` as `list pods`: the fewest known pieces that make up the whole word."""
        best: list[list[str] | None] = [[], *[None] * len(word)]
        for end in range(_SHORTEST_PIECE - 1, len(word) + 1):
            for start in range(end - 1):
                before, piece = best[start], word[start:end]
                if before is None or not self._is_piece(piece):
                    continue
                here = best[end]
                if here is None or len(before) + 1 < len(here):
                    best[end] = [*before, piece]
        found = best[len(word)]
        return " ".join(found) if found and len(found) > 1 else ""

    def _is_piece(self, piece: str) -> bool:
        stemmed = stem(piece)
        if len(piece) < _SHORTEST_PIECE:
            return is_function_word(stemmed)
        return stemmed in self._written

    def _misspelt(self, word: str) -> tuple[Sequence[str], int]:
        """The nearest words, and how many letters they are off.

        What is wrong may stand in the stem or, as in `deploymnet`, keep the stem from being found.
        """
        if len(word) < _SHORTEST:
            return (), 0
        stemmed = stem(word)
        allowed = 2 if len(word) >= _LONG else 1
        offs: dict[str, int] = {}
        for said, known in ((stemmed, self._stems), (word, self._words)):
            for _, off, at in process.extract(
                said, known, scorer=OSA.distance, score_cutoff=allowed, limit=_NEIGHBOURS
            ):
                one = self._stems[at]
                offs[one] = min(off, offs.get(one, off))
        near = [one for one, off in offs.items() if one[:1] == stemmed[:1] or off == 1]
        near.sort(key=lambda one: (offs[one], OSA.distance(word, self._written[one]), one))
        if not near:
            return (), 0
        least = offs[near[0]]
        return [self._written[one] for one in near[:_MOST] if offs[one] == least], least

    def _begun(self, word: str) -> Sequence[tuple[str, float]]:
        """`kube` as `kubernetes`."""
        if len(word) < _SHORTEST_PIECE:
            return ()
        at = bisect_left(self._stems, word)
        found: list[str] = []
        while at < len(self._stems) and self._stems[at].startswith(word):
            found.append(self._stems[at])
            at += 1
        found.sort(key=lambda one: (len(one), one))
        return [(self._written[one], _BEGINNING) for one in found[:_MOST]]
