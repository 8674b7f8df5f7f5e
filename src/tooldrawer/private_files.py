"""Files that only their owner can read: created with mode 0600, in folders with mode 0700."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

try:
    import fcntl
except ImportError:  # Windows: two processes that write at the same moment may lose one change
    fcntl = None

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_O_CLOEXEC = getattr(os, "O_CLOEXEC", 0)


def make_private_folder(folder: Path) -> None:
    """Create `folder` for its owner alone, with its parents; one that exists keeps its mode.

    Raises:
        OSError: It cannot be created.
    """
    folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)


def open_private(path: Path, flags: int, *, restrict: bool = True) -> int:
    """Open a file that is created, if missing, for its owner alone.

    An existing file that everyone can read was made by an earlier version, and becomes private with
    `restrict`. One that is closed to others keeps its mode: a group may have been given access on
    purpose.

    Raises:
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_CREAT | _O_CLOEXEC, _FILE_MODE)
    if restrict:
        with suppress(OSError):  # another user's file, to which we may only append
            restrict_access(path)
    return descriptor


def restrict_access(path: Path) -> None:
    """Make an existing file private if everyone can read or write it.

    Raises:
        OSError: It is missing, or another user's.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) and mode & stat.S_IRWXO:
        path.chmod(_FILE_MODE)


def replace_private(path: Path, data: bytes) -> None:
    """Write a private file so that readers see the old content or the new, also after a crash.

    Raises:
        OSError: It cannot be written; the old content stays.
    """
    make_private_folder(path.parent)
    draft: Path | None = None
    try:
        # Created with mode 0600, under a name of its own: processes must not share a draft.
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.stem}-", delete=False) as file:
            draft = Path(file.name)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _sync_folder(path.parent)
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)


def stamp_file(path: Path) -> tuple[int, ...] | None:
    """Return what differs after any change of a file; nothing when there is no file.

    Raises:
        OSError: It cannot be looked at.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    # Its last change of any kind counts: a file may become readable without new content.
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@contextmanager
def lock_beside(path: Path) -> Generator[None]:
    """Exclude other processes and threads that lock the same path, until the block ends.

    The lock is a file beside it, because the file itself is replaced. A killed process lets go.

    Raises:
        OSError: The lock file cannot be created.
    """
    if fcntl is None:
        yield
        return
    make_private_folder(path.parent)
    descriptor = open_private(path.with_name(f"{path.name}.lock"), os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; systems that cannot do this for a folder refuse it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | _O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
