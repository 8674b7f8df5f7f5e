"""How a client reaches the gateway: a command to start, or an address."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PROGRAM = ("tooldrawer", "tooldrawer.exe")
_SHORT_LIVED = "archive-v"
"""What uv calls the folders of programs that it fetched for one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What stands in a client's list."""

    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values that the gateway needs in its environment; none of them is secret."""
    variables: tuple[str, ...] = ()
    """What its configuration fills in from the environment."""
    token: str = field(default="", repr=False)
    """What the address wants as a bearer token."""
    token_variable: str = ""
    """The variable that has the token, instead."""
    approves_tools: bool = False
    """Whether the client may call every tool without asking a person."""


def launch_of_this_program(
    arguments: Sequence[str], *, started_as: str | None = None, python: str | None = None
) -> Launch:
    """The command that starts this very program with `arguments`, from any folder.

    Clients start their servers with another search path and in another folder than a terminal.
    """
    program = Path(sys.argv[0] if started_as is None else started_as).absolute()
    if any(part.startswith(_SHORT_LIVED) for part in program.parts):
        return Launch(command=shutil.which("uvx") or "uvx", args=("tooldrawer", *arguments))
    if program.name in _PROGRAM and program.is_file():
        return Launch(command=str(program), args=tuple(arguments))
    return Launch(command=python or sys.executable, args=("-m", "tooldrawer", *arguments))
