"""Text cut to columns of a terminal, in which some characters take two."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

_LONGEST = 2_000
"""Characters that are looked at: no line is wider, and a text may have a million."""

_MIN_TEXT_COLUMNS = 8
"""What folded text needs to be readable."""
_GAP_COLUMNS = 3
"""Between two columns of a table."""


def columns(text: str) -> int:
    """How many columns `text` takes."""
    return cell_len(text)


def cut(text: str, room: int, *, mark: str = "…") -> str:
    """`text` in at most `room` columns; `mark` stands for what is missing."""
    shown = text[:_LONGEST]
    if len(shown) == len(text) and columns(text) <= room:
        return text
    left = room - columns(mark)
    return set_cell_size(shown, left).rstrip() + mark if left >= 0 else ""


def wrapped(text: str, room: int) -> str:
    """Sentences in lines of at most `room` columns, broken between words.

    A line that begins with a space stays whole: it is a command to copy, or an item of a list.
    """
    return "\n".join(_folded(line, room) for line in text.split("\n"))


def _folded(line: str, room: int) -> str:
    if line.startswith(" ") or columns(line) <= room:
        return line
    lines = [""]
    for word in line.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and columns(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def fit_columns(widths: Sequence[int], *, texts: int, room: int) -> dict[int, int]:
    """Return which columns of a table are shown, by position, and how wide each is.

    The first `texts` columns are text, which is folded to the same width where it is too wide. The
    others are figures, which are whole or left out, all but the last of them.
    """
    numbers = list(range(texts, len(widths)))
    needed = sum(min(width, _MIN_TEXT_COLUMNS) for width in widths[:texts])
    while len(numbers) > 1 and needed > _left(widths, texts, numbers, room):
        del numbers[0]
    limit = _fold_limit(widths[:texts], _left(widths, texts, numbers, room))
    folded = {position: min(widths[position], limit) for position in range(texts)}
    return folded | {position: widths[position] for position in numbers}


def _left(widths: Sequence[int], texts: int, numbers: Sequence[int], room: int) -> int:
    """Return the columns that these figures and the gaps leave for text."""
    gaps = _GAP_COLUMNS * (texts + len(numbers) - 1)
    return room - gaps - sum(widths[position] for position in numbers)


def _fold_limit(widths: Sequence[int], room: int) -> int:
    """Return the widest that a text may be so that all of them fit."""
    left = room
    for rank, width in enumerate(sorted(widths)):
        share = left // (len(widths) - rank)
        if width > share:
            return max(share, 1)
        left -= width
    return max(widths, default=1)
