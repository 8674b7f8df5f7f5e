"""Text that stands in a tool though no word of the tool is equal to it: scripts without spaces."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from tooldrawer.search.document import fields
from tooldrawer.search.text import folded
from tooldrawer.tool import Tool

_HAN_AND_KANA = r"\u3005\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff"
_SOUTH_EAST = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer."""
_UNSPACED = re.compile(f"[{_HAN_AND_KANA}{_SOUTH_EAST}]")
# Python's \w leaves out the vowel signs that Indian and South-East Asian scripts write words with.
_RUN = re.compile(
    f"[{_HAN_AND_KANA}]+|[{_SOUTH_EAST}]+"
    rf"|(?:[^\W\x00-\x7f{_HAN_AND_KANA}{_SOUTH_EAST}]|[\u0900-\u0dff])+"
)
_HAN_PIECE_CHARS = 2
"""Most Chinese and Japanese words have two characters."""
_LETTER_PIECE_CHARS = 4
_MIN_WORD_CHARS = 3
_NAME_WEIGHT = 200
"""The weight of a name, the highest of a tool's fields."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A document in which a query, or a part of it, stands literally."""

    position: int
    share: float
    """Part of the query's pieces that it has; 1 when it has the query as a whole."""
    density: float
    """Part of a name, a description or a parameter that the pieces make up, by its weight."""


class SubstringIndex:
    """The texts of some documents, as far as they are not written in Latin letters alone."""

    def __init__(self, tools: Iterable[tuple[int, Tool]]) -> None:
        self._texts: dict[int, list[tuple[str, float]]] = {}
        for position, tool in tools:
            some = [field for field in fields(tool) if not field.text.isascii()]
            texts = [(_plain(field.text), field.weight / _NAME_WEIGHT) for field in some]
            self._texts[position] = texts

    def find_whole(self, query: str) -> list[Occurrence]:
        """Where a query in a script without spaces stands as a whole."""
        text = _plain(query)
        return self._find([text]) if is_unspaced(text) else []

    def find_pieces(self, query: str, words: Iterable[str]) -> list[Occurrence]:
        """Where pieces of a query stand, or some of its `words`; Latin ones do not count."""
        pieces = [*_pieces(_plain(query)), *map(_plain, words)]
        return self._find({piece for piece in pieces if not piece.isascii()})

    def _find(self, pieces: Collection[str]) -> list[Occurrence]:
        found: list[Occurrence] = []
        for position, texts in self._texts.items():
            having = [piece for piece in pieces if any(piece in text for text, _ in texts)]
            if having:
                density = max(_density(having, text) * weight for text, weight in texts)
                found.append(Occurrence(position, len(having) / len(pieces), density))
        return found


def is_unspaced(text: str) -> bool:
    """Whether a text has letters of a script that does not put spaces between words."""
    return _UNSPACED.search(text) is not None


def _density(pieces: Iterable[str], text: str) -> float:
    return min(sum(len(piece) for piece in pieces if piece in text) / max(len(text), 1), 1.0)


def _pieces(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        if not _UNSPACED.match(run):
            if len(run) >= _MIN_WORD_CHARS:
                yield run
            continue
        size = _HAN_PIECE_CHARS if re.match(f"[{_HAN_AND_KANA}]", run) else _LETTER_PIECE_CHARS
        for start in range(max(len(run) - size, 0) + 1):
            yield run[start : start + size]


def _plain(text: str) -> str:
    return " ".join(folded(text).casefold().split())
