"""A query as the words it wants."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tooldrawer.search.lexicon import ENGLISH, Gloss, language, spoken
from tooldrawer.search.text import Form, folded, forms, is_function_word, spaced, stem

LONGEST = 2_000
"""Characters of a query that are read: a page says what is wanted, 100 KB do not say it better."""
MOST_WORDS = 64
_SYNONYM = 0.4
_SECOND_MEANING = 0.6
_CONTRACTION = re.compile(r"\b\w+n['\u2019]t\b|(?<=\w)['\u2019](?:s|d|m|ll|re|ve)\b", re.IGNORECASE)
"""`don't`, and what stands behind `what` in `what's`: `s` would ask for S3."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One word of a query, and the stems it may be read as, each with its weight."""

    said: str
    readings: tuple[tuple[str, float], ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked for, in the words of the tools."""

    text: str
    """In English, spelling corrected: what the encoder reads."""
    wanted: tuple[Wanted, ...]
    language: str = ENGLISH

    @property
    def stems(self) -> frozenset[str]:
        """The surest reading of each word."""
        return frozenset(want.readings[0][0] for want in self.wanted if want.readings)


Corrected = Callable[[str], Sequence[tuple[str, float]]]
"""Gives the words that an unknown word may be meant for, each with a weight."""


def read(
    said: str,
    *,
    knows: Callable[[str], bool],
    corrected: Corrected,
    languages: bool = True,
    synonyms: bool = True,
) -> Query:
    """A query understood with the words that the tools use.

    Args:
        said: As it came.
        knows: Whether a stem is among the tools' words.
        corrected: Spelling, for words that are not.
        languages: Whether to translate.
        synonyms: Whether everyday words stand for the tools' words too.
    """
    text = " ".join(said[:LONGEST].split())
    tongue = None
    if languages:
        plain = _CONTRACTION.sub(" ", text)
        tongue = spoken(plain, is_english=lambda word: _is_english(word, knows))
    if tongue is None:
        return _english(text, knows, corrected, synonyms=synonyms)
    glosses = list(tongue.glosses(text, is_english=lambda word: knows(stem(word))))[:MOST_WORDS]
    wanted = [_translated(gloss, knows) for gloss in glosses]
    english = " ".join(gloss.meant[0] for gloss in glosses)
    return Query(english, tuple(want for want in wanted if want), tongue.code)


def read_loosely(said: str, *, knows: Callable[[str], bool], corrected: Corrected) -> Query:
    """A query of which no tool has a word, with every word as written or as corrected.

    A word is corrected though English or another language has it: `assigned` is an English word,
    and the tool's parameter is `assignee`. Contractions count too.
    """
    found = list(islice(forms(said[:LONGEST]), MOST_WORDS))
    wanted: list[Wanted] = []
    for form in _without_fillers(found) or found:
        guesses = () if knows(form.stem) else corrected(form.written)
        readings = [(stem(part), weight) for word, weight in guesses for part in word.split()]
        wanted.append(Wanted(form.written, tuple(readings) or ((form.stem, 1.0),)))
    return Query(said, tuple(wanted))


def _is_english(word: str, knows: Callable[[str], bool]) -> bool:
    stemmed = stem(word)
    return (
        word.isdigit()
        or is_function_word(stemmed)
        or knows(stemmed)
        or language(ENGLISH).knows(word)
        or language(ENGLISH).knows(stemmed)
    )


def _english(
    text: str, knows: Callable[[str], bool], corrected: Corrected, *, synonyms: bool
) -> Query:
    found = list(_telling(text, knows))
    spelled: dict[str, str] = {}
    wanted: list[Wanted] = []
    for form in found:
        readings: tuple[tuple[str, float], ...] = ((form.stem, 1.0),)
        guesses = () if _is_english(form.written, knows) else corrected(form.written)
        if guesses:
            spelled[form.written] = guesses[0][0]
            readings = tuple(
                (stem(part), weight) for word, weight in guesses for part in word.split()
            )
        wanted.append(Wanted(form.written, readings))
    have = {stemmed for want in wanted for stemmed, _ in want.readings}
    if synonyms:
        parts = [form.written for form in forms(text) if not form.is_whole]
        wanted += _synonyms(parts[: MOST_WORDS * 2], have)
    english = " ".join(spelled.get(folded(word).casefold(), word) for word in spaced(text).split())
    return Query(english if spelled else text, tuple(wanted))


def _telling(text: str, knows: Callable[[str], bool]) -> Iterator[Form]:
    """The words that say what is wanted; all of them when none does."""
    found = list(forms(_CONTRACTION.sub(" ", text)))
    # Of a run of several parts the parts count, unless a tool knows the whole: `YouTube`.
    found = [form for form in found if not form.is_whole or knows(form.stem)][: MOST_WORDS * 2]
    yield from (_without_fillers(found) or found)[:MOST_WORDS]


def _without_fillers(found: Sequence[Form]) -> Sequence[Form]:
    filler = language(ENGLISH).function_words
    return [
        form for form in found if not is_function_word(form.stem) and form.written not in filler
    ]


def _synonyms(said: Sequence[str], have: set[str]) -> Iterator[Wanted]:
    for start, end, meant in language(ENGLISH).phrases(said):
        for phrase in meant:
            stems = [stem(word) for word in phrase.split()]
            for stemmed in stems:
                if stemmed not in have and not is_function_word(stemmed):
                    yield Wanted(
                        " ".join(said[start:end]), ((stemmed, 1.0),), _SYNONYM / len(stems)
                    )


def _translated(gloss: Gloss, knows: Callable[[str], bool]) -> Wanted | None:
    own = stem(folded(gloss.said))
    if not gloss.is_translated:
        return None if is_function_word(own) else Wanted(gloss.said, ((own, 1.0),))
    readings = [
        (stem(word), 1.0 if rank == 0 else _SECOND_MEANING)
        for rank, phrase in enumerate(gloss.meant)
        for word in re.findall(r"\w+", phrase)
        if not is_function_word(stem(word))
    ]
    # A tool may be described in the language that it is asked for in.
    if not own.isascii() and knows(own):
        readings.append((own, 1.0))
    return Wanted(gloss.said, tuple(readings)) if readings else None
