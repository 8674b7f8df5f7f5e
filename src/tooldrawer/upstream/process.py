"""The process of one server: started with few secrets, listened to, and never left behind."""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.lowlevel
import anyio.to_thread

from tooldrawer.upstream.guardian import GUARDIAN
from tooldrawer.upstream.lines import LineReader, LineWriter
from tooldrawer.upstream.spec import DEPTH, UpstreamSpec
from tooldrawer.upstream.unreachable import Unreachable

_INHERITED = (
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
    "TMPDIR", "SYSTEMROOT", "SYSTEMDRIVE", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT",
    "TEMP",
)  # fmt: skip
"""All that a server gets unasked: a key in the environment is for whoever is given it."""
_GRACE = 1.5
"""Seconds after closing stdin, and again after SIGTERM.

Twice this is less than the four that the SDK's client gives us before it kills us in turn.
"""
_GLANCE = 0.02
_LINES, _LINE = 20, 500
"""How many last lines of stderr are kept, and how much of each."""
_NOISE = 120
_AFTERLIFE = 0.5
"""Seconds in which the output of a server that has ended may still arrive."""

_Given = TypeVarTuple("_Given")
_Got = TypeVar("_Got")


class Process:
    """One running server: its lines, and the group of processes that it leads."""

    def __init__(self, popen: "subprocess.Popen[bytes]", pipes: "_Pipes") -> None:
        self.reader = LineReader(pipes.stdout, on_noise=self._hear)
        self.writer = LineWriter(pipes.stdin)
        self._popen = popen
        self._stderr = pipes.stderr
        self._said: deque[bytes] = deque(maxlen=_LINES)
        self._unfinished = self._first_noise = b""
        self._was_ended = False

    @property
    def pid(self) -> int:
        """The process, and its group."""
        return self._popen.pid

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr, on one line."""
        whole = (*self._said, self._unfinished)
        lines = (line.decode(errors="replace").strip() for line in whole)
        return " | ".join([line for line in lines if line][-5:])

    @property
    def noise(self) -> str:
        """How much it wrote to stdout that is no message, and how that began."""
        if not self.reader.noise:
            return ""
        first = self._first_noise.decode(errors="replace").strip()
        return f"{self.reader.noise:,} lines on its stdout are no messages; the first is {first!r}"

    def _hear(self, line: bytes) -> None:
        self._first_noise = self._first_noise or line[:_NOISE]

    @property
    def end(self) -> str:
        """How it ended by itself; nothing while it runs, or when it was us who ended it."""
        code = self._popen.poll()
        if code is None or self._was_ended:
            return ""
        if code < 0:
            with suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    async def ended(self) -> None:
        """Return when the process itself is gone, whoever still holds its pipes."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or gone already
            await _in_thread(self._popen.wait, abandon_on_cancel=True)
        else:
            try:
                await anyio.wait_readable(descriptor)
            finally:
                os.close(descriptor)
        await anyio.sleep(_AFTERLIFE)

    async def listen(self) -> None:
        """Keep the last lines of stderr, so that it never fills up and can be quoted."""
        os.set_blocking(self._stderr, False)
        with suppress(OSError):
            while True:
                try:
                    chunk = os.read(self._stderr, 64 * 1024)
                except BlockingIOError:
                    await anyio.wait_readable(self._stderr)
                    continue
                if not chunk:
                    break
                *lines, rest = (self._unfinished + chunk).split(b"\n")
                self._said.extend(line[:_LINE] for line in lines[-_LINES:])
                self._unfinished = rest[:_LINE]
                await anyio.lowlevel.checkpoint()

    async def stop(self) -> None:
        """Close its stdin, then end the whole group. Shielded, and bounded in time."""
        with anyio.CancelScope(shield=True):
            await self.writer.aclose()
            await self.reader.aclose()
            self._was_ended = await _in_thread(_end, self._popen)
            GUARDIAN.release(self.pid)

    def close(self) -> None:
        """Give back what is left of it here, after `listen` is over."""
        os.close(self._stderr)


@asynccontextmanager
async def running(spec: UpstreamSpec) -> AsyncGenerator[Process]:
    """Start the server, and end it with everything it started when the block is left.

    No parent-death signal is asked for: Linux sends it when the *thread* that started the process
    ends, and worker threads end when they are idle. A server whose parent was killed reads the end
    of its stdin, and the guardian ends it if it goes on all the same.

    Raises:
        Unreachable: The command cannot be started.
    """
    if sys.platform == "win32":
        raise Unreachable(
            f"The server {spec.name!r} is a command, and commands cannot be started on Windows "
            "yet; use its HTTP address.",
            is_final=True,
        )
    # Not abandoned when cancelled: the thread is waited for, so no process is started unseen. And
    # from here to the block there is no moment in which a cancellation could arrive.
    process = Process(*await _in_thread(_start, spec))
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(process.listen)
            try:
                yield process
            finally:
                await process.stop()
                group.cancel_scope.cancel()
    finally:
        process.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pipes:
    """Our ends."""

    stdin: int
    stdout: int
    stderr: int


async def _in_thread(
    function: Callable[[Unpack[_Given]], _Got],
    *arguments: *_Given,
    abandon_on_cancel: bool = False,
) -> _Got:
    """Run it in a thread whatever the number of others: ninety servers are stopped at once."""
    return await anyio.to_thread.run_sync(
        function,
        *arguments,
        abandon_on_cancel=abandon_on_cancel,
        limiter=anyio.CapacityLimiter(1),
    )


def environment(spec: UpstreamSpec, own: Mapping[str, str]) -> dict[str, str]:
    """What the server gets of our own environment, and what its configuration gives it."""
    # A value that starts with "()" is a function that an old shell would run.
    found = {key: own[key] for key in _INHERITED if not own.get(key, "()").startswith("()")}
    depth = own.get(DEPTH, "0")
    return {**found, DEPTH: str(int(depth) + 1 if depth.isdecimal() else 1), **spec.env}


def _start(spec: UpstreamSpec) -> "tuple[subprocess.Popen[bytes], _Pipes]":
    pipes: list[int] = []
    try:
        for _ in range(3):
            pipes.extend(os.pipe())
        popen = _popen(spec, stdin=pipes[0], stdout=pipes[3], stderr=pipes[5])
    except BaseException:
        for descriptor in pipes:
            os.close(descriptor)
        raise
    GUARDIAN.watch(popen.pid)
    for theirs in (pipes[0], pipes[3], pipes[5]):
        os.close(theirs)
    return popen, _Pipes(stdin=pipes[1], stdout=pipes[2], stderr=pipes[4])


def _popen(
    spec: UpstreamSpec, *, stdin: int, stdout: int, stderr: int
) -> "subprocess.Popen[bytes]":
    folder = str(Path(spec.cwd).expanduser()) if spec.cwd else None
    try:
        if folder is not None and not Path(folder).is_dir():
            raise Unreachable(
                f"The server {spec.name!r} cannot be started: its folder {folder!r} does not "
                "exist. Correct its cwd.",
                is_final=True,
            )
        return subprocess.Popen(
            [os.path.expanduser(spec.command), *spec.args],  # noqa: PTH111 - "npx" is no path
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=environment(spec, os.environ),
            cwd=folder,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise Unreachable(_complaint(spec, error), is_final=True) from error


def _complaint(spec: UpstreamSpec, error: Exception) -> str:
    start = f"The server {spec.name!r} cannot be started: its command {spec.command!r}"
    match error:
        case FileNotFoundError():
            return f"{start} was not found. Install it, or correct the command or the PATH."
        case PermissionError():
            return f"{start} may not be run. Make it executable, or correct the command."
        case OSError():
            return f"{start} cannot be run: {error.strerror}."
        case _:
            return f"{start} cannot be run: {error}."


def _end(leader: "subprocess.Popen[bytes]") -> bool:
    """End a group whose leader was told by the end of its stdin, and whether it took a signal.

    Blocks for five seconds at most.
    """
    with suppress(subprocess.TimeoutExpired):
        leader.wait(_GRACE)
    had_left = leader.poll() is not None
    # The leader may be gone while others of its group go on: they are ended all the same.
    for number in (signal.SIGTERM, signal.SIGKILL):
        if leader.poll() is not None and not _has_living(leader.pid):
            break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader.pid, number)
        limit = monotonic() + _GRACE
        while (leader.poll() is None or _has_living(leader.pid)) and monotonic() < limit:
            sleep(_GLANCE)
    return not had_left


def _has_living(group: int) -> bool:
    """Whether someone in the group still runs. The dead whom nobody collects do not count."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if not Path("/proc/self/stat").exists():
        return True
    return any(_runs_in(group, entry) for entry in Path("/proc").glob("[0-9]*/stat"))


def _runs_in(group: int, stat: Path) -> bool:
    try:
        text = stat.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    # The name, in brackets, may hold anything; state, parent and group follow its last bracket.
    state, _, found = text.rpartition(")")[2].split()[:3]
    return int(found) == group and state not in {"Z", "X"}
