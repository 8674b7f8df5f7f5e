"""Changing somebody's file: as a whole or not at all, and so that it can be taken back."""

import os
import re
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

from tooldrawer.errors import ConfigError

_ENDING = ".tooldrawer-backup"
_WAS_ABSENT = "-new"
_UNDONE = ".undone"
_DIGITS = 16
_NAME = re.compile(
    rf"\.\d{{8}}T\d{{12}}-(?P<digest>[0-9a-f]{{{_DIGITS}}})(?P<absent>{_WAS_ABSENT})?"
    + re.escape(_ENDING)
)
"""What follows a file's own name: when it was changed, and what the change made of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A file as it was before a change; its name tells what the change made of it."""

    path: Path
    before: bytes | None
    """Nothing when there was no file."""
    digest: str

    def is_of(self, data: bytes | None) -> bool:
        """Whether `data` is what the change made, and nobody has changed since."""
        return data is not None and _digest(data) == self.digest


def read(path: Path) -> bytes | None:
    """A file's bytes; nothing when there is no file.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from error


def write(
    path: Path, data: bytes, *, before: bytes | None, is_undoable: bool = True
) -> Path | None:
    """Put `data` in the place of `before`, and keep that beside it; the path of the backup.

    A link stays: what it points to is changed. A new file that need not be undone has no backup.

    Raises:
        ConfigError: The file changed since `before` was read, or cannot be written.
    """
    target = path.resolve()
    check_unchanged(path, before)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        is_kept = is_undoable or before is not None
        backup = _kept(target, data, before) if is_kept else None
        _replaced(target, data)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error
    return backup


def check_unchanged(path: Path, before: bytes | None) -> None:
    """Refuse to go on when somebody else wrote the file.

    Raises:
        ConfigError: It is not `before` any more.
    """
    if read(path) != before:
        raise ConfigError(f"{path}: was changed meanwhile and is left as it is; try again.")


def last_backup(path: Path) -> Backup:
    """What is beside `path` from its last change.

    Raises:
        ConfigError: There is none.
    """
    target = path.resolve()
    pattern = re.compile(re.escape(target.name) + _NAME.pattern)
    beside = target.parent.iterdir() if target.parent.is_dir() else ()
    kept = sorted(one for one in beside if pattern.fullmatch(one.name))
    match = pattern.fullmatch(kept[-1].name) if kept else None
    if match is None:
        raise ConfigError(f"{path}: there is nothing to undo; no backup is beside it.")
    before = None if match["absent"] else read(kept[-1])
    return Backup(path=kept[-1], before=before, digest=match["digest"])


def restore(path: Path, backup: Backup) -> None:
    """Make `path` what it was, to the byte; the backup has done its work.

    Raises:
        ConfigError: It cannot be written.
    """
    target = path.resolve()
    try:
        if backup.before is None:
            target.unlink()
        else:
            _replaced(target, backup.before)
        backup.path.unlink()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error


def rewrite(path: Path, data: bytes, backup: Backup) -> Path:
    """Put `data` in the place of a file that others changed too; the backup is kept as undone.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        _replaced(path.resolve(), data)
        return backup.path.rename(backup.path.with_name(backup.path.name + _UNDONE))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error


def difference(path: Path, before: str, after: str) -> str:
    """What changes, as lines with + and -; empty when nothing does."""
    lines = unified_diff(
        before.splitlines(), after.splitlines(), f"{path}", f"{path} (new)", lineterm="", n=2
    )
    return "\n".join(lines)


def _kept(target: Path, data: bytes, before: bytes | None) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    absent = _WAS_ABSENT if before is None else ""
    backup = target.with_name(f"{target.name}.{stamp}-{_digest(data)}{absent}{_ENDING}")
    mode = 0o600 if before is None else stat.S_IMODE(target.stat().st_mode)
    descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(before or b"")
    backup.chmod(mode)
    return backup


def _replaced(target: Path, data: bytes) -> None:
    """Write beside it, then rename: whoever reads meanwhile sees the old or the new one."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else _usual_mode())
        new.replace(target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGITS]
