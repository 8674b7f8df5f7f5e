"""The approver in a terminal."""

import json
import os
import sys
from typing import TextIO

import anyio
import anyio.to_thread

from tooldrawer.dispatch.approvals import Answer, ApprovalRequest

try:
    import termios
except ImportError:  # Windows
    termios = None

_ANSWERS = {
    "y": Answer.ONCE,
    "yes": Answer.ONCE,
    "s": Answer.SESSION,
    "session": Answer.SESSION,
    "a": Answer.ALWAYS,
    "always": Answer.ALWAYS,
    "n": Answer.NO,
    "no": Answer.NO,
    "": Answer.NO,
}


_LONG = 1_500
"""Characters of arguments beyond which their beginning may have left the screen."""


class TerminalApprover:
    """Shows the real tool, its toolset and the exact arguments, and reads one answer at a time.

    Whatever a server put into a text is shown with its control characters escaped, so that it
    cannot redraw the question.
    """

    def __init__(self, *, read: TextIO | None = None, write: TextIO | None = None) -> None:
        self._read = read or sys.stdin
        self._write = write or sys.stderr
        self._turn = anyio.Lock()

    async def __call__(self, request: ApprovalRequest) -> Answer:
        """Ask until the answer is one of those offered.

        Raises:
            EOFError: The input is over, so nobody is there to answer.
        """
        async with self._turn:
            forget_what_was_typed(self._read)
            self._write.write(rendered(request))
            while True:
                self._write.write("[y]es once, this [s]ession, [a]lways, [N]o: ")
                self._write.flush()
                line = await self._line()
                if line == "":
                    raise EOFError("Nobody is at the terminal.")
                answer = _ANSWERS.get(line.strip().casefold())
                if answer is not None:
                    return answer
                self._write.write("Answer with y, s, a or n.\n")

    async def _line(self) -> str:
        # A terminal or pipe can be waited for and the wait cancelled; a thread that sits in
        # readline() after the question timed out would swallow the answer to the next one.
        try:
            descriptor = self._read.fileno()
            await anyio.wait_readable(descriptor)
        except (OSError, ValueError, NotImplementedError):
            return await anyio.to_thread.run_sync(self._read.readline, abandon_on_cancel=True)
        return await line_of(descriptor)


def forget_what_was_typed(read: TextIO) -> None:
    """Drop what is waiting: a late "y" to a question that timed out must not answer the next."""
    if termios is not None and read.isatty():
        termios.tcflush(read.fileno(), termios.TCIFLUSH)


async def line_of(descriptor: int) -> str:
    """One line, byte by byte: what follows it is left for the next question.

    readline() would wait for the end of the line without letting anything else run, and would take
    along the lines that are there already, which can then not be waited for.
    """
    line = b""
    while not line.endswith(b"\n"):
        await anyio.wait_readable(descriptor)
        byte = os.read(descriptor, 1)
        if not byte:
            break
        line += byte
    return line.decode(errors="replace")


def rendered(request: ApprovalRequest) -> str:
    """The question as text without a control character of anybody else's."""
    arguments = _readable(json.dumps(request.arguments, indent=2, ensure_ascii=False))
    lines = (
        "",
        f"  {_printable(request.question)}",
        f"  tool:      {_printable(request.tool.name)}",
        f"  toolset:   {_printable(request.toolset)}",
        *([f"  subagent:  {_printable(request.session)}"] if "." in request.session else []),
        f"  arguments: {arguments}".replace("\n", "\n             "),
        *(
            [f"  These are {len(arguments):,} characters: scroll up and read them from the start."]
            if len(arguments) > _LONG
            else []
        ),
        "",
    )
    return "\n".join(lines)


def _readable(written: str) -> str:
    """JSON in which people can read their own script; what cannot be seen is escaped."""
    return "".join(
        char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in written
    )


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
