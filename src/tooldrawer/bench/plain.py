"""Plain BM25, as tool searches commonly have it: what ours is measured against.

It shares no code with the search of the package, so that it stays as it is when that one changes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nsmallest
from math import log
from typing import cast

from tooldrawer.tool import JsonObject, Tool

_K1 = 1.5
_B = 0.75
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")


class PlainBM25:
    """One bag of words for each tool: its name, its description and its parameters' names.

    No stems, no silence: whatever shares a word with the query is an answer.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        bags = [(tool.name, Counter(words(_text(tool)))) for tool in tools]
        held = Counter(word for _, bag in bags for word in bag)
        mean = sum(bag.total() for _, bag in bags) / max(len(bags), 1) or 1.0
        self._gains: dict[str, list[tuple[str, float]]] = {}
        for name, bag in bags:
            norm = _K1 * (1 - _B + _B * bag.total() / mean)
            for word, times in bag.items():
                rarity = log(1 + (len(bags) - held[word] + 0.5) / (held[word] + 0.5))
                gain = rarity * times * (_K1 + 1) / (times + norm)
                self._gains.setdefault(word, []).append((name, gain))

    def search(self, query: str, limit: int) -> list[str]:
        """The names of the best `limit` tools, best first; ties go by name.

        A word that the query has twice counts once.
        """
        scores: dict[str, float] = {}
        for word in dict.fromkeys(words(query)):
            for name, gain in self._gains.get(word, ()):
                scores[name] = scores.get(name, 0.0) + gain
        return nsmallest(limit, scores, key=lambda name: (-scores[name], name))


def words(text: str) -> list[str]:
    """In lower case, split at whatever is no letter or digit, at `_` and in camelCase."""
    return _WORD.findall(_HUMP.sub(" ", text).lower())


def _text(tool: Tool) -> str:
    properties = tool.parameters.get("properties")
    parameters = list(cast("JsonObject", properties)) if isinstance(properties, Mapping) else []
    # Before it was shortened or made unique: a hash is not a word.
    return " ".join((tool.long_name or tool.name, tool.description, *parameters))
