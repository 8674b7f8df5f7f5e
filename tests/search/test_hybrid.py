"""An index over words and vectors: what it takes in, what it shows of each hit."""

from collections.abc import Sequence
from threading import Barrier, Thread

import numpy as np
import pytest

from tests.search.embedders import Bag, Told
from tests.search.town import TOWN, tool
from tooldrawer import Catalog, Hit, Recipe
from tooldrawer.search import LEXICAL
from tooldrawer.search.bm25 import BM25
from tooldrawer.search.embedder import Embedder, Vectors
from tooldrawer.search.fusion import PARTS
from tooldrawer.search.hybrid import Hybrid
from tooldrawer.search.vectors import VectorStore

LOUD = Recipe(silence=False)


def over(catalog: Catalog, embedder: Embedder | None = None, *, recipe: Recipe = LOUD) -> Hybrid:
    """An index with the vectors of an embedder, or without any."""
    index = Hybrid(BM25.over(catalog), recipe=recipe)
    if embedder is not None:
        index.understand(embedder, VectorStore(embedder).vectors(index.lexical.tools))
    return index


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.tool.local_name for hit in hits]


def test_an_index_has_meaning_once_it_has_vectors() -> None:
    index = over(TOWN)
    assert not index.has_meaning
    assert all(hit.parts["meaning"] == 0 for hit in index.search("send a letter", limit=5))
    bag = Bag()
    index.understand(bag, VectorStore(bag).vectors(index.lexical.tools))
    assert index.has_meaning
    assert any(hit.parts["meaning"] for hit in index.search("send a letter", limit=5))


def test_searches_go_on_while_vectors_are_taken_in() -> None:
    index, bag, together = over(TOWN), Bag(), Barrier(5)
    vectors = VectorStore(bag).vectors(index.lexical.tools)
    possible = [names(one.search("send a book", limit=5)) for one in (over(TOWN), over(TOWN, bag))]
    odd: list[list[str]] = []

    def work() -> None:
        together.wait()
        found = (names(index.search("send a book", limit=5)) for _ in range(20))
        odd.extend(one for one in found if one not in possible)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    together.wait()
    index.understand(bag, vectors)
    for thread in threads:
        thread.join()
    assert odd == []
    assert names(index.search("send a book", limit=5)) == possible[1]


@pytest.mark.parametrize("embedder", [None, Bag()])
def test_a_hit_says_what_its_score_is_made_of_and_which_words_it_has(
    embedder: Embedder | None,
) -> None:
    hits = over(TOWN, embedder).search("renew the loan of a book", limit=3)
    assert names(hits)[0] == "renew_loan"
    assert hits[0].matched == ("renew", "loan", "book")
    for hit in hits:
        assert tuple(hit.parts) == tuple(PARTS)
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=0.01)


def test_matched_words_are_as_they_were_said() -> None:
    index = over(TOWN)
    assert index.search("preheet the OVENS", limit=1)[0].matched == ("preheet", "ovens")
    assert "datei" in index.search("lösche die Datei", limit=1)[0].matched


def test_a_tool_that_is_near_is_found_though_it_shares_no_word() -> None:
    query = "chilly outside?"
    told = Told({query: "weather: get forecast. Get the weather forecast of a city"})
    hits = over(TOWN, told).search(query, limit=5)
    assert names(hits)[0] == "get_forecast"
    assert hits[0].matched == ()
    assert over(TOWN, recipe=Recipe(meaning=False, spelling=False)).search(query, limit=5) == []


class OnTheEdge(Bag):
    """Takes all tools for the same, and queries for what is between two figures when rounded."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        draw = np.random.default_rng(seed)
        self._tool, self._query = (draw.normal(size=384) for _ in range(2))
        self._tool = (self._tool / np.linalg.norm(self._tool)).astype(np.float16).astype(np.float64)
        self._query *= 0.5 / np.linalg.norm(self._query)
        edge = np.floor(self._tool @ self._query * 1e5) / 1e5 + 5e-6
        self._query += self._tool * (edge - self._tool @ self._query) / (self._tool @ self._tool)

    def tools(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._tool] * len(texts), dtype=np.float32)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._query] * len(texts), dtype=np.float32)


@pytest.mark.parametrize("count", [3, 5, 6, 7, 11, 30])
def test_tools_with_the_same_vector_are_equally_near_wherever_they_stand(count: int) -> None:
    catalog = Catalog([tool(f"hone{at:02}") for at in range(count)][::-1])
    for seed in range(40):
        hits = over(catalog, OnTheEdge(seed)).search("sharpen", limit=count)
        assert names(hits) == [f"hone{at:02}" for at in range(count)]


def test_no_more_than_the_limit_and_all_different_also_for_several_needs() -> None:
    query = "list the loans of a reader and then reserve a book and then get the balance"
    for index in (over(TOWN), over(TOWN, Bag())):
        for limit in (0, 1, 2, 7, 100):
            found = names(index.search(query, limit=limit))
            assert len(found) <= limit
            assert len(set(found)) == len(found)
        hits = index.search(query, limit=40)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert set(names(hits)[:3]) == {"list_loans", "reserve_book", "get_balance"}


def test_a_part_of_a_query_that_finds_nothing_takes_no_place_from_the_others() -> None:
    recipe = Recipe(meaning=False, spelling=False, synonyms=False, languages=False)
    query = "send the letter and then delete xylophone zebras"
    assert names(over(TOWN, recipe=recipe).search(query, limit=3))[0] == "send_letter"


def test_when_no_part_of_a_query_finds_anything_the_whole_still_does() -> None:
    recipe = Recipe(meaning=False, spelling=False, synonyms=False, languages=False, silence=False)
    query = "Storms and tides. Print the xylophone zebras and then shut quaint yaks."
    found = names(over(TOWN, recipe=recipe).search(query, limit=3))
    assert set(found) == {"list_storm_warnings", "get_tides"}


@pytest.mark.parametrize("recipe", [LOUD, Recipe(), LEXICAL])
def test_one_tool_and_twins_are_catalogs_too(recipe: Recipe) -> None:
    one = tool("hone", "Sharpen a saw.")
    for catalog in (Catalog([one]), Catalog([one, tool("whet", "Sharpen a saw.")])):
        found = names(over(catalog, Bag(), recipe=recipe).search("sharpen a saw", limit=5))
        assert found == [each.name for each in catalog][: len(found)]
