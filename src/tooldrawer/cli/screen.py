"""A terminal or a pipe: what the model says, lines that stay, and below them rows that change."""

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from tooldrawer.cli.call_row import PLAIN, Glyphs
from tooldrawer.cli.output import harmless
from tooldrawer.cli.width import wrapped

Rows = Callable[[int], Sequence[str]]
"""Draws the rows that change, for so many columns."""
MakeWay = Callable[[Callable[[], None]], None]
"""Has something written, as soon as whoever has the screen has made room for it."""

_PIPE = os.terminal_size((160, 50))
"""Columns of a line that goes into a file or a pipe."""
_UNKNOWN = os.terminal_size((80, 24))
_NARROWEST, _LOWEST = 20, 4


class Screen:
    """Answers go to one stream and everything about them to another; both may be one terminal.

    The rows that change are drawn below the cursor, which then goes back to where they begin. So
    they are cleared without counting lines, also after a narrower terminal has wrapped them.
    """

    def __init__(self, answers: TextIO | None = None, feed: TextIO | None = None) -> None:
        self._answers = answers or sys.stdout
        self._feed = feed or sys.stderr
        dumb = os.environ.get("TERM", "") in {"", "dumb"}
        self.is_live = self._feed.isatty() and not dumb
        """Whether rows can change."""
        self.has_colour = self.is_live and not os.environ.get("NO_COLOR")
        is_unicode = (self._feed.encoding or "").casefold().startswith("utf")
        self.glyphs = Glyphs() if is_unicode else PLAIN
        self._rows: Rows = _none
        self._is_drawn = False
        self._is_inside_a_line = False
        self._pauses = 0
        self._held: list[str] = []
        self._make_way: MakeWay | None = None

    @property
    def width(self) -> int:
        """Columns that a line may take; the last one stays free, where terminals differ."""
        return max(self._size.columns - 1, _NARROWEST)

    @property
    def height(self) -> int:
        """Lines of the terminal."""
        return max(self._size.lines, _LOWEST)

    @property
    def _size(self) -> os.terminal_size:
        if not self._feed.isatty():
            return _PIPE
        try:
            found = os.get_terminal_size(self._feed.fileno())
        except OSError:
            return _UNKNOWN
        return found if found.columns and found.lines else _UNKNOWN

    def say(self, piece: str) -> None:
        """The next piece of what the model says."""
        text = harmless(piece.replace("\r", ""))
        if not text:
            return
        self._clear()
        self._answers.write(text)
        self._answers.flush()
        self._is_inside_a_line = not text.endswith("\n")
        self.draw()

    def end_line(self) -> None:
        """Whatever comes next begins at the left."""
        if self._is_inside_a_line:
            self._is_inside_a_line = False
            self._answers.write("\n")
            self._answers.flush()

    def tell(self, line: str) -> None:
        """A line that stays; it has been made harmless."""
        if self._pauses:
            self._held.append(line)
            if self._make_way is not None:
                self._make_way(self._write_held)
            return
        self._clear()
        if self._answers.isatty():  # else the line would be torn for nobody's sake
            self.end_line()
        self._feed.write(line + "\n")
        self._feed.flush()
        self.draw()

    def notice(self, text: str) -> None:
        """Words of anybody's, on lines of their own."""
        said = harmless(text.replace("\r\n", "\n"))
        self.tell(wrapped(said, self.width) if self._feed.isatty() else said)

    def follow(self, rows: Rows) -> None:
        """From now on these are the rows that change."""
        self._rows = rows

    def draw(self) -> None:
        """Draw the rows that change, as they are now."""
        if not self.is_live or self._pauses or self._is_inside_a_line:
            return
        rows = self._rows(self.width)
        if not rows:
            self._clear()
            return
        up = f"\x1b[{len(rows) - 1}A" if len(rows) > 1 else ""
        self._feed.write("\r" + "\x1b[K\n".join(rows) + f"\x1b[J{up}\r")
        self._feed.flush()
        self._is_drawn = True

    @contextmanager
    def paused(self, make_way: MakeWay | None = None) -> Generator[None]:
        """The screen is somebody else's.

        What happens meanwhile is told afterwards, or at once if they can `make_way` for it.
        """
        self._clear()
        self.end_line()
        self._pauses += 1
        self._make_way = make_way if self.is_live else None
        try:
            yield
        finally:
            self._pauses -= 1
            self._make_way = None
            if not self._pauses:
                held, self._held = self._held, []
                for line in held:
                    self.tell(line)

    def _write_held(self) -> None:
        held, self._held = self._held, []
        with suppress(OSError):  # the terminal may be gone
            self._feed.write("".join(f"{line}\n" for line in held))
            self._feed.flush()

    def _clear(self) -> None:
        if self._is_drawn:
            self._is_drawn = False
            self._feed.write("\r\x1b[J")
            self._feed.flush()


def _none(width: int) -> Sequence[str]:
    del width
    return ()
