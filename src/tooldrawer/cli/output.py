"""What the commands show: readable tables, or JSON for programs."""

import json
import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDE = 160
"""Columns when nobody's terminal says how many there are."""


def console(*, is_error: bool = False) -> Console:
    """Standard output, or standard error; a pipe is given room instead of cut columns."""
    stream = sys.stderr if is_error else sys.stdout
    return Console(
        file=stream, width=None if stream.isatty() else _WIDE, highlight=False, soft_wrap=False
    )


def show_json(value: object) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def show(text: str) -> None:
    """One line, taken literally."""
    console().print(Text(text), soft_wrap=True)


def notice(text: str) -> None:
    """One line on standard error."""
    console(is_error=True).print(Text(text), soft_wrap=True)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int = 0) -> None:
    """A table whose last `numbers` columns are figures. Cells are taken literally."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for position, column in enumerate(columns):
        is_number = position >= len(columns) - numbers
        made.add_column(
            column,
            justify="right" if is_number else "left",
            no_wrap=position == 0 or is_number,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    console().print(made)
