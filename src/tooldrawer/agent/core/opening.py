"""Files as they are opened for a model: only regular ones, and never one that makes it wait."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from difflib import get_close_matches
from io import BufferedReader
from itertools import islice
from pathlib import Path

from tooldrawer.agent.core.workplace import Workplace, shown
from tooldrawer.errors import InvalidArguments, ToolFailed

SAMPLE = 8192
"""Bytes at the beginning that tell what a file is."""
_MOST_NAMES = 5_000
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)


@contextmanager
def opened(place: Path) -> Generator[BufferedReader]:
    """A regular file to read from.

    Raises:
        InvalidArguments: There is none at `place`.
        ToolFailed: It cannot be read.
    """
    try:
        # A device may do something when it is opened, so it is looked at before; a pipe that
        # takes the file's place in between must not make us wait, so it is looked at after too.
        require_regular(place, place.stat().st_mode)
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            require_regular(place, os.fstat(descriptor).st_mode)
            yield file
    except OSError as error:
        raise failure(place, error) from error


def require_regular(place: Path, mode: int) -> None:
    """Complain about what is no regular file.

    Raises:
        InvalidArguments: It is a folder, a pipe, a device...
    """
    if not stat.S_ISREG(mode):
        kind = next((name for test, name in _KINDS if test(mode)), "no regular file")
        raise InvalidArguments(f"{shown(place)} is {kind}, not a file. Name a regular file.")


def failure(place: Path, error: OSError) -> ToolFailed | InvalidArguments:
    """What a model is told when the system refuses."""
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return InvalidArguments(f"There is no file {shown(place)}.{_nearest(place)}")
        case PermissionError():
            return ToolFailed(
                f"{shown(place)}: permission denied. Use another file, or tell the user."
            )
        case _:
            why = error.strerror or str(error)
            return ToolFailed(f"{shown(place)}: {why}. Use another path, or tell the user.")


def _nearest(place: Path) -> str:
    """The names closest to the first part of the path that is missing."""
    missing = place
    while not missing.parent.is_dir() and missing != missing.parent:
        missing = missing.parent
    try:
        names = [entry.name for entry in islice(os.scandir(missing.parent), _MOST_NAMES)]
    except OSError:
        names = []
    near = get_close_matches(missing.name[:255], names, n=5, cutoff=0.5)
    what = f"In {shown(missing.parent)} the nearest names are {', '.join(near)}. " if near else ""
    return f" {what}Look with search_files, kind name."


def kind_of(sample: bytes) -> str:
    """What a file is by its first bytes; nothing for text."""
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    for magic, kind in _MAGIC:
        if sample.startswith(magic):
            return kind
    return "binary data" if b"\0" in sample else ""


def refuse_binary(place: Path, kind: str, size: int, workplace: Workplace) -> InvalidArguments:
    """What a model is told about a file that is no text."""
    return InvalidArguments(
        f"{shown(workplace.name(place))} is {kind}, {size:,} bytes, no text in UTF-8. "
        "Look into it with a command in the terminal."
    )
