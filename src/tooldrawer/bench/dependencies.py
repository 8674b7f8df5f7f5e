"""What each dependency weighs, installed here."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, requires
from pathlib import Path

from tooldrawer.bench.report import Row

GROUPS = ("dependencies",)
"""The table that the rows stand in."""
_GROUP = GROUPS[0]
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def run() -> list[Row]:
    """The size of every direct dependency, and of all that `pip install tooldrawer` brings."""
    direct = sorted(_required("tooldrawer"))
    everything = sorted(_closure(direct))
    rows = [
        Row(what=name, value=_megabytes(distribution(name)), unit="MB", group=_GROUP)
        for name in direct
    ]
    total = sum(_megabytes(distribution(name)) for name in everything)
    return [
        *rows,
        Row(what=f"all {len(everything)} packages together", value=total, unit="MB", group=_GROUP),
    ]


def _required(name: str) -> Iterator[str]:
    """The packages that `name` needs here; extras, and what other systems need, left out."""
    for line in requires(name) or ():
        found = _NAME.match(line)
        if found and "extra ==" not in line and _is_installed(found.group()):
            yield found.group().lower().replace("_", "-")


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _closure(names: list[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _required(name)
    return found


def _megabytes(package: Distribution) -> float:
    files = [Path(str(package.locate_file(file))) for file in package.files or ()]
    counted = [file for file in files if file.suffix != ".pyc" and file.is_file()]
    return sum(file.stat().st_size for file in counted) / 1e6
