"""Rows of figures, and their place in a document."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tooldrawer.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure, what it is measured against, and the bar it must not pass."""

    what: str
    value: float
    unit: str
    bar: float | None = None
    against: str = ""
    """The baseline of the same run."""
    ratio: float | None = None
    """Value over baseline."""

    @property
    def holds(self) -> bool | None:
        """Whether the figure is within its bar; nothing where it has none."""
        return None if self.bar is None else self.value <= self.bar


def cells(row: Row) -> tuple[str, str, str, str]:
    """A row for people."""
    bar = "" if row.bar is None else f"≤ {_figure(row.bar)} {row.unit}"
    mark = {True: " ✓", False: " ✗", None: ""}[row.holds]
    ratio = "" if row.ratio is None else f"{row.ratio:.3g} × {row.against}"
    return row.what, f"{_figure(row.value)} {row.unit}", f"{bar}{mark}", ratio


def write(path: Path, name: str, rows: Sequence[Row], command: str) -> None:
    """Put the rows between the document's `<!-- figures: NAME -->` marks.

    Raises:
        ConfigError: The document has no such marks.
    """
    text = path.read_text(encoding="utf-8")
    begin, end = f"<!-- figures: {name} -->", "<!-- /figures -->"
    found = re.search(f"{re.escape(begin)}.*?{re.escape(end)}", text, re.DOTALL)
    if found is None:
        raise ConfigError(f"{path}: has no place for the figures; put {begin} and {end} into it.")
    lines = ["| what | measured | bar | against |", "|---|--:|--:|--:|"]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    block = "\n".join([begin, *lines, "", f"Written by `{command}`.", end])
    path.write_text(text[: found.start()] + block + text[found.end() :], encoding="utf-8")


def _figure(value: float) -> str:
    if value >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
