"""Text cut to columns of a terminal, in which some characters take two."""

from rich.cells import cell_len, set_cell_size

_LONGEST = 2_000
"""Characters that are looked at: no line is wider, and a text may have a million."""


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
