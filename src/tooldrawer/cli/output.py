"""What the commands show: readable tables, or JSON for programs."""

import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TextIO
from unicodedata import category

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tooldrawer.cli.width import wrapped

_WIDE = 160
"""Columns when nobody's terminal says how many there are."""
_READABLE = 32
"""Columns that a sentence needs; in a narrow terminal a long name is folded before it."""
_NARROW, _NAME = 8, 12
"""What a sentence and a folded name get at least where figures would be cut off otherwise."""
_GAP = 3
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of characters that steer: controls, formats, halves, line ends."""
_JOINERS = "\u200c\u200d"
"""Of the formats, those inside words and emoji."""


def prepare() -> None:
    """Make the streams take any text: what an encoding lacks is escaped, a closed one drops it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else the next file or socket would be taken for a standard stream
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = _nowhere("r")
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop(*, errors: bool = False) -> None:
    """Forget what could not be written to standard output, so that leaving does not try again.

    With `errors` also what could not be written to standard error.
    """
    for stream in (sys.stdout, sys.stderr) if errors else (sys.stdout,):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def console() -> Console:
    """Standard output; a pipe is given room instead of cut columns."""
    width = None if sys.stdout.isatty() else _WIDE
    return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)


def show_json(value: object) -> None:
    """One JSON document on standard output."""
    is_unicode = (sys.stdout.encoding or "").casefold().startswith("utf")
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=2, default=str)
    # What steers a terminal is only ever inside a JSON text, where its escape means the same.
    sys.stdout.write(harmless(text) + "\n")


def show(text: str) -> None:
    """Lines on standard output, taken literally."""
    sys.stdout.write(harmless(text.replace("\r\n", "\n")) + "\n")


def tell(text: str) -> None:
    """Sentences on standard output, broken between words where it is a terminal."""
    show(_fitted(text, sys.stdout))


def notice(text: str) -> None:
    """Sentences on standard error, broken between words where it is a terminal."""
    said = harmless(text.replace("\r\n", "\n"))
    sys.stderr.write(_fitted(said, sys.stderr) + "\n")
    sys.stderr.flush()


def _fitted(text: str, stream: TextIO) -> str:
    try:
        width = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except OSError:
        width = 0
    return wrapped(text, width) if width else text


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int = 0) -> None:
    """A table whose last `numbers` columns are figures. Cells are taken literally."""
    out = console()
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    readable = min(_READABLE, max(_NARROW, out.width - _taken(columns, rows, numbers)))
    for position, column in enumerate(columns):
        is_number = position >= len(columns) - numbers
        made.add_column(
            column,
            justify="right" if is_number else "left",
            min_width=readable if 0 < position < len(columns) - numbers else None,
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(Text(harmless(cell, keep="")) for cell in row))
    out.print(made)


def _taken(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> int:
    """Columns that figures, folded names and the gaps need."""
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    figures = sum(widths[len(columns) - numbers :])
    return min(widths[0], _NAME) + figures + _GAP * (len(columns) - 1)


def harmless(text: str, *, keep: str = "\n\t") -> str:
    r"""`text` with what could redraw a terminal as `\u001b`: a server may have written it."""
    if text.isprintable():
        return text
    return "".join(
        _escaped(char) if category(char) in _STEERING and char not in keep + _JOINERS else char
        for char in text
    )


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _nowhere(mode: Literal["r", "w"] = "w") -> TextIO:
    return Path(os.devnull).open(mode, encoding="utf-8")
