"""BM25 against its formula, and in segments."""

from math import isclose, log

from tooldrawer.search.bm25 import BM25, Segment
from tooldrawer.tool import Tool

WORDS = ("red", "green", "blue", "cyan", "pink")


def paint(at: int) -> Tool:
    return Tool(name=f"paint{at}", description=" ".join(WORDS[: at % 5 + 1]))


def test_a_score_is_the_formulas() -> None:
    # One field of weight 0.6 for each description word, and a name of its own for each tool.
    tools = [Tool(name="x", description="red red blue"), Tool(name="y", description="green")]
    (hit,) = BM25.over(tools).search("red", limit=5)
    lengths = [2.0 + 3 * 0.6, 2.0 + 0.6]
    rarity = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    times, mean = 2 * 0.6, sum(lengths) / 2
    norm = 1.5 * (1 - 0.75 + 0.75 * lengths[0] / mean)
    assert isclose(hit.score, rarity * times * 2.5 / (times + norm))


def test_an_index_that_grew_and_shrank_scores_as_one_built_at_once() -> None:
    tools = [paint(at) for at in range(40)]
    index = BM25.over(tools[:20])
    for at in range(20, 40):
        index = index.changed(added=[tools[at]], removed=frozenset({tools[at - 20].fingerprint}))
    fresh = BM25.over(tools[20:])
    for query in ("red", "blue pink", "cyan cyan red"):
        assert list(index.search(query, limit=40)) == list(fresh.search(query, limit=40))


def test_an_index_that_was_changed_leaves_the_one_before_as_it_was() -> None:
    tools = [paint(at) for at in range(5)]
    index = BM25.over(tools)
    before = list(index.search("pink", limit=5))
    index.changed(added=[paint(9)], removed=frozenset({tools[4].fingerprint}))
    assert list(index.search("pink", limit=5)) == before


def test_a_segment_holds_each_word_once_for_each_tool() -> None:
    segment = Segment([Tool(name="x", description="red red"), Tool(name="y", description="red")])
    positions, weights = segment.postings["red"]
    assert list(positions) == [0, 1]
    assert list(weights) == [120, 60]
