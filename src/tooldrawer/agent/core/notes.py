"""The tool that remembers: notes in one file, for all sessions to come."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Literal

from tooldrawer.agent.core.opening import failure
from tooldrawer.agent.core.writing import replace_file
from tooldrawer.errors import InvalidArguments, ToolFailed
from tooldrawer.private_files import make_private_folder, open_private

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_LARGEST = 16_000
"""Bytes of the file: what is read at the start of every conversation must stay short."""
_FARTHEST = 4 * _LARGEST
"""Bytes that are read: a person may have written more than a model could."""
_BULLET = "- "


class Notes:
    """A markdown file with one note a line; what else a person wrote into it stays."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()

    def memory(self, action: Literal["read", "add", "remove"], text: str | None = None) -> str:
        """Notes kept for later sessions.

        Args:
            text: Note to add, or part of the one to remove
        """
        if action == "read":
            return self._read() or "[no notes yet]"
        note = " ".join((text or "").split())
        if not note:
            raise InvalidArguments(f"To {action} a note, give its text in /text.")
        with self._alone():
            before = self._read()
            after = _with(before, note) if action == "add" else _without(before, note)
            self._write(after)
        return f"{'Noted' if action == 'add' else 'Removed'}. {len(after.encode()):,} bytes in all."

    def _read(self) -> str:
        try:
            with self._path.open("rb") as file:
                found = file.read(_FARTHEST + 1)
            if len(found) > _FARTHEST:  # what was not read would be lost when it is written
                raise ToolFailed(
                    f"The notes in {str(self._path)!r} have more than {_FARTHEST:,} bytes and "
                    "stay as they are. Tell the user to shorten the file."
                )
            return found.decode()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise failure(self._path, error) from error
        except UnicodeDecodeError as error:
            raise ToolFailed(
                f"The notes in {str(self._path)!r} are no UTF-8 and stay as they are. "
                "Tell the user to repair the file."
            ) from error

    def _write(self, content: str) -> None:
        try:
            written = content.encode()
        except UnicodeEncodeError as error:
            raise InvalidArguments("/text has half of a character. Correct it.") from error
        replace_file(self._path, written, new=0o600)

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Until the end of the block no other thread or process changes the file."""
        with self._lock:
            if fcntl is None:
                yield
                return
            beside = self._path.with_name(f"{self._path.name}.lock")
            try:
                make_private_folder(beside.parent)
                descriptor = open_private(beside, os.O_RDWR)
            except OSError as error:
                raise failure(beside, error) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                os.close(descriptor)


def _with(before: str, note: str) -> str:
    if f"{_BULLET}{note}" in before.splitlines():
        raise InvalidArguments("That note is there already.")
    gap = "" if not before or before.endswith("\n") else "\n"
    after = f"{before}{gap}{_BULLET}{note}\n"
    if len(after.encode(errors="replace")) > _LARGEST:
        raise InvalidArguments(
            f"The notes would have more than {_LARGEST:,} bytes. Remove some that are out of date, "
            "or write a shorter one."
        )
    return after


def _without(before: str, note: str) -> str:
    lines = before.splitlines(keepends=True)
    bare = note.removeprefix(_BULLET)
    found = [line for line in lines if line.startswith(_BULLET) and bare in " ".join(line.split())]
    exact = [line for line in found if line.strip() == f"{_BULLET}{bare}"]
    match exact or found:
        case []:
            raise InvalidArguments("No note has that text. Read them, then give part of one.")
        case [line]:
            lines.remove(line)
            return "".join(lines)
        case several:
            raise InvalidArguments(
                f"{len(several)} notes have that text. Give more of the one that you mean."
            )
