"""Files of the tests, written and read without ceremony."""

from collections.abc import Callable
from pathlib import Path

import anyio


def put(path: Path, content: str | bytes) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def text(path: Path) -> str:
    return path.read_bytes().decode()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def commands() -> list[bytes]:
    """The command lines of all processes."""
    return [_content(path) for path in Path("/proc").glob("[0-9]*/cmdline")]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def eventually(condition: Callable[[], object]) -> None:
    """Wait for something that happens in another process."""
    with anyio.fail_after(60):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.01)
