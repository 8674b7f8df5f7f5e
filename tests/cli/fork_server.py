"""Runs commands in forks of a process that has imported them, because the imports take most of
the time of a short command.

`python -m tests.cli.fork_server` reads requests from the socket that is its standard input. A
request is one JSON document with three descriptors and a socket; the exit status comes back there.
"""

import atexit
import gc
import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from fcntl import ioctl
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

_MAX_REQUEST_BYTES = 200_000
_COMMANDS_OF_AGENTS = (
    "tooldrawer.cli.conversing",
    "tooldrawer.cli.headless",
    "tooldrawer.agent.openai_client",
    "tooldrawer.agent.anthropic_client",
)
_FIRST_PIPE = 10
"""Where the six descriptors of the pipes are among the arguments of `Popen._execute_child`."""


class ForkedProcess(subprocess.Popen[str]):
    """A command in a fork of the server, used like every other `Popen`."""

    def __init__(self, arguments: Sequence[str], *, takes_terminal: bool, **options: Any) -> None:
        """Start the command; with `takes_terminal` standard input is its controlling terminal."""
        self._takes_terminal = takes_terminal
        self._exit: socket.socket | None = None
        super().__init__(arguments, **options)

    def _execute_child(self, *given: Any) -> None:
        """Send the descriptors to the server instead of forking this process."""
        arguments, cwd, env = given[0], given[5], given[6]
        pipes = given[_FIRST_PIPE : _FIRST_PIPE + 6]
        ends = (pipes[0], pipes[3], pipes[5])
        theirs = [own if end == -1 else end for own, end in enumerate(ends)]
        request = json.dumps(
            {
                "arguments": arguments,
                "cwd": str(cwd),
                "env": env,
                "takes_terminal": self._takes_terminal,
            }
        )
        self._exit, far = socket.socketpair()
        with far:
            socket.send_fds(_server(), [request.encode()], [*theirs, far.fileno()])
        self.pid = int(self._exit.recv(100))
        self._child_created = True
        cast("Any", self)._close_pipe_fds(*pipes)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        return self._receive_status(0.0)

    def _wait(self, timeout: float | None) -> int:
        if self._receive_status(timeout) is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        assert self.returncode is not None
        return self.returncode

    def _receive_status(self, timeout: float | None) -> int | None:
        if self.returncode is None and self._exit is not None:
            self._exit.settimeout(timeout)
            try:
                status = self._exit.recv(100)
            except (TimeoutError, BlockingIOError):
                return None
            self._exit.close()
            self.returncode = os.waitstatus_to_exitcode(int(status))
        return self.returncode


@cache
def _server() -> socket.socket:
    """The connection to the server of this test process; it ends with this process."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * _MAX_REQUEST_BYTES)
    server = subprocess.Popen([sys.executable, "-m", "tests.cli.fork_server"], stdin=far.fileno())
    far.close()

    def end_server() -> None:
        near.close()
        server.wait()

    atexit.register(end_server)
    return near


def serve() -> None:
    """Fork for each request until the other side is gone; returns in the forks only."""
    requests = socket.socket(fileno=0)
    waiting = selectors.DefaultSelector()
    waiting.register(requests, selectors.EVENT_READ, None)
    while True:
        for key, _ in waiting.select():
            if key.data is None:
                message, descriptors, _, _ = socket.recv_fds(requests, _MAX_REQUEST_BYTES, 4)
                if not message:
                    sys.exit(0)
                pid = os.fork()
                if not pid:
                    waiting.close()
                    requests.detach()
                    _become_command(json.loads(message), descriptors)
                    return
                for descriptor in descriptors[:3]:
                    os.close(descriptor)
                answer = socket.socket(fileno=descriptors[3])
                answer.send(str(pid).encode())
                ended = os.pidfd_open(pid)
                waiting.register(ended, selectors.EVENT_READ, (pid, ended, answer))
            else:
                pid, ended, answer = key.data
                waiting.unregister(ended)
                os.close(ended)
                _, status = os.waitpid(pid, 0)
                with suppress(OSError):  # the test is over
                    answer.send(str(status).encode())
                answer.close()


def _become_command(request: dict[str, Any], descriptors: list[int]) -> None:
    """Make this fork what a new process would be."""
    if request["takes_terminal"]:
        os.setsid()
    for standard, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, standard)
    for descriptor in descriptors:
        os.close(descriptor)
    if request["takes_terminal"]:
        ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = ["tooldrawer", *request["arguments"]]
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    for number, name in ((1, "stdout"), (2, "stderr")):
        raw = io.FileIO(number, "w", closefd=False)
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding="utf-8",
            errors="strict" if number == 1 else "backslashreplace",
            line_buffering=number == 2 or raw.isatty(),
            write_through=number == 2,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _import_commands() -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads must not fork
    from tooldrawer.cli.app import COMMANDS  # noqa: PLC0415  only the server needs it

    for place, _ in COMMANDS.values():
        import_module(f"tooldrawer.cli.{place.partition(':')[0]}")
    for module in _COMMANDS_OF_AGENTS:
        import_module(module)


if __name__ == "__main__":
    _import_commands()
    assert len(list(Path("/proc/self/task").iterdir())) == 1
    gc.freeze()  # a collection in a fork would copy every page
    serve()
    from tooldrawer.cli import main

    main()
