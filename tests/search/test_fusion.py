"""One order out of words and meaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import quick
from tests.search.embedders import Bag
from tests.search.town import TOWN, tool
from tooldrawer import Tool
from tooldrawer.search.bm25 import BM25
from tooldrawer.search.document import passage
from tooldrawer.search.fusion import (
    FEATURES,
    PARTS,
    Candidates,
    Positions,
    best,
    candidates,
    learned,
)
from tooldrawer.search.query import Query, read

scores = st.sampled_from((0.0, 0.25, 0.5, 1.0)) | st.floats(-1, 1)


def by_name(tools: tuple[Tool, ...]) -> Positions:
    order = sorted(range(len(tools)), key=lambda at: tools[at].name)
    places = np.empty(len(tools), dtype=np.int64)
    places[order] = np.arange(len(tools))
    return places


def asked(text: str, index: BM25) -> Query:
    return read(text, knows=index.has, corrected=lambda _: (), synonyms=False)


def found(text: str, index: BM25, *, meaning: bool) -> Candidates:
    bag = Bag()
    near = bag.tools([passage(one) for one in index.tools]) @ bag.queries([text])[0]
    return candidates(asked(text, index), index, by_name(index.tools), near if meaning else None)


def shown(some: Candidates, index: BM25) -> dict[str, list[float]]:
    """The features of each candidate, by its name, rounded: a sum may run in another order."""
    rows = zip(some.positions.tolist(), some.features.round(9).tolist(), strict=True)
    return {index.tools[int(at)].name: row for at, row in rows}


@quick(200)
@given(values=st.lists(scores, max_size=40), most=st.integers(1, 45), data=st.data())
def test_the_best_are_the_highest_and_ties_go_by_name(
    values: list[float], most: int, data: st.DataObject
) -> None:
    names = data.draw(st.permutations(range(len(values))))
    ranked = best(np.array(values), np.array(names, dtype=np.int64), most)
    expected = sorted(range(len(values)), key=lambda at: (-values[at], names[at]))
    assert ranked.tolist() == expected[:most]


def test_a_weight_was_learned_for_everything_that_a_candidate_shows() -> None:
    weights = learned()
    for side in (weights.hybrid, weights.words):
        assert side.shape == (len(FEATURES),)
        assert np.isfinite(side).all()
        assert side.any()
    silent = [FEATURES.index(name) for name in PARTS["meaning"]]
    assert not weights.words[silent].any()


def test_every_feature_has_one_name_and_belongs_to_one_part() -> None:
    assert len(set(FEATURES)) == len(FEATURES)
    assert sorted(FEATURES) == sorted(name for names in PARTS.values() for name in names)


def test_a_tool_that_has_all_the_words_and_is_nearest_scores_highest() -> None:
    index = BM25.over(TOWN)
    for meaning in (True, False):
        some = found("measure the snow on a mountain", index, meaning=meaning)
        top = int(some.positions[np.argmax(learned().scores(some))])
        assert index.tools[top].local_name == "measure_snow"


@pytest.mark.parametrize("meaning", [True, False])
def test_documents_that_are_gone_are_neither_candidates_nor_a_measure_for_others(
    meaning: bool,
) -> None:
    gone = tool("snow_snow", "Snow on a mountain, measured. " * 3, "snow")
    grown = BM25.over([gone, *TOWN]).changed(
        added=(), removed=frozenset({gone.fingerprint, TOWN.tools[3].fingerprint})
    )
    fresh = BM25.over([one for one in TOWN if one is not TOWN.tools[3]])
    assert len(grown.tools) > len(fresh.tools)
    for query in ("measure the snow", "list mail", "nothing of that"):
        left, right = (found(query, index, meaning=meaning) for index in (grown, fresh))
        assert shown(left, grown) == shown(right, fresh)


@pytest.mark.parametrize("meaning", [True, False])
def test_candidates_do_not_depend_on_where_documents_stand(meaning: bool) -> None:
    forth, back = BM25.over(TOWN), BM25.over(TOWN.tools[::-1])
    for query in ("measure the snow", "list mail of a reader", "nothing of that"):
        left, right = (found(query, index, meaning=meaning) for index in (forth, back))
        assert shown(left, forth) == shown(right, back)


def test_without_words_or_meaning_there_are_no_candidates() -> None:
    index = BM25.over(TOWN)
    some = found("xylophone", index, meaning=False)
    assert (some.positions.size, some.features.shape) == (0, (0, len(FEATURES)))
    assert learned().scores(some).size == 0
    empty = found("letter", BM25.over([]), meaning=False)
    assert empty.positions.size == 0


def test_the_verb_that_was_asked_for_tells_creating_from_deleting() -> None:
    index = BM25.over(TOWN)
    some = found("remove an event", index, meaning=False)
    rows = shown(some, index)
    agrees, conflicts = FEATURES.index("verb_agrees"), FEATURES.index("verb_conflicts")
    assert rows["mcp_calendar_delete_event"][agrees] == 1
    assert rows["mcp_calendar_create_event"][conflicts] == 1
