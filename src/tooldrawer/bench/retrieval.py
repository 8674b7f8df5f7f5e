"""What searches find: ours, its parts, and plain BM25, on sets of labelled queries."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING

from tooldrawer.bench.labelled import Asked, LabelledSet
from tooldrawer.bench.plain import PlainBM25
from tooldrawer.bench.report import Table
from tooldrawer.bench.scores import hit, interval, ndcg, percentile, recall
from tooldrawer.catalog import Catalog
from tooldrawer.errors import ConfigError
from tooldrawer.search import EVERYTHING, LEXICAL, Recipe, SearchEngine

if TYPE_CHECKING:
    # With numpy, which every command would wait for.
    from tooldrawer.search.embedder import Embedder

GROUP = "retrieval"
"""The table that the figures stand in."""
SUMMARY = "found"
"""The table that says in short what is found, search beside search."""
MEAN = "mean of the sets"
"""The set that stands for all of them."""
_FEW, _MOST = 5, 10
_LANGUAGE = 2
"""Letters of a language's code."""
_WARM = ("xyzzy", "привет", "你好", "こんにちは", "안녕하세요", "مرحبا", "नमस्ते")
"""The first query in each script reads its dictionaries, for all searches of the process: nobody's
own time, and the one that is measured first would be charged with it."""
_COLUMNS = (
    "set", "search", "queries", "hit@1", "recall@5 (95 %)", "recall@10", "nDCG@10",
    "false answers", "false silence", "p50 ms", "p95 ms",
)  # fmt: skip

Find = Callable[[str], Sequence[str]]
"""The names of the best ten tools for a query, best first."""
Method = Callable[[Catalog], Find]
"""Gets ready to search a catalog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A query, what was found, and how long it took."""

    asked: Asked
    ranked: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How one search did on one kind of one set; nothing where no query tells."""

    set: str
    kind: str
    """Empty for all of the set."""
    search: str
    queries: int
    unserved: int
    """How many of the queries nobody serves; the next five are about the others."""
    hit_at_1: float | None
    recall_at_5: float | None
    interval: tuple[float, float] | None
    """Where `recall_at_5` lies, for 95 of 100 such samples of queries."""
    recall_at_10: float | None
    ndcg_at_10: float | None
    false_answers: float | None
    """The part of the requests nobody serves that got an answer."""
    false_silences: float | None
    """The part of the other ones that got none."""
    p50_ms: float
    p95_ms: float


def methods(
    *,
    cache: str | None,
    ablate: bool = False,
    embedder: "Callable[[], Embedder] | None" = None,
) -> dict[str, Method]:
    """The searches that are compared, by name.

    Args:
        cache: Folder for the vectors of the tools, so that all searches make them once.
        ablate: Also the full search with one ingredient left out, for each of them. Without
            meaning it is `lexical`.
        embedder: As `SearchEngine` takes it.
    """

    def ours(recipe: Recipe) -> Method:
        return lambda catalog: _ready(
            SearchEngine(recipe=recipe, cache=cache, embedder=embedder), catalog
        )

    found: dict[str, Method] = {"full": ours(EVERYTHING), "lexical": ours(LEXICAL), "plain": _plain}
    if ablate:
        for name in Recipe.names():
            if name != "meaning":
                found[f"without {name}"] = ours(replace(EVERYTHING, **{name: False}))
    return found


def run(
    sets: Iterable[LabelledSet],
    searches: Mapping[str, Method],
    tell: Callable[[str], None] = lambda _: None,
) -> list[Figures]:
    """The figures of each search, for each set and each of its kinds, and their mean over the sets.

    `tell` is told what is measured next.

    Raises:
        ConfigError: A search cannot work here as it is meant to.
    """
    figures: list[Figures] = []
    whole: dict[str, list[list[Answered]]] = {name: [] for name in searches}
    for one in sets:
        for name, method in searches.items():
            tell(f"{one.name}: {name}, {len(one.queries):,} queries, {len(one.catalog):,} tools")
            whole[name].append(answers(one, method))
        for kind in ("", *one.kinds):
            for name, answered in whole.items():
                some = [each for each in answered[-1] if not kind or each.asked.is_of(kind)]
                figures.append(summed(some, name=one.name, kind=kind, search=name))
    if all(len(answered) > 1 for answered in whole.values()):
        figures += [_mean(figures, name, answered) for name, answered in whole.items()]
    return figures


def answers(one: LabelledSet, method: Method) -> list[Answered]:
    """What is found for each query of a set, asked once."""
    find = method(one.catalog)
    gc.collect()
    found: list[Answered] = []
    for asked in one.queries:
        started = perf_counter()
        ranked = find(asked.text)
        seconds = perf_counter() - started
        found.append(Answered(asked=asked, ranked=tuple(ranked[:_MOST]), seconds=seconds))
    return found


def summed(answered: Sequence[Answered], *, name: str, kind: str, search: str) -> Figures:
    """The figures over some answers, of which there is at least one."""
    served = [each for each in answered if each.asked.needs]
    unserved = [each for each in answered if not each.asked.needs]
    recalls = _recalls(answered)
    seconds = [each.seconds for each in answered]
    return Figures(
        set=name,
        kind=kind,
        search=search,
        queries=len(answered),
        unserved=len(unserved),
        hit_at_1=_over(hit(each.asked.needs, each.ranked) for each in served),
        recall_at_5=_over(recalls),
        interval=interval([recalls]) if recalls else None,
        recall_at_10=_over(recall(each.asked.needs, each.ranked, _MOST) for each in served),
        ndcg_at_10=_over(ndcg(each.asked.needs, each.ranked, _MOST) for each in served),
        false_answers=_over(float(bool(each.ranked)) for each in unserved),
        false_silences=_over(float(not each.ranked) for each in served),
        p50_ms=percentile(seconds, 0.5) * 1e3,
        p95_ms=percentile(seconds, 0.95) * 1e3,
    )


def table(figures: Iterable[Figures]) -> Table:
    """The figures for people."""
    return Table(
        columns=_COLUMNS, rows=[_cells(each) for each in figures], numbers=len(_COLUMNS) - 1
    )


def summary(figures: Sequence[Figures]) -> Table:
    """Recall@5 of each search side by side, by set and kind; single languages are left out."""
    searches = list(dict.fromkeys(each.search for each in figures))
    rows: list[list[str]] = []
    for name, kind in dict.fromkeys((each.set, each.kind) for each in figures):
        some = {e.search: e for e in figures if (e.set, e.kind) == (name, kind)}
        first = some[searches[0]]
        if len(kind) == _LANGUAGE:
            continue
        cells = [_short(some[search], is_first=search == searches[0]) for search in searches]
        rows.append([f"{name}: {kind}" if kind else name, f"{first.queries:,}", *cells])
    columns = ("asked", "queries", *(f"{search}: recall@5" for search in searches))
    return Table(columns=columns, rows=rows, numbers=len(columns) - 1)


def _short(figures: Figures, *, is_first: bool) -> str:
    if figures.recall_at_5 is None:
        return f"{_rate(figures.false_answers)} answered, though nobody serves it"
    return " ".join(
        filter(None, (_rate(figures.recall_at_5), _range(figures.interval) if is_first else ""))
    )


def _ready(engine: SearchEngine, catalog: Catalog) -> Find:
    engine.prepare(catalog)
    if notice := engine.notice(catalog):
        # Else the figures of words alone would stand under the full search's name.
        raise ConfigError(f"The full search cannot be measured: {notice.rstrip('.')}.")
    for text in _WARM:
        engine.search(catalog, text)
    return lambda query: [found.tool.name for found in engine.search(catalog, query, _MOST)]


def _plain(catalog: Catalog) -> Find:
    index = PlainBM25(catalog)
    return lambda query: index.search(query, _MOST)


def _mean(figures: Sequence[Figures], name: str, answered: Sequence[Sequence[Answered]]) -> Figures:
    """Every set counts the same, however many queries it has; one that cannot tell is left out."""
    own = [each for each in figures if each.search == name and not each.kind]
    strata = [recalls for recalls in map(_recalls, answered) if recalls]
    return Figures(
        set=MEAN,
        kind="",
        search=name,
        queries=sum(each.queries for each in own),
        unserved=sum(each.unserved for each in own),
        hit_at_1=_over(each.hit_at_1 for each in own),
        recall_at_5=_over(each.recall_at_5 for each in own),
        interval=interval(strata) if strata else None,
        recall_at_10=_over(each.recall_at_10 for each in own),
        ndcg_at_10=_over(each.ndcg_at_10 for each in own),
        false_answers=_over(each.false_answers for each in own),
        false_silences=_over(each.false_silences for each in own),
        p50_ms=fmean(each.p50_ms for each in own),
        p95_ms=fmean(each.p95_ms for each in own),
    )


def _recalls(answered: Iterable[Answered]) -> list[float]:
    return [recall(each.asked.needs, each.ranked, _FEW) for each in answered if each.asked.needs]


def _over(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def _cells(figures: Figures) -> list[str]:
    return [
        f"{figures.set}: {figures.kind}" if figures.kind else figures.set,
        figures.search,
        f"{figures.queries:,}",
        _rate(figures.hit_at_1),
        " ".join(filter(None, (_rate(figures.recall_at_5), _range(figures.interval)))),
        _rate(figures.recall_at_10),
        _rate(figures.ndcg_at_10),
        _rate(figures.false_answers),
        _rate(figures.false_silences),
        f"{figures.p50_ms:.2f}",
        f"{figures.p95_ms:.2f}",
    ]


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _range(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"({ends[0]:.3f} to {ends[1]:.3f})"
