"""`tooldrawer` on the command line."""

import os
import sys

import typer

from tooldrawer.cli.app import app
from tooldrawer.cli.output import notice
from tooldrawer.errors import ToolDrawerError

_WRONG = 2
_INTERRUPTED = 130


def main() -> None:
    """Run a command. What goes wrong is one sentence on standard error and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as in `tooldrawer tools | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        if message:  # empty after the help that no arguments ask for
            notice(f"{message}. See tooldrawer --help.")
        code = _WRONG if message else 0
    except ToolDrawerError as error:
        notice(str(error))
        code = _WRONG
    except Exception as error:  # the last boundary: no traceback ever reaches a user
        if os.environ.get("TOOLDRAWER_TRACEBACK"):
            raise
        notice(
            f"Something went wrong inside tooldrawer ({type(error).__name__}: {error}); "
            "set TOOLDRAWER_TRACEBACK=1 to see where, and please report it."
        )
        code = _WRONG
    sys.exit(code if isinstance(code, int) else 0)
