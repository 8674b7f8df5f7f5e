"""Whether a query has a meaning at all: only one without gets an empty reply."""

from functools import cache

from tooldrawer.errors import ModelFileChanged
from tooldrawer.search.fusion import Candidates
from tooldrawer.search.lexicon import ENGLISH, language
from tooldrawer.search.model_files import read_model_file
from tooldrawer.search.query import Query

_MIN_NEARNESS = 0.35
"""The nearest tool of random letters is farther than this; set by hand on two small catalogs."""
_MIN_WORD_CHARS = 3


def is_meaningless(query: Query, found: Candidates) -> bool:
    """Whether no word of a query, as written or corrected, is a tool's or any language's.

    A word that nobody knows may still be near a tool in meaning: a product's name, say.
    """
    if found.matches.wanted > 0 or query.language != ENGLISH:
        return False
    if any(_is_word(want.said) for want in query.wanted):
        return False
    return found.cosines is None or float(found.cosines.max(initial=0.0)) < _MIN_NEARNESS


def _is_word(text: str) -> bool:
    return len(text) >= _MIN_WORD_CHARS and (text in _vocabulary() or language(ENGLISH).knows(text))


@cache
def _vocabulary() -> frozenset[str]:
    """The whole words that the encoder knows: some 20,000 of the most frequent English ones."""
    try:
        pieces = read_model_file("vocabulary.txt").decode("utf-8").split()
    except ModelFileChanged:
        return frozenset()
    return frozenset(piece for piece in pieces if piece.isalpha())
