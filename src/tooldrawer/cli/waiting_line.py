"""One line that says what is still waited for."""

import os
import sys
from types import TracebackType

from tooldrawer.cli.output import harmless, show
from tooldrawer.cli.width import cut

_CLEAR = "\r\x1b[2K"


class WaitingLine:
    """Shows names on one line of a terminal, where they change; elsewhere they are printed once."""

    def __init__(self) -> None:
        # Not every terminal can clear a line.
        self._is_live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False

    def __enter__(self) -> "WaitingLine":
        return self

    def update(self, names: list[str]) -> None:
        """Show that these are waited for, in the place of those before."""
        text = f"Waiting for {', '.join(names)}."
        if self._is_live:
            # The last column stays free: some terminals go to the next line there.
            room = os.get_terminal_size(sys.stdout.fileno()).columns - 1
            sys.stdout.write(_CLEAR + cut(harmless(text, keep=""), room))
        elif not self._is_shown:
            show(text)
        self._is_shown = True
        sys.stdout.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Clear the line where it can be."""
        if self._is_live and self._is_shown:
            sys.stdout.write(_CLEAR)
            sys.stdout.flush()
