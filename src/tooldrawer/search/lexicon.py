"""Words of other languages, and everyday English, as the words that tools use.

A file a language under `languages/`, written by hand: an English word and the words for it. Its
first line holds the function words, which say nothing about a need.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import ceil
from unicodedata import combining, normalize

from tooldrawer.search.text import folded, is_function_word, stem

LATIN = ("cs", "de", "es", "fr", "id", "it", "nl", "pl", "pt", "sv", "tr", "vi")
_CYRILLIC = ("ru", "uk")
ENGLISH = "en"

_SCRIPTS = (
    # Jamo, because folding takes syllables apart.
    (re.compile(r"[\u1100-\u11ff\uac00-\ud7a3]"), ("ko",)),
    (re.compile(r"[\u3040-\u30ff]"), ("ja",)),
    (re.compile(r"[\u4e00-\u9fff]"), ("zh",)),
    # Letters that only one of two neighbours writes.
    (re.compile(r"[\u0454\u0456\u0491]", re.IGNORECASE), ("uk",)),
    (re.compile(r"[\u044a\u044b\u044d]", re.IGNORECASE), ("ru",)),
    (re.compile(r"[\u0400-\u04ff]"), _CYRILLIC),
    (re.compile(r"[\u0600-\u06ff]"), ("ar",)),
    (re.compile(r"[\u0900-\u097f]"), ("hi",)),
)
_KANA_AND_HAN = r"\u3005\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff"
_WRITTEN_TOGETHER = re.compile(f"[{_KANA_AND_HAN}]+|[^{_KANA_AND_HAN}]+")
_TOGETHER = re.compile(f"[{_KANA_AND_HAN}]")
# Python's \w leaves out the vowel signs that Indian scripts write words with.
_WORD = re.compile(r"(?:[^\W_]|[\u0900-\u0963\u0971-\u097f])+")
_ARABIC_CLITICS = ("وال", "بال", "لل", "ال", "و", "ب", "ل", "ف", "ك")

_LONGEST_PHRASE = 4
_SHORTEST_BEGINNING = 4
_SHARED = 0.6
"""Two words are forms of one when they share this part of the longer one's letters."""
_MOST_MEANINGS = 4
_NEIGHBOURS = 6
_Meaning = tuple[int, int, str]
"""Its place in its line, the line's number, and the English word."""


@dataclass(frozen=True, slots=True)
class Gloss:
    """What was said, and the English words it may stand for, the likeliest first.

    A word that stays as it is (a name, a number, English already) means itself.
    """

    said: str
    meant: tuple[str, ...]

    @property
    def is_translated(self) -> bool:
        """Whether it means something else than what was said."""
        return self.meant != (folded(self.said),)


class Language:
    """The dictionary of one language."""

    def __init__(self, code: str, *, same: Callable[[str], str] = str) -> None:
        self.code = code
        self._same = same
        first, *lines = _lines(code)
        fillers = first.split("\t")[1].split(", ")
        self.function_words = frozenset(_joined(_words(word)) for word in fillers)
        meanings: dict[str, list[_Meaning]] = {}
        written: dict[str, list[_Meaning]] = {}
        for row, line in enumerate(lines):
            english, _, said = line.partition("\t")
            for place, word in enumerate(said.split(", ")):
                key = self._key(word)
                if code != ENGLISH or key != self._key(english):
                    meanings.setdefault(key, []).append((place, row, english))
                    written.setdefault(_written(word), []).append((place, row, english))
        for word in map(_composed, fillers):
            written.pop(word, None)
        self._meanings = {key: _likeliest(found) for key, found in meanings.items()}
        self._written = {word: _likeliest(found) for word, found in written.items()}
        """Folded, `tạo`, to create, is `tao`, a pronoun: where accents are written, they count."""
        self._sorted = sorted(key for key in self._meanings if " " not in key)
        self._longest = max(map(len, self._meanings), default=0)

    def knows(self, word: str) -> bool:
        """Whether a folded word belongs to the language for certain."""
        return word in self.function_words or word in self._meanings

    def glosses(self, text: str, *, is_english: Callable[[str], bool]) -> Iterator[Gloss]:
        """The text's words in order, function words left out."""
        for run in _WRITTEN_TOGETHER.findall(_composed(text)):
            if _TOGETHER.match(run):
                yield from self._segmented(run)
            else:
                yield from self._separated(_WORD.findall(run), is_english)

    def phrases(self, words: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Where a word or phrase of the dictionary stands in `words`: start, end, meanings."""
        keys = [self._same(word) for word in words]
        at = 0
        while at < len(keys):
            end = _longest(keys, at, self._meanings)
            if end > at:
                yield at, end, self._meanings[" ".join(keys[at:end])]
            at = max(end, at + 1)

    def _separated(
        self, written: Sequence[str], is_english: Callable[[str], bool]
    ) -> Iterator[Gloss]:
        words = [folded(word) for word in written]
        at = 0
        while at < len(words):
            word = words[at]
            end = _longest(words, at, self._meanings)
            exact = _longest(written, at, self._written)
            if exact > at and written[at:end] != words[at:end]:
                end = exact
            filler = _longest(words, at, self.function_words)
            meant = self._written.get(" ".join(written[at:end]), ())
            if filler > at and (filler > end or (filler == end and not meant)):
                at = filler
                continue
            end = max(end, at + 1)
            stays = end == at + 1 and (word.isdigit() or is_english(word))
            if not meant and not stays:
                meant = self._meanings.get(" ".join(words[at:end])) or self._guessed(word)
            yield Gloss(" ".join(written[at:end]), meant or (word,))
            at = end

    def _guessed(self, word: str) -> tuple[str, ...]:
        if len(word) > 2 * self._longest:
            return ()
        if self.code == "ar":
            for clitic in _ARABIC_CLITICS:
                rest = word.removeprefix(clitic)
                if rest != word and (meant := self._meanings.get(rest) or self._beginning(rest)):
                    return meant
        if self.code == "ko" and (meant := self._before_particle(word)):
            return meant
        return self._beginning(word) or self._compound(word)

    def _before_particle(self, word: str) -> tuple[str, ...]:
        """Korean writes particles, and the verb that makes an order, behind a noun."""
        for cut in range(len(word) - 1, 0, -1):
            if word[cut:] in self.function_words and (meant := self._meanings.get(word[:cut])):
                return meant
        return ()

    def _beginning(self, word: str) -> tuple[str, ...]:
        """The meanings of the entry that shares the most of its beginning with `word`."""
        shortest = max(_SHORTEST_BEGINNING, ceil(_SHARED * len(word)))
        for length in range(len(word), shortest - 1, -1):
            meant = self._meanings.get(word[:length])
            if meant:
                return meant
        at = bisect_left(self._sorted, word)
        best, found = 0.0, ""
        for entry in self._sorted[max(at - _NEIGHBOURS, 0) : at + _NEIGHBOURS]:
            shared = _common(word, entry)
            share = shared / max(len(word), len(entry))
            if shared >= _SHORTEST_BEGINNING and share > best:
                best, found = share, entry
        return self._meanings[found] if best >= _SHARED else ()

    def _compound(self, word: str) -> tuple[str, ...]:
        """German and Dutch write two nouns as one word: a meaning of each half."""
        for cut in range(len(word) - _SHORTEST_BEGINNING, _SHORTEST_BEGINNING - 1, -1):
            first = self._meanings.get(word[:cut]) or self._meanings.get(word[:cut].rstrip("sn"))
            rest = self._meanings.get(word[cut:]) or self._beginning(word[cut:])
            if first and rest:
                return (f"{first[0]} {rest[0]}",)
        return ()

    def _segmented(self, written: str) -> Iterator[Gloss]:
        """The longest entries found from left to right, as Chinese and Japanese need it."""
        run = folded(written)
        unknown = at = 0
        while at < len(run):
            for end in range(min(at + self._longest, len(run)), at, -1):
                if self.knows(run[at:end]):
                    break
            else:
                at += 1
                continue
            if unknown < at:
                yield Gloss(written[unknown:at], (run[unknown:at],))
            if run[at:end] not in self.function_words:
                yield Gloss(written[at:end], self._meanings[run[at:end]])
            unknown = at = end
        if unknown < at:
            yield Gloss(written[unknown:], (run[unknown:],))

    def _key(self, phrase: str) -> str:
        return _joined([self._same(word) for word in _words(phrase)])


@cache
def language(code: str) -> Language:
    """The dictionary of a language, read on first use."""
    return Language(code, same=stem if code == ENGLISH else str)


def spoken(text: str, *, is_english: Callable[[str], bool]) -> Language | None:
    """The language of a query; None for English, which is also the answer in doubt."""
    seen, words = folded(text), _words(text)
    for script, codes in _SCRIPTS:
        if script.search(seen):
            if _is_quoted(script, words):
                return None
            return max(map(language, codes), key=lambda one: _evidence(one, words))
    # A number is of no language.
    words = [word for word in words if not word.isdigit()]
    others = [word for word in words if not is_english(word)]
    if not others:
        return None
    best = max(
        map(language, LATIN), key=lambda one: (_evidence(one, words), _evidence(one, others))
    )
    return best if _evidence(best, words) > len(words) - len(others) else None


def _is_quoted(script: re.Pattern[str], words: Sequence[str]) -> bool:
    """Whether an English sentence has a name or a text in another script."""
    foreign = [word for word in words if script.search(word)]
    count = sum(len(word) if _TOGETHER.search(word) else 1 for word in foreign)
    return sum(is_function_word(stem(word)) for word in words) > count


def _likeliest(found: Sequence[_Meaning]) -> tuple[str, ...]:
    if len(found) == 1:  # true of most words
        return (found[0][2],)
    # The nearer to the front of its line, the more a word means just that.
    return tuple(dict.fromkeys(english for _, _, english in sorted(found)))[:_MOST_MEANINGS]


def _evidence(one: Language, words: Sequence[str]) -> int:
    return sum(map(one.knows, words))


def _words(text: str) -> list[str]:
    """The words of a text as dictionaries are keyed."""
    plain = folded(text).casefold()
    # Most entries of the dictionaries are one word; letters alone always match as a whole.
    return [plain] if plain.isalpha() else _WORD.findall(plain)


def _written(phrase: str) -> str:
    """A phrase as it is written: its words with their accents, one space between them."""
    composed = _composed(phrase)
    return composed if composed.isalpha() else " ".join(_WORD.findall(composed))


def _composed(text: str) -> str:
    """In lower case, with the accents that belong to letters."""
    if text.isascii():
        return text.casefold()
    plain = normalize("NFC", normalize("NFKC", text).casefold())
    return "".join(char for char in plain if not combining(char))


def _joined(words: Sequence[str]) -> str:
    if len(words) == 1:
        return words[0]
    return ("" if any(map(_TOGETHER.match, words)) else " ").join(words)


def _longest(words: Sequence[str], start: int, known: Container[str]) -> int:
    """The end of the longest known phrase that begins at `start`; `start` when there is none."""
    for end in range(min(start + _LONGEST_PHRASE, len(words)), start, -1):
        if " ".join(words[start:end]) in known:
            return end
    return start


def _common(first: str, second: str) -> int:
    shared = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        shared += 1
    return shared


def _lines(code: str) -> list[str]:
    folder = files("tooldrawer.search") / "languages"
    return (folder / f"{code}.tsv").read_text("utf-8").splitlines()
