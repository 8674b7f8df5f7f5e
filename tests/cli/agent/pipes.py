"""`tooldrawer` with lines piped into it."""

import subprocess
from collections.abc import Sequence

from tests.cli.shell import PATIENCE, Ran, Shell


def piped(shell: Shell, *arguments: str, lines: Sequence[str]) -> Ran:
    """Run a command with these lines on its standard input."""
    with shell.started(*arguments, stdin=subprocess.PIPE) as process:
        out, err = process.communicate("".join(f"{line}\n" for line in lines), timeout=PATIENCE)
        return Ran(process.returncode, out, err)
