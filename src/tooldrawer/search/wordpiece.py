"""Text as the pieces that the encoder knows."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from unicodedata import combining, normalize

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+|[^\w\s]|_")
_LONGEST_WORD = 64
_REMEMBERED = 32_768


class WordPiece:
    """Splits words greedily into the longest pieces of a vocabulary, as BERT's models do."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        self._start, self._end = self._ids["[CLS]"], self._ids["[SEP]"]
        self._unknown = self._ids["[UNK]"]
        self._pieces = lru_cache(maxsize=_REMEMBERED)(self._split)

    def ids(self, text: str, *, most: int) -> Sequence[int]:
        """The numbers of a text's pieces between the marks of start and end, `most` in all."""
        found = [self._start]
        # No longer word is read, so what follows could hardly be read anyway.
        for token in _TOKEN.findall(_plain(text[: most * _LONGEST_WORD])):
            found.extend(self._pieces(token))
            if len(found) >= most:
                break
        return [*found[: most - 1], self._end]

    def _split(self, token: str) -> tuple[int, ...]:
        if len(token) > _LONGEST_WORD:
            return (self._unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(token):
            for end in range(len(token), start, -1):
                number = self._ids.get(("##" if start else "") + token[start:end])
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(pieces)


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(char for char in normalize("NFD", text.lower()) if not combining(char))
