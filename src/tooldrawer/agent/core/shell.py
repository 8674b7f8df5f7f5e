"""The tool that runs commands."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from tooldrawer.agent.core.processes import SHELL, Ending, run
from tooldrawer.agent.core.tape import Tape
from tooldrawer.agent.core.workplace import Workplace
from tooldrawer.call import ToolResult
from tooldrawer.errors import InvalidArguments

LONGEST = 3600
"""Seconds that a command may be given."""
_HEAD, _TAIL = 8_000, 16_000
"""Bytes of the output that a model gets. The end is where errors and summaries are."""
_QUIET = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
"""Nobody is there to press a key: no pagers, no password prompts, no colours."""


class Shell:
    """Commands in the workplace, each in a shell of its own."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace

    async def terminal(
        self,
        command: str,
        cwd: str | None = None,
        timeout: int = 120,  # noqa: ASYNC109
    ) -> ToolResult:
        """Run a shell command without input; returns its output and exit code.

        Args:
            timeout: Seconds
        """
        if not command.strip():
            raise InvalidArguments("There is no command. Give one in /command.")
        if not 1 <= timeout <= LONGEST:
            raise InvalidArguments(f"/timeout must be from 1 to {LONGEST} seconds.")
        folder = self._folder(cwd)
        tape = Tape(head=_HEAD, tail=_TAIL)
        ending = await run(
            (SHELL, "-c", "--", command),
            tape=tape,
            seconds=timeout,
            folder=folder,
            environment={**os.environ, **_QUIET},
        )
        return _result(tape.text, ending, timeout)

    def _folder(self, cwd: str | None) -> Path:
        folder = self._workplace.inside(cwd or ".")
        if not folder.is_dir():
            raise InvalidArguments(f"There is no folder {cwd!r} to run in. Correct /cwd.")
        return folder


def _result(output: str, ending: Ending, limit: int) -> ToolResult:
    text = output if output.endswith("\n") or not output else f"{output}\n"
    if ending.is_late:
        said = (
            f"[stopped at the time limit of {limit} s, with everything it had started. Give a "
            "longer timeout, or run it with its output in a file and & at the end]"
        )
        return ToolResult.of_text(text + said, is_error=True)
    said = f"[{_code(ending.code)}]"
    if ending.left_others:
        said += (
            "\n[what it left running in the background was stopped: to keep something running, "
            "send its output to a file]"
        )
    return ToolResult.of_text(text + said)


def _code(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
    return f"exit code {code}"
