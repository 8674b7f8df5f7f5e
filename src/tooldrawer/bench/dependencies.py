"""What each dependency weighs, installed here."""

import re
from collections.abc import Iterator
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    metadata,
    requires,
)
from pathlib import Path

from tooldrawer.bench.report import Row

GROUPS = ("dependencies",)
"""The table that the rows stand in."""
_GROUP = GROUPS[0]
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"""extra == ['"]([A-Za-z0-9._-]+)""")


def run() -> list[Row]:
    """The size of each direct dependency, of all that an installation brings, and of each extra."""
    direct = sorted(_required("tooldrawer"))
    everything = sorted(_closure(direct))
    rows = [
        Row(what=name, value=_megabytes(distribution(name)), unit="MB", group=_GROUP)
        for name in direct
    ]
    return [
        *rows,
        _together(f"all {len(everything)} packages together", everything),
        *(_extra(name, set(everything)) for name in _extras() if any(_required_by(name))),
    ]


def _extra(name: str, there: set[str]) -> Row:
    """What an extra adds, with everything that it needs."""
    added = _closure(list(_required_by(name))) - there
    count = f"{len(added)} package{'' if len(added) == 1 else 's'}"
    return _together(f"`{name}` adds {count}", sorted(added))


def _together(what: str, names: list[str]) -> Row:
    total = sum(_megabytes(distribution(name)) for name in names)
    return Row(what=what, value=total, unit="MB", group=_GROUP)


def _extras() -> list[str]:
    return sorted(metadata("tooldrawer").get_all("Provides-Extra") or ())


def _required_by(extra: str) -> Iterator[str]:
    """The packages of an extra, where it is installed here."""
    for line in requires("tooldrawer") or ():
        found, marker = _NAME.match(line), _EXTRA.search(line)
        if found and marker and marker.group(1) == extra and _is_installed(found.group()):
            yield found.group().lower().replace("_", "-")


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
