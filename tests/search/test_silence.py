"""Whether anything fits at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import quick
from tests.requirements import requirement
from tests.search.embedders import Bag
from tests.search.test_fusion import found
from tests.search.town import TOWN, tool
from tooldrawer import SearchEngine
from tooldrawer.search import LEXICAL, Recipe, silence
from tooldrawer.search.bm25 import BM25
from tooldrawer.search.fusion import FEATURES
from tooldrawer.search.fusion import learned as weights
from tooldrawer.search.silence import EVIDENCE, Evidence, Threshold, fits, learned

QUERIES = ("measure the snow on a mountain", "list mail", "paint the moon", "xylophone")


def evidence(query: str, *, meaning: bool, index: BM25 | None = None) -> Evidence:
    some = found(query, index or BM25.over(TOWN), meaning=meaning)
    return Evidence.of(some, weights().scores(some))


@pytest.mark.parametrize("meaning", [True, False])
def test_a_threshold_was_learned_for_all_evidence(meaning: bool) -> None:
    threshold = learned(has_meaning=meaning)
    assert threshold.weights.shape == (len(EVIDENCE),)
    assert np.isfinite(threshold.weights).all()
    assert 0 < threshold.least < 1


def test_without_meaning_no_evidence_of_it_counts() -> None:
    threshold = learned(has_meaning=False)
    for name in ("meaning", "nearest", "next_nearest"):
        assert threshold.weights[EVIDENCE.index(name)] == 0


@pytest.mark.parametrize("meaning", [True, False])
@pytest.mark.parametrize("query", QUERIES)
def test_evidence_is_a_finite_figure_each_and_does_not_depend_on_where_documents_stand(
    query: str, meaning: bool
) -> None:
    forth = evidence(query, meaning=meaning)
    back = evidence(query, meaning=meaning, index=BM25.over(TOWN.tools[::-1]))
    assert forth.values.shape == (len(EVIDENCE),)
    assert np.isfinite(forth.values).all()
    assert np.allclose(forth.values, back.values, atol=1e-9)


def test_evidence_for_the_best_of_equals_does_not_depend_on_where_they_stand() -> None:
    tools = [tool("delete_it", "Widget."), tool("make_it", "Widget."), *TOWN]
    level = np.array([1.0 if name == "words" else 0.0 for name in FEATURES])
    figures: list[list[float]] = []
    for index in (BM25.over(tools), BM25.over(tools[::-1])):
        some = found("erase the widget", index, meaning=False)
        scores = np.round(some.features @ level, 5)
        figures.append(Evidence.of(some, scores).values.round(9).tolist())
    assert figures[0] == figures[1]


def test_when_there_is_no_candidate_there_is_no_evidence() -> None:
    for index in (BM25.over(TOWN), BM25.over([])):
        nothing = evidence("xylophone", meaning=False, index=index)
        assert not nothing.values.any()


@quick(100)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=len(EVIDENCE), max_size=len(EVIDENCE)))
def test_a_chance_is_between_none_and_all_and_rises_with_what_speaks_for_it(
    values: list[float],
) -> None:
    threshold = Threshold(np.ones(len(EVIDENCE)), 0.5)
    less, more = (Evidence(np.array(values) + extra, has_meaning=True) for extra in (0.0, 1.0))
    assert 0 < threshold.chance(less) <= threshold.chance(more) < 1


@requirement("BR-9")
@pytest.mark.parametrize("meaning", [True, False])
def test_a_tool_that_does_just_what_was_asked_for_fits(meaning: bool) -> None:
    for query in (
        "measure how deep the snow is on a mountain",
        "preheat the oven to a temperature",
        "transfer money from one account to another",
        "block a stolen credit card",
    ):
        assert fits(evidence(query, meaning=meaning))


@requirement("BR-9")
@pytest.mark.parametrize("recipe", [Recipe(), LEXICAL])
def test_below_the_threshold_nothing_is_answered_but_names_and_pieces_of_names(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SearchEngine(recipe=recipe, embedder=Bag, cache=None, patience=60)
    assert engine.search(TOWN, "measure the snow")

    def strict(*, has_meaning: bool) -> Threshold:
        return Threshold(learned(has_meaning=has_meaning).weights, 1.0)

    monkeypatch.setattr(silence, "learned", strict)
    assert engine.search(TOWN, "measure the snow") == []
    names = [hit.tool.name for hit in engine.search(TOWN, "measureSnow")]
    assert names == ["mcp_weather_measure_snow"]
    assert [hit.tool.name for hit in engine.search(TOWN, "asure_s")] == names
