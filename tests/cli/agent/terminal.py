"""A terminal with a person at it: `tooldrawer` in a pseudo-terminal, and what its screen shows."""

import re
import signal
from collections.abc import Generator
from contextlib import contextmanager

import pexpect
import pyte
from rich.cells import cell_len

from tests.cli.shell import COMMAND, PATIENCE, Shell

_WHERE = "\x1b[6n"
"""Asks a terminal where its cursor is; every real one answers."""
_PASTE, _VISIBLE = "\x1b[?2004h", "\x1b[?25h"
"""How a prompt begins, and how it ends being drawn."""
_ESCAPES = r"(?:\x1b\[[0-9;?]*[A-Za-z])*"
ENTER, CTRL_C, CTRL_D, UP = "\r", "\x03", "\x04", "\x1b[A"


class Terminal:
    """What a person does at a terminal and sees on it."""

    def __init__(
        self, shell: Shell, *arguments: str, columns: int = 80, lines: int = 40, script: str = ""
    ) -> None:
        """With `script`, bash runs that, in which `"$@"` is the command."""
        environment = {"TERM": "xterm-256color", **shell.environment}
        command = ("bash", "-c", script, "bash", *COMMAND) if script else COMMAND
        self._process: pexpect.spawn[str] = pexpect.spawn(
            command[0],
            [*command[1:], *arguments],
            cwd=str(shell.folder),
            env=environment,
            dimensions=(lines, columns),
            timeout=PATIENCE,
            encoding="utf-8",
            codec_errors="replace",
        )
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.Stream(self._screen)
        self._process.logfile_read = _Into(self)
        self.raw = ""
        """Everything that was written, escapes and all."""
        self.rows: set[str] = set()
        """Every row that the screen showed at some moment."""

    def take(self, text: str) -> None:
        """Show what was written."""
        answered = self.raw.count(_WHERE)
        self.raw += text
        self._stream.feed(text)
        for _ in range(self.raw.count(_WHERE) - answered):  # one may come in two pieces
            self.type(f"\x1b[{self._screen.cursor.y + 1};{self._screen.cursor.x + 1}R")
        self.rows.update(line.rstrip() for line in self._screen.display)

    @property
    def shown(self) -> str:
        """What the screen shows now."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def widest(self, raw: str) -> int:
        """Columns of the widest row in what was written."""
        rows = re.split(r"[\r\n]", re.sub(_ESCAPES, "", raw))
        return max(cell_len(row) for row in rows)

    def type(self, keys: str) -> None:
        """Press keys."""
        self._process.send(keys)

    def enter(self, text: str) -> None:
        """Type a line."""
        self.type(text + ENTER)

    def until(self, words: str) -> None:
        """Wait until these words have come, in any colours, after those that came before."""
        self._process.expect(re.compile(f"{_ESCAPES}".join(map(re.escape, words))))

    def drawn(self) -> str:
        """Wait for the next picture of the rows that change; what was written for it."""
        self._process.expect(re.compile(r"\x1b\[J(\x1b\[\d+A)?\r"))
        return str(self._process.before)

    def prompted(self) -> None:
        """Wait for the prompt."""
        self._process.expect_exact(_PASTE)
        self._process.expect_exact(_VISIBLE)

    def resize(self, columns: int, lines: int = 40) -> None:
        """Make the window another size."""
        self._screen.resize(lines, columns)
        self._process.setwinsize(lines, columns)  # pyright: ignore[reportUnknownMemberType]

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to the process alone."""
        self._process.kill(number)

    def ended(self) -> int:
        """Wait for the end; the exit code, or the signal below zero."""
        self._process.expect(pexpect.EOF)
        self._process.wait()  # or `close` sends signals to one that takes its time to end
        self._process.close()
        if self._process.exitstatus is not None:
            return self._process.exitstatus
        assert self._process.signalstatus is not None
        return -self._process.signalstatus

    def close(self) -> None:
        """End it, whatever it does."""
        # Before `close`, which fails when a busy machine has not ended it within 0.1 s.
        if self._process.isalive():
            self._process.kill(signal.SIGKILL)
            self._process.wait()
        self._process.close()


class _Into:
    """A file for pexpect that is a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def write(self, text: str) -> None:
        self._terminal.take(text)

    def flush(self) -> None: ...


@contextmanager
def terminal(
    shell: Shell, *arguments: str, columns: int = 80, lines: int = 40, script: str = ""
) -> Generator[Terminal]:
    """`tooldrawer` in a terminal; it does not outlive the block."""
    made = Terminal(shell, *arguments, columns=columns, lines=lines, script=script)
    try:
        yield made
    finally:
        made.close()
