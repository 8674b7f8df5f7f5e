"""Whether a program still has a file open for writing."""

import errno
import os
import signal
import stat
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


def is_open_for_writing(path: Path) -> bool:
    """Whether some process has the file open for writing; false also where that is unknown.

    It is unknown on systems other than Linux, on most network drives, and for other users' files.
    """
    if fcntl is None or not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would take part in it
            return False
        descriptor = os.open(path, _OPEN_FLAGS)
    except OSError:
        return False
    try:
        # A program that opens the file during the lease waits until it is released, and we get a
        # signal: by default SIGIO, which ended a process within seconds while another one opened
        # the file in a loop. SIGURG is ignored by default.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(descriptor)
    return False
