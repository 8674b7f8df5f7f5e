"""One command: run with its output in order, and never left behind."""

import os
import select
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.lowlevel
from anyio.abc import Process

from tooldrawer.agent.core.tape import Tape
from tooldrawer.errors import ToolFailed
from tooldrawer.upstream.guardian import GUARDIAN

_CHUNK = 64 * 1024
_AFTERLIFE = 0.3
"""Seconds in which the output of a command that has ended may still arrive."""
_GRACE = 1.0
"""Seconds between SIGTERM, after which git takes its locks away, and SIGKILL."""
_BASH = shutil.which("bash")
SHELL = _BASH or "/bin/sh"
# A command may not begin before the guardian knows of it: we could be killed in between, which on
# a busy machine took milliseconds and left the command running in three of five tries. If we are,
# the gate reads the end of its input and nothing begins. A bash, where there is one: dash drops
# exported functions and variables with a dot in their name. With -p it does not run BASH_ENV, which
# is the command's to run, and could read what the gate waits for.
_GATE = (SHELL, *(("-p",) if _BASH else ()), "-c", 'read -r go && exec "$@" < /dev/null', "gate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a command ended."""

    code: int
    """Its exit code; negative is the signal that ended it."""
    is_late: bool = False
    """It was ended at its time limit."""
    left_others: bool = False
    """Others that it had started held its output open, and were ended."""


async def run(
    command: Sequence[str],
    *,
    tape: Tape,
    seconds: float,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Ending:
    """Run a command as the leader of its own group, with no input and its output on the tape.

    At the time limit, and when this call is cancelled, the whole group is ended. So it is when
    the command is over and somebody still holds its output; who has output of their own may stay.

    Raises:
        ToolFailed: It cannot be started.
    """
    if sys.platform == "win32":
        raise ToolFailed("Commands cannot be run on Windows yet. Tell the user.")
    ours, theirs = os.pipe()
    try:
        process = await _started(command, theirs, folder, environment)
        return await _ended(process, ours, tape, seconds)
    finally:
        os.close(ours)


async def _started(
    command: Sequence[str], output: int, folder: Path, environment: Mapping[str, str] | None
) -> Process:
    # Shielded: a process that is started while we are cancelled would have nobody to end it.
    # With a pipe of our own: with asyncio's, Process.wait() returns when everybody has closed it,
    # a server in the background too (CPython issue 119710).
    process: Process | None = None
    with ExitStack() as ends:
        ends.callback(os.close, output)
        try:
            gate, opened = os.pipe()
            ends.callback(os.close, gate)
            ends.callback(os.close, opened)
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    (*_GATE, *command),
                    stdin=gate,
                    stdout=output,
                    stderr=output,
                    cwd=folder,
                    env=environment,
                    start_new_session=True,
                )
                GUARDIAN.watch(process.pid)
                os.write(opened, b"\n")
        except (OSError, ValueError) as error:
            raise ToolFailed(
                f"The command cannot be started: {error}. Change it, then try again."
            ) from error
    assert process is not None  # nobody has the scope, so nobody cancels it
    return process


async def _ended(process: Process, output: int, tape: Tape, seconds: float) -> Ending:
    is_over, code = False, 0
    heard, hearing = anyio.Event(), anyio.CancelScope(shield=True)
    late = anyio.CancelScope(deadline=anyio.current_time() + seconds)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, output, tape, heard, hearing)
        try:
            with late:
                await process.wait()
                with anyio.move_on_after(_AFTERLIFE):
                    await heard.wait()
                if _is_let_go(output):  # a machine that stood still read nothing meanwhile
                    await heard.wait()
                is_over = heard.is_set()
        finally:
            with anyio.CancelScope(shield=True):
                if not is_over:
                    await _end(process, heard)
                code = await process.wait()
                await process.aclose()
            GUARDIAN.release(process.pid)
            hearing.cancel()
    is_late = late.cancelled_caught
    return Ending(code=code, is_late=is_late, left_others=not is_over and not is_late)


def _is_let_go(output: int) -> bool:
    """Whether nobody holds the other end of a pipe, read or not."""
    poll = select.poll()
    poll.register(output, 0)
    return bool(poll.poll(0))


async def _end(process: Process, heard: anyio.Event) -> None:
    """Ask the group to end, and give it a moment in which its last output is heard."""
    _signal(process.pid, signal.SIGTERM)
    with anyio.move_on_after(_GRACE):
        await heard.wait()
    _signal(process.pid, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


async def _listen(output: int, tape: Tape, heard: anyio.Event, hearing: anyio.CancelScope) -> None:
    """Write everything to the tape until nobody holds the other end, or `hearing` is cancelled."""
    os.set_blocking(output, False)
    with hearing:
        while True:
            try:
                chunk = os.read(output, _CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(output)
                continue
            if not chunk:
                break
            tape.write(chunk)
            await anyio.lowlevel.checkpoint()
        heard.set()
