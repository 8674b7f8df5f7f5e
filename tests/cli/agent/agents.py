"""Agents of a scripted model, and what they leave behind."""

import os
from pathlib import Path
from select import select

from tests.models.server import ModelServer


def at(server: ModelServer) -> tuple[str, ...]:
    """The options that lead to the scripted model."""
    return ("--base-url", f"{server.url}/v1", "--model", "scripted")


class Lasting:
    """A command that runs until somebody ends it, and tells its process id."""

    def __init__(self, folder: Path) -> None:
        self._pipe = folder / "pid.pipe"
        os.mkfifo(self._pipe)
        self.command = f"echo $$ > {self._pipe}; exec sleep 1000"

    def started(self) -> int:
        """Wait until it runs; its process id."""
        return int(self._pipe.read_text())


def ends(process: int, *, within: float = 60.0) -> bool:
    """Wait for the end of a process that is nobody's child any more; whether it came."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select([descriptor], [], [], within)[0])
    finally:
        os.close(descriptor)


def is_there(process: int) -> bool:
    """Whether a process runs, or nobody has taken note of its end."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
