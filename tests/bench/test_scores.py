"""How good an answer is, against figures worked out by hand."""

from math import isclose, log2

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import quick
from tooldrawer.bench.scores import Need, hit, interval, ndcg, percentile, recall

SAW, NAIL, GLUE = frozenset({"saw", "jigsaw"}), frozenset({"nail"}), frozenset({"glue"})

names = st.sampled_from("abcdefghijkl")
needs_of = st.lists(st.frozensets(names, min_size=1, max_size=3), min_size=1, max_size=12)
rankings = st.lists(names, unique=True)


def test_the_first_answer_is_a_hit_when_it_serves_any_of_the_needs() -> None:
    assert hit([SAW, NAIL], ["nail", "saw"]) == 1
    assert hit([SAW], ["jigsaw"]) == 1
    assert hit([SAW], ["glue", "saw"]) == 0
    assert hit([SAW], []) == 0


def test_recall_is_the_part_of_the_needs_that_are_met_by_one_of_their_tools() -> None:
    ranked = ["glue", "jigsaw", "tape", "saw", "nail"]
    assert recall([SAW, NAIL], ranked, 1) == 0
    assert recall([SAW, NAIL], ranked, 2) == 0.5
    assert recall([SAW, NAIL], ranked, 4) == 0.5
    assert recall([SAW, NAIL], ranked, 5) == 1
    assert recall([SAW, NAIL, GLUE], [], 5) == 0


def test_a_need_counts_once_in_the_gain_and_at_the_first_of_its_tools() -> None:
    ranked = ["tape", "jigsaw", "saw", "nail"]
    ideal = 1 + 1 / log2(3)
    assert isclose(ndcg([SAW, NAIL], ranked, 10), (1 / log2(3) + 1 / log2(5)) / ideal)
    assert isclose(ndcg([SAW, NAIL], ranked, 3), (1 / log2(3)) / ideal)
    assert ndcg([SAW, NAIL], ["nail", "saw", "tape"], 10) == 1
    assert ndcg([SAW, NAIL], [], 10) == 0


def test_the_ideal_answer_has_no_more_places_than_are_looked_at() -> None:
    assert ndcg([SAW, NAIL, GLUE], ["saw", "nail", "glue"], 2) == 1


def test_a_tool_that_serves_two_needs_at_once_gains_no_more_than_the_ideal_answer() -> None:
    assert ndcg([SAW, SAW], ["saw"], 10) == 1


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(value) for value in range(20, 0, -1)]
    assert percentile(values, 0.5) == 10
    assert percentile(values, 0.95) == 19
    assert percentile([3.0], 0.95) == 3
    assert percentile([3.0, 4.0], 0.0) == 3


def test_an_interval_is_the_same_every_time_and_narrower_with_more_queries() -> None:
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 1_000
    low, high = interval([few])
    assert interval([few]) == (low, high)
    # The mean of 20 coins has a standard deviation of 0.112, so 95 % lie within 0.22 of 0.5.
    assert 0.2 < low < 0.35
    assert 0.65 < high < 0.8
    narrow = interval([many])
    assert low < narrow[0] < 0.5 < narrow[1] < high


def test_an_interval_over_sets_weighs_each_set_the_same() -> None:
    assert interval([[1.0] * 1_000, [0.0]]) == (0.5, 0.5)


@quick(200)
@given(needs=needs_of, ranked=rankings, first=st.integers(1, 12))
def test_every_score_lies_between_nothing_and_everything(
    needs: list[Need], ranked: list[str], first: int
) -> None:
    scores = (hit(needs, ranked), recall(needs, ranked, first), ndcg(needs, ranked, first))
    assert all(0 <= score <= 1 for score in scores)


@quick(200)
@given(needs=needs_of, ranked=rankings, first=st.integers(1, 12))
def test_looking_at_one_answer_more_never_lowers_a_score(
    needs: list[Need], ranked: list[str], first: int
) -> None:
    assert recall(needs, ranked, first) <= recall(needs, ranked, first + 1)
    if first >= len(needs):  # before that, the ideal answer grows as well
        assert ndcg(needs, ranked, first) <= ndcg(needs, ranked, first + 1)


@quick(200)
@given(needs=needs_of, ranked=rankings)
def test_a_hit_means_that_something_is_recalled_at_once(
    needs: list[Need], ranked: list[str]
) -> None:
    assert bool(hit(needs, ranked)) == (recall(needs, ranked, 1) > 0)


@quick(20)
@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_interval_lies_within_the_values(values: list[float]) -> None:
    low, high = interval([values])
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
