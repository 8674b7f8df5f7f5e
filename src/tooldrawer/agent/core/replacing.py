"""One text in the place of another, or where it might have been meant."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import islice

from tooldrawer.errors import InvalidArguments

_MOST_CHARACTERS = 20_000_000
"""Of a file after the change: a thousand characters in ten thousand places are many."""
_MOST_PLACES = 5
_MOST_SHOWN = 12
_MOST_COMPARED, _LONGEST = 50, 300
"""Lines that share words, and characters of each, that are compared to find the nearest."""
_ALIKE = 0.6
_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"\s*\d+\t")


def replaced(text: str, old: str, new: str, *, every: bool) -> tuple[str, int]:
    """The text with `new` for `old`, and in how many places.

    Raises:
        InvalidArguments: `old` is not there, or not only once; the message shows where it may be.
    """
    if not old:
        raise InvalidArguments("/old is empty. Give the text to replace, or use write_file.")
    if old == new:
        raise InvalidArguments("/old and /new are the same, so there is nothing to change.")
    if old not in text and "\r\n" in text:
        # Lines are shown to a model without their ends.
        old, new = map(_as_crlf, (old, new))
    elif "\n" not in old and 0 < text.count("\n") == text.count("\r\n"):
        new = _as_crlf(new)
    count = text.count(old)
    if not count:
        raise InvalidArguments(_not_found(text, old))
    if count > 1 and not every:
        where = ", ".join(map(str, islice(_places(text, old), _MOST_PLACES)))
        dots = "…" if count > _MOST_PLACES else ""
        raise InvalidArguments(
            f"/old occurs {count:,} times, at lines {where}{dots}. Add lines around it so that it "
            "is unique, or set replace_all."
        )
    if len(text) + count * (len(new) - len(old)) > _MOST_CHARACTERS:
        raise InvalidArguments(
            f"/old occurs {count:,} times: with /new there the file would have more than "
            f"{_MOST_CHARACTERS:,} characters. Give a shorter one, or use the terminal."
        )
    return text.replace(old, new), count


def _as_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _places(text: str, old: str) -> Iterator[int]:
    """The line numbers at which `old` begins."""
    at, line, last = text.find(old), 1, 0
    while at >= 0:
        line += text.count("\n", last, at)
        yield line
        last = at
        at = text.find(old, at + len(old))


def _not_found(text: str, old: str) -> str:
    start = "/old is not in the file, so nothing was changed."
    wanted, lines = ([line.rstrip("\r") for line in part.split("\n")] for part in (old, text))
    if all(_NUMBERED.match(line) for line in wanted if line.strip()):
        return f"{start} It begins with line numbers: leave them and the tab after them out."
    first = _same_but_space(lines, wanted)
    if first is not None:
        return f"{start} It differs in white space only. Copy this exactly:\n" + _excerpt(
            lines, first, len(wanted)
        )
    first = _closest(lines, wanted)
    if first is not None:
        return f"{start} The nearest lines are, from line {first + 1}:\n" + _excerpt(
            lines, first, len(wanted)
        )
    return f"{start} Read it with read_file and copy the text exactly."


def _same_but_space(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the same words stand with other white space."""
    bare = _bare(wanted).strip("\n")
    if not bare:
        return None
    # As one text: line by line it takes the product of both lengths, which can be hours.
    present = f"\n{_bare(lines)}\n"
    at = present.find(f"\n{bare}\n")
    return None if at < 0 else present.count("\n", 0, at)


def _bare(lines: Iterable[str]) -> str:
    """The lines without their white space."""
    return "\n".join("".join(line.split()) for line in lines)


def _closest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the lines begin that are most like those wanted."""
    at, sought = max(enumerate(wanted), key=lambda item: len(item[1].strip()))
    words = _words(sought)
    shared = ((len(words & _words(line)), -number) for number, line in enumerate(lines))
    candidates = [-number for count, number in nlargest(_MOST_COMPARED, shared) if count]
    matcher = SequenceMatcher(None, "", sought.strip()[:_LONGEST], autojunk=False)

    def likeness(number: int) -> float:
        matcher.set_seq1(lines[number].strip()[:_LONGEST])
        return matcher.ratio()

    best = max(candidates, key=likeness, default=None)
    if best is None or likeness(best) < _ALIKE:
        return None
    return max(best - at, 0)


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line[:_LONGEST]))


def _excerpt(lines: Sequence[str], first: int, count: int) -> str:
    shown = lines[first : first + min(count, _MOST_SHOWN)]
    return "\n".join(line[:_LONGEST] for line in shown)
