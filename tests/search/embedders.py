"""Embedders that learned nothing: to be counted, held up, broken, or told what is alike."""

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from threading import Event

import numpy as np

from tooldrawer.search.embedder import Vectors

_WORD = re.compile(r"\w+")
_MOST_WORDS = 32
_WIDTH = 64


class Bag:
    """Adds up a vector for each word, so that texts with the same words point the same way."""

    def __init__(self, identity: str = "bag") -> None:
        self.identity = identity
        self.batch = 64
        self.read: list[str] = []
        """The texts about tools that it was given."""

    def tools(self, texts: Sequence[str]) -> Vectors:
        self.read.extend(texts)
        return self._rows(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._rows(texts)

    def _rows(self, texts: Sequence[str]) -> Vectors:
        rows = np.array([_added_up(text) for text in texts]).reshape(len(texts), _WIDTH)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Told(Bag):
    """Takes certain texts for others: `{"sunshade": "umbrella"}`."""

    def __init__(self, alike: Mapping[str, str]) -> None:
        super().__init__("told")
        self._alike = alike

    def queries(self, texts: Sequence[str]) -> Vectors:
        return super().queries([self._alike.get(text, text) for text in texts])


class Held(Bag):
    """Reads about as many tools as it is told to, then waits until it is let go."""

    def __init__(self, *, after: int = 0) -> None:
        super().__init__("held")
        self.is_waiting, self.let_go = Event(), Event()
        self._after = after

    def tools(self, texts: Sequence[str]) -> Vectors:
        if len(self.read) >= self._after:
            self.is_waiting.set()
            self.let_go.wait()
        return super().tools(texts)


class Broken(Bag):
    """Cannot read a tool."""

    def tools(self, texts: Sequence[str]) -> Vectors:
        raise RuntimeError(f"no ink for {len(texts)} texts")


def _added_up(text: str) -> Vectors:
    words = _WORD.findall(text.casefold())[:_MOST_WORDS] or [""]
    digests = b"".join(
        blake2b(word.encode("utf-8", "replace"), digest_size=_WIDTH).digest() for word in words
    )
    added = np.frombuffer(digests, dtype=np.int8).reshape(len(words), _WIDTH).sum(axis=0)
    return added.astype(np.float32) + 0.5
