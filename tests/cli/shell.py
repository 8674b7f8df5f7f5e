"""The command as a person runs it: a process of its own, in an empty folder of its own."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.fork_server import ForkedProcess
from tooldrawer.config.trust_items import read_items
from tooldrawer.trust import TrustStore

COMMAND = (sys.executable, "-m", "tooldrawer")
QUESTION = "[N]o: "
PATIENCE = 300
"""Seconds until a command that should long be over counts as hanging."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as one JSON document; nothing went wrong."""
        assert (self.code, self.err) == (0, "")
        return json.loads(self.out)

    @property
    def text(self) -> str:
        """What it printed; nothing went wrong."""
        assert (self.code, self.err) == (0, "")
        return self.out

    @property
    def refusal(self) -> str:
        """What it complained about, in words, on standard error only."""
        assert (self.code, self.out) == (2, "")
        assert "Traceback" not in self.err
        assert 'File "' not in self.err
        lines = self.err.splitlines()
        assert lines
        assert all(line.endswith((".", "?")) for line in lines)
        return self.err


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in a folder, with nothing of the user's own in reach."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def environment(self) -> dict[str, str]:
        """Only what a process needs; settings and grants would be looked for in the folder."""
        needed = ("PATH", "LANG", "LC_ALL", "XDG_CACHE_HOME")
        kept = {key: os.environ[key] for key in needed if key in os.environ}
        home = {key: str(self.folder / "home") for key in ("HOME", "XDG_CONFIG_HOME")}
        data = {key: str(self.folder / "data") for key in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
        path = {"PYTHONPATH": str(self.folder), "PYTHONUTF8": "1"}
        return {**kept, **home, **data, **path, **self.variables}

    def with_variables(self, **variables: str) -> "Shell":
        """The same folder, with more in the environment."""
        return Shell(self.folder, {**self.variables, **variables})

    def write(self, name: str, text: str, *, trusted: bool = True) -> str:
        """Put a file into the folder; its name as a command takes it.

        A configuration is one that the user has trusted, unless told otherwise.
        """
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if trusted and file.name in ("tooldrawer.yaml", ".mcp.json"):
            TrustStore(self.folder / "data" / "tooldrawer" / "trust.json").add(read_items(file))
        return name

    def at_terminal(self, *arguments: str) -> Ran:
        """Run `tooldrawer` to its end as a person at a terminal does; its output is read here."""
        keyboard, terminal = os.openpty()
        try:
            with self.started(*arguments, stdin=terminal, at_terminal=True) as process:
                return _ended(process)
        finally:
            os.close(terminal)
            os.close(keyboard)

    def run(self, *arguments: str) -> Ran:
        """Run `tooldrawer` to its end; there is nothing to read on standard input."""
        with self.started(*arguments) as process:
            return _ended(process)

    @contextmanager
    def started(
        self,
        *arguments: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        at_terminal: bool = False,
    ) -> "Generator[subprocess.Popen[str]]":
        """Start `tooldrawer`; it does not outlive the block."""
        options = {
            "cwd": self.folder,
            "env": self.environment,
            "stdin": stdin,
            "stdout": stdout,
            "stderr": stderr,
            "encoding": "utf-8",
        }
        with self._start(arguments, options, at_terminal=at_terminal) as process:
            try:
                yield process
            finally:
                process.kill()

    def _start(
        self, arguments: Sequence[str], options: dict[str, Any], *, at_terminal: bool
    ) -> "subprocess.Popen[str]":
        needs_new_interpreter = any(name.startswith("PYTHON") for name in self.variables)
        if sys.platform == "linux" and not needs_new_interpreter:
            return ForkedProcess(arguments, takes_terminal=at_terminal, **options)
        return subprocess.Popen(
            [*COMMAND, *arguments],
            start_new_session=at_terminal,
            preexec_fn=_take_terminal if at_terminal else _interruptible,
            **options,
        )

    def asked(self, *arguments: str, answers: Sequence[str]) -> Ran:
        """Run `tooldrawer` in a terminal, and type one answer at each question."""
        keyboard, terminal = os.openpty()
        try:
            with self.started(*arguments, stdin=terminal) as process:
                asked = ""
                for answer in answers:
                    asked += _until(QUESTION, process)
                    os.write(keyboard, f"{answer}\n".encode())
                ran = _ended(process)
        finally:
            os.close(terminal)
            os.close(keyboard)
        return Ran(ran.code, ran.out, asked + ran.err)

    def screen(self, *arguments: str) -> str:
        """What `tooldrawer` writes when its standard output is a terminal."""
        watcher, terminal = os.openpty()
        try:
            with self.started(*arguments, stdout=terminal) as process:
                os.close(terminal)
                shown = b"".join(iter(lambda: _read(watcher), b""))
                assert _ended(process).code == 0
        finally:
            os.close(watcher)
        return shown.decode()


def _ended(process: "subprocess.Popen[str]") -> Ran:
    out, err = process.communicate(timeout=PATIENCE)
    return Ran(process.returncode, out, err)


def _until(words: str, process: "subprocess.Popen[str]") -> str:
    """What it says on standard error, up to and with the words."""
    assert process.stderr is not None
    said = ""
    while not said.endswith(words):
        letter = process.stderr.read(1)
        assert letter, f"It ended without {words!r}; it said {said!r}."
        said += letter
    return said


def _interruptible() -> None:
    """Undo what a shell does to commands in the background, so that Ctrl-C can be tested there."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _take_terminal() -> None:
    """Make standard input the controlling terminal of a new session."""
    _interruptible()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux says that the other end of a terminal was closed
        return b""
