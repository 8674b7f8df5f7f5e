"""What is found among the demo's tools, by kind of query."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.requirements import requirement
from tooldrawer import Catalog, Recipe, SearchEngine
from tooldrawer.demo.desk import toolsets

_QUERIES = [
    line.split("\t")
    for line in (Path(__file__).parent / "queries.tsv").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def desk() -> Iterator[Catalog]:
    with toolsets() as found:
        yield Catalog(tool for toolset in found for tool in toolset.tools())


@pytest.fixture(scope="module")
def engine(desk: Catalog) -> SearchEngine:
    engine = SearchEngine()
    engine.prepare(desk)
    return engine


def _served(kinds: str) -> list[tuple[str, list[str]]]:
    return [
        (text, labels.split(" + "))
        for kind, labels, text in _QUERIES
        if kind in kinds.split() or (kinds == "languages" and len(kind) == 2)
    ]


def _share_found(engine: SearchEngine, desk: Catalog, kinds: str) -> float:
    needs = [(text, tool) for text, tools in _served(kinds) for tool in tools]
    met = [
        tool in [hit.tool.local_name for hit in engine.search(desk, text)] for text, tool in needs
    ]
    return sum(met) / len(met)


@requirement("SEARCH-3")
def test_needs_in_other_words_than_the_tools_are_found(engine: SearchEngine, desk: Catalog) -> None:
    assert _share_found(engine, desk, "other user") >= 0.85


@requirement("SEARCH-3")
def test_without_meaning_everything_still_works_by_words(desk: Catalog) -> None:
    words = SearchEngine(recipe=Recipe(meaning=False), cache=None)
    assert _share_found(words, desk, "phrase name") >= 0.9


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("kinds", "least"),
    [("phrase", 1.0), ("several", 0.75), ("typos", 0.95), ("name", 1.0), ("languages", 0.85)],
)
def test_phrases_typos_names_and_languages_are_found(
    engine: SearchEngine, desk: Catalog, kinds: str, least: float
) -> None:
    assert _share_found(engine, desk, kinds) >= least


@requirement("SEARCH-2")
@pytest.mark.parametrize(("text", "tools"), _served("name"))
def test_an_exact_name_is_first(
    engine: SearchEngine, desk: Catalog, text: str, tools: list[str]
) -> None:
    assert engine.search(desk, text)[0].tool.local_name == tools[0]


@requirement("SEARCH-7")
def test_no_request_with_a_meaning_gets_an_empty_reply(engine: SearchEngine, desk: Catalog) -> None:
    assert [text for _, _, text in _QUERIES if not engine.search(desk, text)] == []
