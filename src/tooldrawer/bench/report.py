"""Rows of figures, and their place in a document."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tooldrawer.errors import ConfigError

_BEGIN, _END = "<!-- figures: {} -->", "<!-- /figures -->"


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
    group: str = "core"
    """Which table of a document it stands in."""

    @property
    def holds(self) -> bool | None:
        """Whether the figure is within its bar; nothing where it has none."""
        return None if self.bar is None else self.value <= self.bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows for people, as they stand in a document."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int
    """How many of the columns, counted from the last one, are figures."""


def cells(row: Row) -> tuple[str, str, str, str]:
    """A row for people."""
    bar = "" if row.bar is None else f"≤ {_figure(row.bar)} {row.unit}"
    mark = {True: " ✓", False: " ✗", None: ""}[row.holds]
    ratio = "" if row.ratio is None else f"{row.ratio:.3g} × {row.against}"
    return row.what, f"{_figure(row.value)} {row.unit}", f"{bar}{mark}", ratio


def tables(rows: Sequence[Row]) -> dict[str, Table]:
    """The rows of each group as a table."""
    columns = ("what", "measured", "bar", "against")
    return {
        group: Table(
            columns=columns,
            rows=[cells(row) for row in rows if row.group == group],
            numbers=len(columns) - 1,
        )
        for group in dict.fromkeys(row.group for row in rows)
    }


def places(path: Path, groups: Collection[str]) -> tuple[str, list[str]]:
    """The document, and those of the groups that it has a place for.

    Raises:
        ConfigError: It cannot be read, or has a place for none of them.
    """
    try:
        text = path.read_bytes().decode()  # bytes, so that line ends stay as they are
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text.") from error
    found = [group for group in groups if _between(group).search(text)]
    if not found:
        marks = " or ".join(_BEGIN.format(group) for group in groups)
        raise ConfigError(
            f"{path}: has no place for the figures; put {marks} and {_END} around one."
        )
    return text, found


def write(path: Path, by_group: Mapping[str, Table], command: str) -> None:
    """Put the tables between the document's `<!-- figures: GROUP -->` marks, where it has any.

    Raises:
        ConfigError: As `places`, or the document cannot be written.
    """
    text, found = places(path, by_group)
    for group in found:
        block = "\n".join(["", *_markdown(by_group[group]), "", f"Written by `{command}`.", ""])
        place = _between(group).search(text)
        assert place is not None
        text = text[: place.start()] + block + text[place.end() :]
    try:
        path.write_bytes(text.encode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error


def _markdown(table: Table) -> Iterable[str]:
    yield _line(table.columns)
    texts = len(table.columns) - table.numbers
    yield "|" + "---|" * texts + "--:|" * table.numbers
    yield from map(_line, table.rows)


def _line(row: Sequence[str]) -> str:
    """A row; a set's name may have in it what would end a cell or a line."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"


def _between(group: str) -> re.Pattern[str]:
    """What stands between a group's marks; it has no mark of another group in it."""
    begin, other = re.escape(_BEGIN.format(group)), re.escape(_BEGIN.partition("{")[0])
    return re.compile(f"(?<={begin})(?:(?!{other}).)*?(?={re.escape(_END)})", re.DOTALL)


def _figure(value: float) -> str:
    if value >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
