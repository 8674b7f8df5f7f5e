"""Whether a person started this process at a terminal."""

import os
import sys


def is_attended() -> bool:
    """Whether standard input is this process's controlling terminal, and it runs in the foreground.

    A command that an agent runs has a pipe or nothing there. This does not stop a program of the
    same user that opens a pseudo-terminal on purpose; nothing in this process could.
    """
    try:
        descriptor = sys.stdin.fileno()
        if not hasattr(os, "tcgetpgrp"):  # Windows
            return os.isatty(descriptor)
        # Refused for any terminal that is not the controlling one.
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except (OSError, ValueError, AttributeError):  # it is closed, missing or not a terminal
        return False
