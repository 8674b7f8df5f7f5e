"""`bench`: the figures, measured here and now."""

import sys
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from tooldrawer.bench import dependencies as dependency_bench
from tooldrawer.bench.report import Row, cells, places, tables, write
from tooldrawer.cli.opening import CatalogOption, JsonOption
from tooldrawer.cli.output import notice, show_json, table

_PURPOSE = "Measure speed, memory, prompt cost and what searches find."

app = typer.Typer(no_args_is_help=True, help=_PURPOSE)


@app.callback(help=_PURPOSE)
def root() -> None:
    """Hold the benchmarks together."""


IntoOption = Annotated[
    list[Path] | None, typer.Option("--write", help="Put the figures into this document.")
]


@app.command()
def core(
    catalog: CatalogOption = None,
    sizes: Annotated[
        str, typer.Option("--sizes", help="Numbers of tools for the growth rows.")
    ] = "100,1000,10000,100000",
    into: IntoOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Measure import, assembly, search and memory, each against a baseline of the same run."""
    # Imported here: numpy is a tenth of a second that no other command should wait for.
    from tooldrawer.bench import core as core_bench  # noqa: PLC0415

    numbers = [_whole(size) for size in sizes.split(",") if size.strip()]
    _check(into, core_bench.GROUPS)
    rows = core_bench.run(catalog, sizes=numbers, report_progress=notice)
    _report("core", rows, into, as_json=json)


@app.command()
def dependencies(
    into: IntoOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Weigh what `pip install tooldrawer` brings."""
    _check(into, dependency_bench.GROUPS)
    _report("dependencies", dependency_bench.run(), into, as_json=json)


@app.command()
def gateway(
    fastmcp: Annotated[
        str | None,
        typer.Option(
            "--fastmcp", metavar="PYTHON", help="A Python that has fastmcp, to measure its proxy."
        ),
    ] = None,
    quick: Annotated[  # noqa: FBT002
        bool, typer.Option("--quick", help="Few calls: shows that it runs, measures little.")
    ] = False,
    into: IntoOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Measure what the gateway adds to a call, its start and its memory; 1 when a bar is missed."""
    # Imported here: MCP is half a second that no other command needs.
    from tooldrawer.bench import gateway as gateway_bench  # noqa: PLC0415

    _check(into, gateway_bench.GROUPS)
    effort = gateway_bench.QUICK if quick else gateway_bench.FULL
    rows = gateway_bench.run(fastmcp=fastmcp, effort=effort)
    shown = gateway_bench.tables(rows)
    for document in into or ():
        write(document, shown, "tooldrawer bench gateway")
    if json:
        show_json([{**asdict(row), "holds": row.holds} for row in rows])
    else:
        for each in shown.values():
            table(each.columns, each.rows, numbers=each.numbers)
    if any(row.holds is False for row in rows):
        raise typer.Exit(1)


@app.command()
def retrieval(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="A set, tools.jsonl and queries.jsonl in a folder, or a folder of sets."
        ),
    ] = None,
    catalog: CatalogOption = None,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", help="Queries over --catalog: a .tsv file, or a folder of them."),
    ] = None,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help="Only queries of this kind.")
    ] = None,
    sets: Annotated[list[str] | None, typer.Option("--set", help="Only the set so named.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="At most so many queries of each set.")
    ] = None,
    ablate: Annotated[  # noqa: FBT002  typer's way to write a flag
        bool, typer.Option("--ablate", help="Also leave out each ingredient of the search.")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="Where the vectors of tools are kept for the next time."),
    ] = None,
    into: IntoOption = None,
    json: JsonOption = False,  # noqa: FBT002
) -> None:
    """Measure what searches find on labelled queries: ours, by words alone, and plain BM25."""
    if (catalog is None) != (queries is None) or (data is None and catalog is None):
        raise typer.BadParameter(
            "Say what to search and what for: --data DIR, or --catalog DIR and --queries PATH"
        )
    # Imported here: numpy, as above.
    from tooldrawer.bench import labelled  # noqa: PLC0415
    from tooldrawer.bench import retrieval as retrieval_bench  # noqa: PLC0415

    _check(into, (retrieval_bench.GROUP, retrieval_bench.SUMMARY))
    found = labelled.load(data=data, catalog=catalog, queries=queries, names=sets or ())
    with nullcontext(str(cache)) if cache else TemporaryDirectory() as folder:
        figures = retrieval_bench.run(
            labelled.chosen(found, kinds or (), sample),
            retrieval_bench.methods(cache=folder, ablate=ablate),
            notice if sys.stderr.isatty() else lambda _: None,
        )
    shown = retrieval_bench.table(figures)
    groups = {
        retrieval_bench.GROUP: shown,
        retrieval_bench.SUMMARY: retrieval_bench.summary(figures),
    }
    for document in into or ():
        write(document, groups, "tooldrawer bench retrieval")
    if json:
        show_json([asdict(each) for each in figures])
    else:
        table(shown.columns, shown.rows, numbers=shown.numbers)


def _check(into: list[Path] | None, groups: Collection[str]) -> None:
    """Complain about a document before minutes of measuring, not after."""
    for document in into or ():
        places(document, groups)


def _report(name: str, rows: list[Row], into: list[Path] | None, *, as_json: bool) -> None:
    for document in into or ():
        write(document, tables(rows), f"tooldrawer bench {name}")
    if as_json:
        show_json([{**asdict(row), "holds": row.holds} for row in rows])
    else:
        table(("what", "measured", "bar", "against"), [cells(row) for row in rows], numbers=3)


def _whole(size: str) -> int:
    if not size.strip().isdecimal() or not int(size):
        raise typer.BadParameter(f"--sizes takes whole numbers with commas between, not {size!r}.")
    return int(size)
