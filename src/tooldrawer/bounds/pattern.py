"""The cost of matching a regular expression of a schema, counted from its text."""

import re
from dataclasses import dataclass

BACKTRACK_LIMIT = 300
"""Steps back in one match of a pattern that needs backtracking; then it counts as not matching."""
COMPILED_MAX_BYTES = 1_000_000
"""What the engine may build for one pattern."""
TYPICAL_CHARS = 64
"""Of a text, for judging a pattern without one."""
_UNKNOWN_STATES = 30_000
"""As many states as fit into `COMPILED_MAX_BYTES`: for syntax that is not read here."""
_MAX_STATES = 10**9
_MAX_CHARS = 8_000
_MAX_DIGITS = 6
_BUILDING_STEPS = 25
"""For each state, when a pattern is compiled."""
_ASCII_STATES = 2
_CLASS_STATES = 8
_UNICODE_STATES = 300
"""Of a Unicode class: a tree over the bytes of UTF-8, of which a match visits one branch."""

# Every repetition is one match of a class, so the time is linear in the pattern.
TOKEN = re.compile(
    r"(?P<unicode>\\[pP](?:\{[^{}]*\})?)"
    r"|(?P<reference>\\[1-9kKG])"
    r"|(?P<escape>\\.)"
    r"|(?P<set>\[(?!\^?\])\^?(?:\\.|[^\[\]\\])+\])"
    r"|(?P<odd_set>\[)"
    r"|(?P<flags>\(\?[imsU-]+\))"
    r"|(?P<look>\(\?<?[=!])"
    r"|(?P<group>\((?:\?:|\?[imsU-]+:|\?P?<\w+>|(?!\?)))"
    r"|(?P<odd_group>\()"
    r"|(?P<end>\))"
    r"|(?P<count>\{(?P<least>\d+)(?:,(?P<most>\d*))?\})"
    r"|(?P<possessive>[*+?}]\+)"
    r"|(?P<repeat>[*+?])"
    r"|(?P<literal>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class PatternCost:
    """How the work of a match grows with the text."""

    states: int
    """Of the automaton that may be visited for every character."""
    backtracks: bool
    """Whether it has look-arounds or back-references, which no automaton decides."""
    building: int = 0
    """Steps of compiling it."""

    def match(self, characters: int) -> int:
        """Steps of one match at most; one step takes about 20 ns."""
        if self.backtracks:
            return BACKTRACK_LIMIT * (self.states + characters)
        return self.states * (characters + 1)


def measure_pattern(pattern: str) -> PatternCost:
    """The cost of a pattern, at least as high as the engine's.

    Syntax on which readers of patterns differ counts as the largest automaton that is built.
    """
    if len(pattern) > _MAX_CHARS:
        return PatternCost(_MAX_STATES, backtracks=True, building=_MAX_STATES)
    visited = _read(pattern, _CLASS_STATES)
    built = _read(pattern, _UNICODE_STATES) if r"\p" in pattern.lower() else visited
    building = _BUILDING_STEPS * min(built.states, _UNKNOWN_STATES)
    return PatternCost(visited.states, backtracks=visited.backtracks, building=building)


def _read(pattern: str, unicode_states: int) -> "_Reader":
    reader = _Reader(unicode_states)
    for token in TOKEN.finditer(pattern):
        reader.take(token)
    return reader


class _Reader:
    """Adds up the states of a pattern, token by token."""

    def __init__(self, unicode_states: int) -> None:
        self.backtracks = False
        self._is_odd = False
        self._weights = {
            "ascii": _ASCII_STATES,
            "set": _CLASS_STATES,
            "escape": _CLASS_STATES,
            "unicode": unicode_states,
        }
        self._groups = [1]
        """The states of every group that is open, the pattern itself first."""
        self._last = 0
        """The states of what a count would repeat."""

    @property
    def states(self) -> int:
        """All that were taken so far."""
        states = min(sum(self._groups), _MAX_STATES)
        return max(states, _UNKNOWN_STATES) if self._is_odd else states

    def take(self, token: re.Match[str]) -> None:
        """Count one token of the pattern."""
        kind = str(token.lastgroup)
        if kind == "set":
            kind = _set_kind(token.group())
        self._is_odd |= kind.startswith("odd_")
        self.backtracks |= kind in ("look", "reference", "possessive")
        if kind == "count":
            self._repeat(_count(token))
        elif kind in ("look", "group", "odd_group"):
            self._groups.append(1)
        elif kind == "end":
            self._add(self._groups.pop() if len(self._groups) > 1 else 1)
        elif kind not in ("repeat", "possessive", "flags"):
            self._add(self._weights.get(kind, 1))

    def _add(self, states: int) -> None:
        self._last = states
        self._groups[-1] = min(self._groups[-1] + states, _MAX_STATES)

    def _repeat(self, times: int) -> None:
        more = self._last * (times - 1)
        self._last = min(self._last + more, _MAX_STATES)
        self._groups[-1] = min(self._groups[-1] + more, _MAX_STATES)


def _set_kind(text: str) -> str:
    if r"\p" in text.lower():
        return "unicode"
    is_wide = text.startswith("[^") or not text.isascii() or re.search(r"\\[WDSux]", text)
    return "set" if is_wide else "ascii"


def _count(token: re.Match[str]) -> int:
    digits = max((token["least"], token["most"] or ""), key=lambda text: (len(text), text))
    return max(int(digits), 1) if len(digits) <= _MAX_DIGITS else _MAX_STATES
