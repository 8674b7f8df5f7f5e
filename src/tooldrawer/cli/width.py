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
