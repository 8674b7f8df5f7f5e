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

from tooldrawer.cli.width import columns as measure_columns
from tooldrawer.cli.width import fit_columns, wrapped

_WIDE = 160
"""Columns when nobody's terminal says how many there are."""
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
    width = None if sys.stdout.isatty() else _requested_width() or _WIDE
    return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)


def _requested_width() -> int:
    """Return the columns that the environment asks for; 0 when it does not."""
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isascii() and asked.isdecimal() else 0


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
    """A table whose last `numbers` columns are figures. Cells are taken literally.

    Where the screen is narrow, text is folded, then figures are left out from the left; no figure
    is cut.
    """
    out = console()
    cells = [[harmless(cell, keep="") for cell in row] for row in (columns, *rows)]
    widths = [max(map(measure_columns, column)) for column in zip(*cells, strict=True)]
    texts = len(columns) - numbers
    shown = fit_columns(widths, texts=texts, room=out.width)
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for position, width in shown.items():
        is_number = position >= texts
        made.add_column(
            columns[position],
            justify="right" if is_number else "left",
            width=width,
            no_wrap=is_number,
            overflow="fold",
        )
    for row in cells[1:]:
        made.add_row(*(Text(row[position]) for position in shown))
    with out.capture() as captured:
        out.print(made)
    lines = captured.get().splitlines()
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))


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
