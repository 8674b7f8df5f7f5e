"""The core: import, assembly, pass-through, change, memory, and how they grow."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio
import numpy as np

from tooldrawer.bench.measure import seconds, seconds_async
from tooldrawer.bench.report import Row
from tooldrawer.bridge import BridgeNames, bridge_tools
from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.catalog import Catalog
from tooldrawer.demo.desk import toolsets
from tooldrawer.drawer import Drawer
from tooldrawer.errors import CatalogFileError, ToolFailed
from tooldrawer.recorded import StaticToolset
from tooldrawer.search import LEXICAL, SearchEngine
from tooldrawer.search.embedder import Vectors, shipped
from tooldrawer.tokens import Estimate, SchemaCosts, compact, default_counter
from tooldrawer.tool import Tool
from tooldrawer.toolset import Toolset
from tooldrawer.wire import openai

GROUPS = ("core", "growth")
"""The tables that the rows stand in."""
_SEARCH_BARS = {10_000: 6.0, 100_000: 30.0}
_MANY = 10_000
_SERVER = 50
_QUERIES = (
    "create an issue",
    "list files in a folder",
    "convert units",
    "send a message to a user",
)
_IMPORT = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"
_MEMORY = (
    "import sys; from tooldrawer.bench.core import load_and_index; "
    "from tooldrawer.bench.measure import resident_megabytes; "
    "load_and_index(sys.argv[1], int(sys.argv[2])); print(resident_megabytes())"
)
_BARE_MEMORY = (
    "from tooldrawer.bench.measure import resident_megabytes; print(resident_megabytes())"
)


class Given:
    """A toolset of tools that are only counted, found and shown."""

    def __init__(self, name: str, tools: Sequence[Tool]) -> None:
        self.name = name
        self._tools = tuple(tools)

    def tools(self) -> Sequence[Tool]:
        """The tools."""
        return self._tools

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Refuse: nothing is behind them.

        Raises:
            ToolFailed: Always.
        """
        raise ToolFailed(f"{tool.name!r} is only measured.")


def run(
    catalog: Path | None, *, sizes: Sequence[int], report_progress: Callable[[str], None]
) -> list[Row]:
    """Measure every row over the recorded lists at `catalog`, or over the demo's tools.

    `report_progress` receives a line before each step, since the whole run takes minutes.

    Raises:
        CatalogFileError: The lists cannot be read, or have no tools.
    """
    with toolsets() as bundled:
        found: tuple[Toolset, ...] = StaticToolset.load_all(catalog) if catalog else bundled
        tools = [tool for toolset in found for tool in toolset.tools()]
        if not tools:
            raise CatalogFileError(f"{catalog}: has no tools, so there is nothing to measure.")
        steps: list[tuple[str, Callable[[], Iterable[Row]]]] = [
            ("bridge schemas and token estimate", lambda: _token_rows(tools)),
            ("import time", _import_rows),
            ("assembly", lambda: anyio.run(partial(_assembly_rows, found, len(tools)))),
            ("index and search", lambda: _search_rows(tools)),
            ("adding one server", lambda: [_change_row(tools)]),
            ("memory", lambda: [_memory_row(catalog)]),
            *_growth_steps(tools, sizes, str(catalog or "")),
        ]
        rows: list[Row] = []
        for number, (subject, measure) in enumerate(steps, start=1):
            report_progress(f"[{number}/{len(steps)}] Measuring {subject} ...")
            rows += measure()
    return rows


def load_and_index(catalog: str, size: int) -> None:
    """What the memory rows measure, in a process of its own; size 0 means the tools as found."""
    with nullcontext(StaticToolset.load_all(catalog)) if catalog else toolsets() as found:
        drawer, engine = Drawer(found), SearchEngine(cache=None)
        if size:
            tools = [tool for toolset in found for tool in toolset.tools()]
            drawer, engine = Drawer(_servers(tools, size)), _with_invented_vectors()
        whole = Catalog(drawer.registry.snapshot().tools)
        drawer.parts.costs.total(whole)
        engine.prepare(whole)
        engine.search(whole, _QUERIES[0])


class InventedVectors:
    """Gives tools vectors out of thin air: reading 100,000 takes minutes and times no search."""

    identity = "invented"
    batch = 512

    def __init__(self) -> None:
        self._real = shipped()
        self._random = np.random.default_rng(7)

    def tools(self, texts: Sequence[str]) -> Vectors:
        """Directions at random, as wide as the real ones."""
        width = self._real.queries(["width"]).shape[1]
        made = self._random.standard_normal((len(texts), width), dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The real ones."""
        return self._real.queries(texts)


def _with_invented_vectors() -> SearchEngine:
    return SearchEngine(embedder=InventedVectors, cache=None)


def _bridge_row() -> Row:
    tokens = default_counter().count(
        compact([openai.render(tool) for tool in bridge_tools(BridgeNames())])
    )
    return Row(what="three bridge schemas", value=tokens, unit="tokens", bar=300)


def _token_rows(tools: Sequence[Tool]) -> Iterator[Row]:
    yield _bridge_row()
    yield from _estimate_rows(tools)


def _estimate_rows(tools: Sequence[Tool]) -> Iterator[Row]:
    """How far the estimate is off, where the exact tokenizer is installed to tell."""
    if isinstance(default_counter(), Estimate):
        return
    exact = SchemaCosts(default_counter()).total(tools)
    estimate = SchemaCosts(Estimate()).total(tools)
    yield Row(
        what=f"token estimate over {len(tools):,} tools, off by",
        value=abs(estimate / exact - 1) * 100,
        unit="%",
        bar=3,
        against="the exact count",
        ratio=estimate / exact,
    )


def _import_rows() -> Iterator[Row]:
    ours = min(_printed(_IMPORT.format("tooldrawer")) for _ in range(5))
    peer = min(_printed(_IMPORT.format("anyio, pydantic.main")) for _ in range(5))
    yield Row(
        what="import tooldrawer",
        value=ours,
        unit="s",
        bar=0.15,
        against="import anyio, pydantic",
        ratio=ours / peer,
    )


async def _assembly_rows(found: Sequence[Toolset], count: int) -> list[Row]:
    drawer = Drawer(found)
    tools = drawer.registry.snapshot().tools
    closed = drawer.session(context_length=1)
    opened = drawer.session(context_length=10**12)
    await closed.tools()
    await opened.tools()
    array = await closed.tools()
    active = await seconds_async(closed.tools)
    passing = await seconds_async(opened.tools)
    copying = seconds(lambda: [dict.fromkeys((tool.name,)) for tool in tools])
    dumping = seconds(lambda: json.dumps([tool.name for tool in tools]))
    return [
        Row(
            what=f"array with {len(found):,} toolsets, {count:,} tools in the drawer",
            value=array.array_tokens,
            unit="tokens",
            against=f"{array.deferrable_tokens:,} tokens without",
            ratio=array.array_tokens / array.deferrable_tokens,
        ),
        Row(
            what=f"assembly, {count:,} tools unchanged",
            value=active * 1e3,
            unit="ms",
            bar=1,
            against="json.dumps of the names",
            ratio=active / dumping,
        ),
        Row(
            what=f"pass-through, {count:,} tools",
            value=passing * 1e6,
            unit="µs",
            bar=50,
            against="a loop over the tools",
            ratio=passing / copying,
        ),
    ]


def _search_rows(tools: Sequence[Tool]) -> Iterator[Row]:
    count = f"{len(tools):,} tools"
    catalog = Catalog(tools)
    encoder = shipped()
    with TemporaryDirectory() as cache:
        fresh = _timed(lambda: SearchEngine(cache=cache).prepare(catalog))
        again = _timed(lambda: SearchEngine(cache=cache).prepare(catalog))
        engine = SearchEngine(cache=cache)
        engine.prepare(catalog)
        queries = cycle(_QUERIES)
        warm = seconds(lambda: engine.search(catalog, next(queries)))
        words = SearchEngine(recipe=LEXICAL, cache=cache)
        words.prepare(catalog)
        lexical = seconds(lambda: words.search(catalog, next(queries)))
    read = seconds(lambda: encoder.queries([next(queries)]))
    scan = seconds(
        lambda: [tool for tool in tools if "issue" in tool.description.casefold()], rounds=50
    )
    yield Row(
        what=f"index of {count}, from nothing",
        value=fresh,
        unit="s",
        bar=20,
    )
    yield Row(
        what=f"index of {count}, from the disk cache",
        value=again,
        unit="s",
        bar=0.3,
        against="from nothing",
        ratio=again / fresh,
    )
    yield Row(
        what=f"search, {count}",
        value=warm * 1e3,
        unit="ms",
        bar=3,
        against="a scan for one word",
        ratio=warm / scan,
    )
    yield Row(
        what=f"search by words alone, {count}",
        value=lexical * 1e3,
        unit="ms",
        against="the full search",
        ratio=lexical / warm,
    )
    yield Row(
        what="reading a query for its meaning",
        value=read * 1e3,
        unit="ms",
        bar=3,
        against="the full search",
        ratio=read / warm,
    )


def _change_row(tools: Sequence[Tool]) -> Row:
    many = list(islice(_varied(tools), _MANY + _SERVER))
    whole = _timed(lambda: _with_invented_vectors().prepare(Catalog(many)))
    engine = _with_invented_vectors()
    engine.prepare(Catalog(many[:_MANY]))
    grown = Catalog(many)
    change = _timed(lambda: engine.prepare(grown))
    return Row(
        what=f"one {_SERVER}-tool server added to {_MANY:,} tools",
        value=change / whole * 100,
        unit="%",
        bar=5,
        against="the full build",
        ratio=change / whole,
    )


def _memory_row(catalog: Path | None) -> Row:
    ours, bare = _printed(_MEMORY, str(catalog or ""), "0"), _printed(_BARE_MEMORY)
    return Row(
        what="memory, loaded and indexed",
        value=ours,
        unit="MB",
        bar=250,
        against="import tooldrawer alone",
        ratio=ours / bare,
    )


def _growth_steps(
    tools: Sequence[Tool], sizes: Sequence[int], catalog: str
) -> Iterator[tuple[str, Callable[[], Iterable[Row]]]]:
    """Yield one step per size; each row is compared with the same row of the previous size."""
    before: list[Row] = []

    def measure(size: int) -> list[Row]:
        rows = anyio.run(partial(_growth_rows, tools, size))
        memory = _printed(_MEMORY, catalog, str(size))
        rows.append(Row(what=f"{size:,} tools: memory, indexed", value=memory, unit="MB"))
        previous = before.copy()
        before[:] = rows
        return [
            replace(
                row,
                against="the size before" if previous else "",
                ratio=row.value / previous[at].value if previous else None,
                group="growth",
            )
            for at, row in enumerate(rows)
        ]

    for size in sizes:
        yield f"{size:,} tools", partial(measure, size)


async def _growth_rows(tools: Sequence[Tool], size: int) -> list[Row]:
    drawer = Drawer(_servers(tools, size))
    session, opened = drawer.session(context_length=1), drawer.session(context_length=10**12)
    started = perf_counter()
    await session.tools()
    first = perf_counter() - started
    await opened.tools()
    again = await seconds_async(session.tools, rounds=50)
    passing = await seconds_async(opened.tools, rounds=50)
    catalog = Catalog(drawer.registry.snapshot().tools)
    engine = _with_invented_vectors()
    engine.prepare(catalog)
    queries = cycle(_QUERIES)
    search = seconds(lambda: engine.search(catalog, next(queries)), rounds=20)
    name = f"{size:,} tools:"
    return [
        Row(what=f"{name} first assembly", value=first * 1e3, unit="ms"),
        Row(what=f"{name} assembly, unchanged", value=again * 1e3, unit="ms"),
        Row(what=f"{name} pass-through", value=passing * 1e6, unit="µs"),
        Row(what=f"{name} search", value=search * 1e3, unit="ms", bar=_SEARCH_BARS.get(size)),
    ]


def _servers(tools: Sequence[Tool], size: int) -> list[Given]:
    """`size` tools in servers of fifty."""
    made = list(islice(_varied(tools), size))
    return [
        Given(
            f"mcp-s{at}", [replace(tool, source=f"mcp-s{at}") for tool in made[at : at + _SERVER]]
        )
        for at in range(0, size, _SERVER)
    ]


def _varied(tools: Sequence[Tool]) -> Iterator[Tool]:
    """The tools over and over, each time under other names."""
    for number, tool in enumerate(cycle(tools)):
        name = f"{tool.name[:54]}_{number}"
        yield replace(tool, name=name, origin_name="", long_name="", raw={})


def _timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _printed(program: str, *arguments: str) -> float:
    command = [sys.executable, "-c", program, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
