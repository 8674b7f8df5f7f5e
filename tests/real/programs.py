"""Programs that run while tests do."""

import os
import re
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

_ADDRESS = re.compile(r"https?://[\w.]+:[1-9]\d*")
_PATIENCE = 60.0
"""Seconds to start on a machine that is busy with other tests."""
_GRACE = 60.0


class Said:
    """What a program wrote so far, read in a thread, and the first address in it."""

    def __init__(self, stream: IO[str]) -> None:
        self.lines: list[str] = []
        self.address = ""
        self.is_decided = threading.Event()
        """It said where it listens, or it ended."""
        self._stream = stream
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        for line in self._stream:
            self.lines.append(line)
            found = _ADDRESS.search(line)
            if found and not self.address:
                self.address = found[0]
                self.is_decided.set()
        self.is_decided.set()

    @property
    def text(self) -> str:
        return "".join(self.lines)


@contextmanager
def listening(command: Sequence[str], env: Mapping[str, str]) -> Generator[str]:
    """Run a server that says where it listens; gives the address, and stops it."""
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = Said(process.stdout)
        try:
            said.is_decided.wait(_PATIENCE)
            assert said.address, f"{command} did not say where it listens:\n{said.text}"
            yield said.address
        finally:
            process.terminate()
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"{command} did not stop:\n{said.text}") from None
            finally:
                said.thread.join(_GRACE)
