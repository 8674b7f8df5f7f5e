"""What a change did, in a few lines."""

import re
from collections.abc import Sequence
from difflib import unified_diff

_CONTEXT = 2
_MOST_COMPARED = 2_000
"""Changed lines beyond which no difference is made: it would take seconds."""
_MOST_LINES, _LONGEST = 60, 300
_HUNK = re.compile(r"@@ -(\d+)(.*) \+(\d+)(.*) @@")


def difference(before: str, after: str) -> str:
    """A short unified diff, with the line numbers of the whole file."""
    old, new = before.split("\n"), after.split("\n")
    start = _same(old, new)
    end = _same(old[start:][::-1], new[start:][::-1])
    first = max(start - _CONTEXT, 0)
    last = max(end - _CONTEXT, 0)
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    if max(len(old), len(new)) > _MOST_COMPARED:
        return "[the change is too long to be shown]"
    lines = list(unified_diff(old, new, n=_CONTEXT, lineterm=""))[2:]
    shown = [_moved(line, first)[:_LONGEST] for line in lines[:_MOST_LINES]]
    more = len(lines) - len(shown)
    return "\n".join([*shown, *([f"[{more:,} more lines]"] if more else [])])


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the beginning are equal."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(line: str, by: int) -> str:
    """The line; the head of a hunk with the numbers that it has in the whole file."""
    found = _HUNK.fullmatch(line)
    if found is None:
        return line
    return f"@@ -{int(found[1]) + by}{found[2]} +{int(found[3]) + by}{found[4]} @@"
