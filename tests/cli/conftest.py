from pathlib import Path

import pytest

from tests.cli.catalogs import write_catalogs
from tests.cli.shell import Shell

WORKSHOP = '''
import sys
from threading import Event

import anyio

from tooldrawer import Function, FunctionToolset


def measure_length(item: str, unit: str = "mm") -> str:
    """Measure how long an item is."""
    return f"{item}: 40 {unit}"


def measure_weight(item: str) -> dict[str, float]:
    """Measure how heavy an item is."""
    return {item: 1.5}


def count_nails(boxes: int) -> int:
    """Count the nails in some boxes."""
    return boxes * 100


def burn_scraps(bin: int) -> str:
    """Burn what is in a bin."""
    return f"bin {bin} is ash"


def sharpen_saw(teeth: int) -> str:
    """Sharpen a saw."""
    raise RuntimeError(f"the file broke at tooth {teeth}")


def print_label() -> str:
    """Print a label in colour."""
    return "before\\x1b[2Jafter\\ttab\\r\\nnext \\u202eline"


async def wait_for_glue() -> None:
    """Wait until the glue is dry."""
    print("waiting", file=sys.stderr, flush=True)
    await anyio.sleep_forever()


def hold_clamp() -> None:
    """Hold the clamp until somebody else does."""
    print("waiting", file=sys.stderr, flush=True)
    Event().wait()


tools = FunctionToolset(
    "workshop",
    [
        Function(measure_length, read_only=True),
        Function(measure_weight, read_only=True),
        Function(burn_scraps, destructive=True),
        count_nails,
        sharpen_saw,
        print_label,
        wait_for_glue,
        hold_clamp,
    ],
)
'''
CONFIG = """\
toolsets: ["workshop:tools"]
scopes:
  measuring: {allow: ["measure_*"]}
approvals: {ask: ["burn_*"]}
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell in an empty folder."""
    return Shell(tmp_path)


@pytest.fixture
def library(shell: Shell) -> Shell:
    """A shell in a folder with the recorded lists in `lists/`."""
    write_catalogs(shell.folder / "lists")
    return shell


@pytest.fixture
def workshop(shell: Shell) -> Shell:
    """A shell in a folder with `tooldrawer.yaml` and the Python module that it names."""
    shell.write("workshop.py", WORKSHOP)
    shell.write("tooldrawer.yaml", CONFIG)
    return shell
