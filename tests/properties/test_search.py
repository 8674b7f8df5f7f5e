"""The same catalog and the same query give the same hits, whatever came before."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tooldrawer import Catalog, Hit, SearchEngine, Tool
from tooldrawer.tool import JsonObject

# Few words, so that many tools share them and many scores are equal.
WORDS = ("create", "list", "issue", "issues", "file", "user", "s3", "größe", "getURL", "the")
SERVERS = ("mcp-hub", "mcp-lab", "desk", "")
phrases = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
queries = phrases | any_text | st.sampled_from(("hub", "hub.create", "CREATE_0", "eat", "u", ""))


@st.composite
def tools(draw: DrawFn, number: int) -> Tool:
    word, server = draw(st.sampled_from(WORDS[:6])), draw(st.sampled_from(SERVERS))
    properties: JsonObject = {
        name: {"type": "string", "description": draw(phrases)}
        for name in draw(st.lists(st.sampled_from(WORDS), max_size=2, unique=True))
    }
    return Tool(
        name=f"{word}_{number}",
        description=draw(phrases),
        source=server,
        parameters={"type": "object", "properties": properties},
    )


@st.composite
def pools(draw: DrawFn, most: int = 12) -> list[Tool]:
    """Tools of different names."""
    return [draw(tools(number)) for number in range(draw(st.integers(1, most)))]


@st.composite
def histories(draw: DrawFn) -> list[Catalog]:
    """Catalogs one after the other: tools are added, removed, changed, and come back."""
    pool = draw(pools())
    edited = [replace(tool, description=f"{tool.description} list file") for tool in pool]
    catalogs: list[Catalog] = []
    for _ in range(draw(st.integers(1, 6))):
        kept = [
            draw(st.sampled_from(pair))
            for pair in zip(pool, edited, strict=True)
            if draw(st.integers(0, 3))
        ]
        catalogs.append(Catalog(kept))
    return catalogs


def found(hits: Sequence[Hit]) -> list[tuple[Tool, float]]:
    return [(hit.tool, hit.score) for hit in hits]


@requirement("SEARCH-4")
@quick(100)
@given(
    history=histories(),
    asked=st.lists(queries, min_size=1, max_size=3),
    limit=st.integers(1, 8),
    keep=st.integers(1, 4),
)
def test_an_index_that_grew_gives_the_very_hits_and_scores_of_a_new_one(
    history: list[Catalog], asked: list[str], limit: int, keep: int
) -> None:
    grown = SearchEngine(keep=keep)
    for catalog in history:
        fresh = SearchEngine()
        for query in asked:
            expected = found(fresh.search(catalog, query, limit))
            assert found(grown.search(catalog, query, limit)) == expected


@requirement("SEARCH-4")
@quick(100)
@given(data=st.data(), pool=pools(), query=queries, limit=st.integers(1, 8))
def test_hits_do_not_depend_on_the_order_of_the_catalog(
    data: st.DataObject, pool: list[Tool], query: str, limit: int
) -> None:
    shuffled = Catalog(data.draw(st.permutations(pool)))
    expected = found(SearchEngine().search(Catalog(pool), query, limit))
    assert found(SearchEngine().search(shuffled, query, limit)) == expected


@requirement("SEARCH-4")
@quick(100)
@given(pool=pools(), query=queries, limit=st.integers(1, 8))
def test_hits_are_of_the_catalog_at_most_the_limit_best_first_and_ties_by_name(
    pool: list[Tool], query: str, limit: int
) -> None:
    catalog = Catalog(pool)
    hits = SearchEngine().search(catalog, query, limit)
    assert len(hits) <= limit
    assert len({hit.tool.name for hit in hits}) == len(hits)
    assert all(any(hit.tool is tool for tool in catalog) for hit in hits)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.tool.name))
    more = SearchEngine().search(catalog, query, limit + 3)
    assert [hit.tool.name for hit in more[:limit]] == [hit.tool.name for hit in hits]


@requirement("SEARCH-2")
@quick(100)
@given(data=st.data(), pool=pools(), limit=st.integers(1, 3))
def test_an_exact_name_in_any_notation_and_case_is_always_first(
    data: st.DataObject, pool: list[Tool], limit: int
) -> None:
    tool = data.draw(st.sampled_from(pool))
    marks = ("__", ".", "/", "_") if tool.server else ()
    spellings = [tool.name, *(f"{tool.server}{mark}{tool.name}" for mark in marks)]
    query = data.draw(st.sampled_from([*spellings, *map(str.upper, spellings)]))
    hits = SearchEngine().search(Catalog(pool), query, limit)
    assert hits[0].tool is tool


@requirement("SEARCH-1")
@quick(60)
@given(pool=pools(), data=st.data())
def test_a_part_of_a_name_that_is_no_word_finds_the_names_that_contain_it(
    pool: list[Tool], data: st.DataObject
) -> None:
    tool = data.draw(st.sampled_from(pool))
    part = tool.name[1:4]
    names = {hit.tool.name for hit in SearchEngine().search(Catalog(pool), part, len(pool))}
    assert names == {other.name for other in pool if part in other.name}


@requirement("SEARCH-6")
@quick(40)
@given(pool=pools(), query=queries, data=st.data())
def test_equal_catalogs_share_one_index(pool: list[Tool], query: str, data: st.DataObject) -> None:
    engine = SearchEngine()
    one, other = Catalog(pool), Catalog(data.draw(st.permutations(pool)))
    engine.search(one, query)
    assert engine.index(one) is engine.index(other)
    assert one.fingerprint == other.fingerprint
