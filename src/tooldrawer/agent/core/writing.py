"""The tools that write files: whole ones, and a piece of one."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from threading import Lock

from tooldrawer.agent.core.difference import difference
from tooldrawer.agent.core.opening import (
    SAMPLE,
    failure,
    kind_of,
    opened,
    refuse_binary,
    require_regular,
)
from tooldrawer.agent.core.replacing import replaced
from tooldrawer.agent.core.workplace import Workplace, shown
from tooldrawer.errors import InvalidArguments, ToolFailed

_LARGEST = 10_000_000
"""Bytes of a file that can be patched."""


class Writer:
    """Files in the workplace, replaced in one step so that nobody sees half of one."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        # Two calls of one turn run at the same time, and may patch the same file.
        self._lock = Lock()

    def write_file(self, path: str, content: str) -> str:
        """Write a whole file, replacing what was there; folders are created."""
        written = _encoded(content, "content")
        with self._lock:
            place = self._workplace.inside(path)
            exists = place.exists()
            replace_file(place, written)
        lines = content.count("\n") + (not content.endswith("\n") and content != "")
        did = "Replaced" if exists else "Created"
        return f"{did} {self._workplace.name(place)}: {lines:,} lines, {len(written):,} bytes."

    def patch(self, path: str, old: str, new: str, replace_all: bool = False) -> str:  # noqa: FBT001, FBT002
        """Replace exact text in a file; returns the diff.

        Args:
            old: Unique in the file unless replace_all
        """
        _encoded(new, "new")
        with self._lock:
            place = self._workplace.inside(path)
            before = self._text(place)
            after, count = replaced(before, old, new, every=replace_all)
            replace_file(place, after.encode())
        name = self._workplace.name(place)
        times = f" in {count:,} places" if count > 1 else ""
        return f"Changed {name}{times}.\n{difference(before, after)}"

    def _text(self, place: Path) -> str:
        with opened(place) as file:
            size = os.fstat(file.fileno()).st_size
            if size > _LARGEST:
                raise InvalidArguments(
                    f"{shown(place)} has {size:,} bytes, too many to patch. Use the terminal."
                )
            content = file.read(_LARGEST + 1)
        kind = kind_of(content[:SAMPLE])
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            kind = kind or "text in another encoding"
            raise refuse_binary(place, kind, size, self._workplace) from error
        if kind:
            raise refuse_binary(place, kind, size, self._workplace)
        return text


def replace_file(place: Path, content: bytes, *, new: int | None = None) -> None:
    """Put `content` in the place of a file in one step; its permissions stay, `new` is for none.

    Raises:
        InvalidArguments: What is there is no file.
        ToolFailed: The system refuses.
    """
    draft = place.with_name(f".{secrets.token_hex(8)}.new")
    try:
        mode = _mode(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(draft, content, new if mode is None else mode)
            draft.replace(place)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise _refused(place, error) from error


def _mode(place: Path) -> int | None:
    """The permissions of the file that is there; to replace one that is read-only is refused."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return None
    require_regular(place, mode)
    if not os.access(place, os.W_OK):
        raise PermissionError
    return stat.S_IMODE(mode)


def _write(draft: Path, content: bytes, mode: int | None) -> None:
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode or 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    if mode is not None:
        draft.chmod(mode)


def _refused(place: Path, error: OSError) -> ToolFailed | InvalidArguments:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return InvalidArguments(
            f"{shown(place)} cannot be written: something on the way to it is a file, no folder. "
            "Give another path."
        )
    return failure(place, error)


def _encoded(text: str, argument: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArguments(
            f"/{argument} has half of a character at {error.start}, which no file can hold. "
            "Correct it and call again."
        ) from error
