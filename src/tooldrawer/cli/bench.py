"""`bench`: the figures, measured here and now."""

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tooldrawer.bench import core as core_bench
from tooldrawer.bench import dependencies as dependency_bench
from tooldrawer.bench.report import Row, cells, places, write
from tooldrawer.cli.opening import CatalogOption, JsonOption
from tooldrawer.cli.output import show_json, table

app = typer.Typer(no_args_is_help=True, help="Measure speed, memory and prompt cost.")


@app.callback()
def root() -> None:
    """Measure speed, memory and prompt cost."""


IntoOption = Annotated[
    list[Path] | None, typer.Option("--write", help="Put the figures into this document.")
]


@app.command()
def core(
    catalog: CatalogOption = None,
    sizes: Annotated[
        str, typer.Option("--sizes", help="Numbers of tools for the growth rows.")
    ] = ",".join(map(str, core_bench.SIZES)),
    into: IntoOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Measure import, assembly, search and memory, each against a baseline of the same run."""
    numbers = [_whole(size) for size in sizes.split(",") if size.strip()]
    _check(into, core_bench.GROUPS)
    _report("core", core_bench.run(catalog, sizes=numbers), into, as_json=json)


@app.command()
def dependencies(
    into: IntoOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Weigh what `pip install tooldrawer` brings."""
    _check(into, dependency_bench.GROUPS)
    _report("dependencies", dependency_bench.run(), into, as_json=json)


def _check(into: list[Path] | None, groups: Collection[str]) -> None:
    """Complain about a document before minutes of measuring, not after."""
    for document in into or ():
        places(document, groups)


def _report(name: str, rows: list[Row], into: list[Path] | None, *, as_json: bool) -> None:
    for document in into or ():
        write(document, rows, f"tooldrawer bench {name}")
    if as_json:
        show_json([{**asdict(row), "holds": row.holds} for row in rows])
    else:
        table(("what", "measured", "bar", "against"), [cells(row) for row in rows], numbers=3)


def _whole(size: str) -> int:
    if not size.strip().isdecimal() or not int(size):
        raise typer.BadParameter(f"--sizes takes whole numbers with commas between, not {size!r}.")
    return int(size)
