"""`tooldrawer` on the command line."""

import logging
import os
import signal
import sys
import threading
from contextlib import suppress

import typer

from tooldrawer.cli.app import app
from tooldrawer.cli.output import drop, notice, prepare, show
from tooldrawer.errors import ToolDrawerError

_WRONG = 2
_INTERRUPTED = 130
_TRACEBACK = "TOOLDRAWER_TRACEBACK"
_WORKER = "AnyIO worker thread"


def main() -> None:
    """Run a command. What goes wrong is one sentence on standard error and exit code 2."""
    prepare()
    if not os.environ.get(_TRACEBACK):
        # Where the library logs, a person wants the sentence; whoever configures logging gets more.
        logging.lastResort = _Notices(logging.WARNING)
    try:
        code = _run()
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except typer.TyperException as error:
        code = _usage(error)
    except ToolDrawerError as error:
        notice(str(error))
        code = _WRONG
    except Exception as error:  # the last boundary: no traceback ever reaches a user
        if os.environ.get(_TRACEBACK):
            raise
        code = _broken(error)
    _leave(code)


def _run() -> int:
    """The command's exit code; 0 when the reader of its output went away, as `head` does."""
    try:
        code = app(prog_name="tooldrawer", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        drop()
        return 0
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return 0  # what rich makes of it is an exit
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is None:
            raise
        raise KeyboardInterrupt from group  # in a task, between two places that wait for it
    return code if isinstance(code, int) else 0


class _Notices(logging.Handler):
    """Shows what the library logs as sentences, without the traceback."""

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        notice(record.getMessage() + (f" ({_reason(cause)})" if cause else ""))


def _usage(error: typer.TyperException) -> int:
    message = error.format_message().rstrip(".")
    if type(error).__name__ == "NoArgsIsHelpError":  # typer does not export it; it holds the help
        show(message)
        return 0
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "tooldrawer"
    notice(f"{message}{'' if message.endswith('?') else '.'} See {command} --help.")
    return _WRONG


def _broken(error: Exception) -> int:
    if isinstance(error, OSError):  # a full disk, a file that is gone: nobody's mistake in here
        drop()
        place = f"{error.filename}: " if error.filename else ""
        notice(f"Cannot go on: {place}{error.strerror or error}.")
    else:
        notice(
            f"Something went wrong inside tooldrawer ({_reason(error)}); "
            f"set {_TRACEBACK}=1 to see where, and please report it."
        )
    return _WRONG


def _reason(error: BaseException) -> str:
    return ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))


def _leave(code: int) -> None:
    """Exit, without waiting for a function that was given up on and still holds its thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # one Ctrl-C is enough
    if code == _INTERRUPTED:
        notice("Stopped.")
    workers = [thread for thread in threading.enumerate() if thread.name == _WORKER]
    for thread in workers:
        thread.join(timeout=0.1)  # an idle one is on its way out
    if any(thread.is_alive() for thread in workers):
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)
    sys.exit(code)
