"""`bench`: the figures, measured here and now."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tooldrawer.bench import core as core_bench
from tooldrawer.bench.report import cells, write
from tooldrawer.cli.opening import CatalogOption, JsonOption
from tooldrawer.cli.output import show_json, table

app = typer.Typer(no_args_is_help=True, help="Measure speed, memory and prompt cost.")


@app.callback()
def root() -> None:
    """Measure speed, memory and prompt cost."""


@app.command()
def core(
    catalog: CatalogOption = None,
    sizes: Annotated[
        str, typer.Option("--sizes", help="Numbers of tools for the growth rows.")
    ] = ",".join(map(str, core_bench.SIZES)),
    into: Annotated[
        Path | None, typer.Option("--write", help="Put the figures into this document.")
    ] = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Measure import, assembly, search and memory, each against a baseline of the same run."""
    numbers = [_whole(size) for size in sizes.split(",") if size.strip()]
    rows = core_bench.run(catalog, sizes=numbers)
    if into is not None:
        write(into, "core", rows, "tooldrawer bench core")
    if json:
        show_json([{**asdict(row), "holds": row.holds} for row in rows])
    else:
        table(("what", "measured", "bar", "against"), [cells(row) for row in rows], numbers=3)


def _whole(size: str) -> int:
    if not size.strip().isdigit() or not int(size):
        raise typer.BadParameter(f"--sizes takes whole numbers with commas between, not {size!r}.")
    return int(size)
