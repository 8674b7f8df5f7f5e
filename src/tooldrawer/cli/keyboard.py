"""The person at the keyboard, while an agent works: one question at a time."""

import os
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TextIO

import anyio
import anyio.to_thread

from tooldrawer.cli.output import harmless
from tooldrawer.cli.screen import Screen
from tooldrawer.dispatch import Answer, ApprovalRequest, TerminalApprover
from tooldrawer.dispatch.terminal import forget_what_was_typed, line_of

try:
    import termios
except ImportError:  # Windows
    termios = None

_CHUNK = 65_536


class Keyboard:
    """Asks in the terminal: an `Approver`, and the `Person` of the core tools."""

    def __init__(self, screen: Screen, *, read: TextIO | None = None) -> None:
        self._screen = screen
        self._read = read or sys.stdin
        self._turn = anyio.Lock()
        # A question must be seen, also when what is told about the calls goes into a file.
        self._write = sys.stderr if sys.stderr.isatty() else sys.stdout
        self._approver = TerminalApprover(read=self._read, write=self._write)

    async def __call__(self, request: ApprovalRequest) -> Answer:
        """What the person says to a call; Ctrl-D is a no."""
        async with self._taken():
            try:
                return await self._approver(request)
            except EOFError:
                self._write.write("\n")
                return Answer.NO

    async def ask(self, question: str, choices: Sequence[str]) -> str:
        """What the person answers to a question of the model.

        Raises:
            EOFError: The input is over.
        """
        async with self._taken():
            listed = [f"  {number}. {choice}" for number, choice in enumerate(choices, 1)]
            hint = " (a number, or your own words)" if choices else ""
            # By these words a model's question is told from one for approval.
            lines = ("", f"  The model asks: {question}", *listed, f"Answer{hint}: ")
            forget_what_was_typed(self._read)
            self._write.write(harmless("\n".join(lines)))
            self._write.flush()
            answer = (await next_line(self._read)).strip()
        chosen = int(answer) if answer.isdecimal() and len(answer) < 4 else 0
        return choices[chosen - 1] if 0 < chosen <= len(choices) else answer

    @contextmanager
    def quiet(self) -> Generator[None]:
        """Show nothing of what is typed; the next prompt reads it."""
        with _echo(self._read, shown=False):
            yield

    @asynccontextmanager
    async def _taken(self) -> AsyncGenerator[None]:
        async with self._turn:
            with self._screen.paused(), _echo(self._read, shown=True):
                try:
                    yield
                except BaseException:  # without an answer: the next line begins at the left
                    self._write.write("\n")
                    self._write.flush()
                    raise


class Pipe:
    """Lines as they come, each a message: of a pipe, or of a person without a line editor."""

    def __init__(self, read: TextIO | None = None, *, mark: TextIO | None = None) -> None:
        """A person is shown by a `mark` that it is their turn."""
        self._read = read or sys.stdin
        self._mark = mark
        self._waiting = b""

    async def read(self) -> str:
        """The next line.

        Raises:
            EOFError: There are no more.
        """
        self._show("> ")
        try:
            return await self._line()
        except EOFError:
            self._show("\n")
            raise

    def _show(self, text: str) -> None:
        if self._mark is not None:
            self._mark.write(text)
            self._mark.flush()

    async def _line(self) -> str:
        try:
            descriptor = self._read.fileno()
            while b"\n" not in self._waiting:
                await anyio.wait_readable(descriptor)
                chunk = os.read(descriptor, _CHUNK)
                if not chunk:
                    return self._last()
                self._waiting += chunk
        except (OSError, ValueError, NotImplementedError):  # a file cannot be waited for
            line = await anyio.to_thread.run_sync(self._read.readline, abandon_on_cancel=True)
            if not line:
                raise EOFError from None
            return line.rstrip("\n")
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def _last(self) -> str:
        if not self._waiting:
            raise EOFError
        line, self._waiting = self._waiting, b""
        return line.decode(errors="replace")


async def next_line(read: TextIO) -> str:
    """One line that a person types.

    Raises:
        EOFError: The input is over.
    """
    line = await line_of(read.fileno())
    if not line.endswith("\n"):
        raise EOFError("Nobody is at the terminal.")
    return line


@contextmanager
def _echo(read: TextIO, *, shown: bool) -> Generator[None]:
    if termios is None or not read.isatty():
        yield
        return
    descriptor = read.fileno()
    before = termios.tcgetattr(descriptor)
    after = termios.tcgetattr(descriptor)
    after[3] = after[3] | termios.ECHO if shown else after[3] & ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSANOW, after)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
