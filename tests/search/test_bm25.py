"""BM25 against its formula, and in segments that grow and shrink."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tests.search.town import TOWN, tool
from tooldrawer import Tool
from tooldrawer.search.bm25 import BM25
from tooldrawer.search.query import Wanted
from tooldrawer.search.text import stem
from tooldrawer.search.verbs import deeds

COLOURS = ("red", "green", "blue", "cyan", "pink", "größe", "s3", "getURL")
Figures = tuple[float, float, float, float, float]


def wanting(*words: str) -> list[Wanted]:
    return [Wanted(word, ((stem(word), 1.0),)) for word in words]


def figures(index: BM25, wanted: Sequence[Wanted]) -> Mapping[str, Figures]:
    """What each living tool shows, by its fingerprint."""
    found = index.match(wanted)
    columns = (found.score, found.covered, found.named, found.served, found.name_share)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {
        one.fingerprint: row
        for one, alive, row in zip(index.tools, index.alive, rows, strict=True)
        if alive
    }


def score(index: BM25, position: int, *words: str) -> float:
    return float(index.match(wanting(*words)).score[position])


def without(index: BM25, *gone: Tool) -> BM25:
    return index.changed(added=[], removed=frozenset(one.fingerprint for one in gone))


@st.composite
def paints(draw: DrawFn, number: int) -> Tool:
    words = st.lists(st.sampled_from(COLOURS), max_size=4).map(" ".join)
    return Tool(
        name=f"{draw(st.sampled_from(COLOURS[:5]))}_{number}",
        description=draw(words),
        source=draw(st.sampled_from(("", "mcp-red", "desk"))),
        parameters={"properties": {draw(words): {"description": draw(words)}}},
    )


@st.composite
def histories(draw: DrawFn) -> tuple[BM25, list[Tool]]:
    """An index that grew and shrank, and the tools that it should have."""
    pool = [draw(paints(number)) for number in range(draw(st.integers(0, 14)))]
    inside = [one for one in pool if draw(st.booleans())]
    index = BM25.over(inside)
    for _ in range(draw(st.integers(0, 12))):
        removed = [one for one in inside if not draw(st.integers(0, 3))]
        added = [one for one in pool if one not in inside and draw(st.booleans())]
        gone = frozenset(one.fingerprint for one in removed)
        index = index.changed(added=added, removed=gone)
        inside = [one for one in inside if one not in removed] + added
    return index, inside


queries = st.lists(
    st.builds(
        Wanted,
        said=st.just(""),
        readings=st.lists(
            st.tuples(
                st.sampled_from([*map(stem, COLOURS), "desk", "absent"]),
                st.sampled_from((1.0, 0.9, 0.6)),
            ),
            min_size=1,
            max_size=3,
        ).map(tuple),
        weight=st.sampled_from((1.0, 0.4, 0.2)),
    ),
    max_size=5,
)


@requirement("SEARCH-1")
def test_a_score_is_the_formulas() -> None:
    # A name of its own for each tool, with a weight of 2; a word of a description has 0.6.
    index = BM25.over([Tool(name="x", description="red red blue"), Tool(name="y")])
    lengths = [2.0 + 3 * 0.6, 2.0]
    rarity = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    times, mean = 2 * 0.6, sum(lengths) / 2
    norm = 0.9 * (1 - 0.75 + 0.75 * lengths[0] / mean)
    assert isclose(score(index, 0, "red"), rarity * times * 1.9 / (times + norm))
    assert score(index, 1, "red") == 0


@requirement("SEARCH-1")
def test_a_word_counts_most_in_a_name_then_in_a_server_a_description_and_a_parameter() -> None:
    index = BM25.over(
        [
            tool("red_thing", "x y", "z"),
            tool("thing", "x y", "z", server="red"),
            tool("thing_", "red x", "y z"),
            tool("thing__", "x y", "red"),
            tool("thing___", "x y", "z"),
        ]
    )
    scores = [score(index, position, "red") for position in range(5)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5
    assert scores[-1] == 0


def test_a_rare_word_counts_more_than_one_that_all_have() -> None:
    index = BM25.over([Tool(name=f"t{at}", description="red") for at in range(9)] + [tool("blue")])
    rare, common = index.match(wanting("blue")), index.match(wanting("red"))
    assert rare.wanted > common.wanted > 0
    assert rare.covered[9] == rare.named[9] == rare.wanted
    assert common.covered[0] == common.wanted
    assert common.named[0] == 0


def test_the_figures_tell_where_the_words_of_a_query_stand() -> None:
    index = BM25.over([tool("red_blue", "green", server="desk"), tool("pink")])
    found = index.match(wanting("red", "green", "desk", "absent"))
    rarity = found.wanted / 3
    assert isclose(found.covered[0], found.wanted)
    assert isclose(found.named[0], rarity)
    assert isclose(found.served[0], rarity)
    assert found.name_share.tolist() == [0.5, 0.0]
    assert found.unknown == 0.25


def test_of_several_readings_a_document_counts_the_best() -> None:
    index = BM25.over([tool("red", "blue"), tool("blue"), tool("green")])
    both = index.match([Wanted("x", (("red", 1.0), ("blue", 0.6)))]).score
    red = index.match(wanting("red")).score
    blue = index.match([Wanted("x", (("blue", 0.6),))]).score
    assert both.tolist() == [max(red[0], blue[0]), blue[1], 0.0]
    assert index.match([Wanted("x", (("absent", 1.0), ("red", 1.0)))]).score[0] == red[0]


def test_a_word_of_half_the_weight_counts_half() -> None:
    index = BM25.over([tool("red"), tool("blue")])
    whole, half = (index.match([Wanted("x", (("red", 1.0),), w)]) for w in (1.0, 0.5))
    assert half.score[0] == whole.score[0] / 2
    assert half.wanted == whole.wanted / 2


def test_it_tells_whether_a_tool_has_a_word_in_any_reading() -> None:
    index = BM25.over([tool("red"), tool("blue")])
    want = Wanted("x", (("absent", 1.0), ("blue", 0.6)))
    assert not index.has_any(want, 0)
    assert index.has_any(want, 1)


def test_it_knows_every_word_and_a_way_to_write_it() -> None:
    index = BM25.over([tool("create_issues"), tool("creating", "Größe")])
    assert set(index.stems()) == {"creat", "issu", "gross"}
    assert index.has("creat")
    assert not index.has("absent")
    assert stem(index.written("creat")) == "creat"
    assert index.written("issu") == "issues"
    assert index.written("absent") == "absent"


def test_the_verbs_of_a_tool_are_those_of_its_name() -> None:
    index = BM25.over([tool("delete_reader", "List them first."), tool("reader", "Create one.")])
    assert index.verbs.tolist() == [deeds("delet"), 0]


@requirement("SEARCH-6")
@quick(200)
@given(data=st.data(), history=histories(), wanted=queries)
def test_an_index_that_grew_and_shrank_shows_what_one_built_at_once_shows(
    data: st.DataObject, history: tuple[BM25, list[Tool]], wanted: list[Wanted]
) -> None:
    index, inside = history
    fresh = BM25.over(data.draw(st.permutations(inside)))
    assert index.size == fresh.size == len(inside)
    assert sorted(one.name for one in index.living()) == sorted(one.name for one in inside)
    assert figures(index, wanted) == figures(fresh, wanted)
    mine, other = index.match(wanted), fresh.match(wanted)
    assert (mine.wanted, mine.unknown) == (other.wanted, other.unknown)
    assert set(index.stems()) == set(fresh.stems())
    assert all(index.has(found) == fresh.has(found) for found in map(stem, COLOURS))


@quick(50)
@given(data=st.data(), pool=st.lists(st.sampled_from(TOWN.tools), unique_by=lambda one: one.name))
def test_an_index_that_only_grew_writes_words_as_one_built_at_once(
    data: st.DataObject, pool: list[Tool]
) -> None:
    index = BM25.over([])
    for one in data.draw(st.permutations(pool)):
        index = index.changed(added=[one], removed=frozenset())
    fresh = BM25.over(pool)
    assert {one: index.written(one) for one in index.stems()} == {
        one: fresh.written(one) for one in fresh.stems()
    }


def test_a_tool_that_is_gone_is_not_found_and_its_words_are_forgotten() -> None:
    index = BM25.over([tool("red", "pink"), *(tool(f"blue{at}", "pink") for at in range(9))])
    shrunk = without(index, index.tools[0])
    found = shrunk.match(wanting("red", "pink"))
    assert [one.name for one in shrunk.living()] == [f"blue{at}" for at in range(9)]
    assert found.score[0] == found.covered[0] == found.named[0] == found.name_share[0] == 0
    assert found.unknown == 0.5
    assert not shrunk.has("red")
    assert "red" not in set(shrunk.stems())
    assert shrunk.written("red") == "red"
    assert shrunk.has("pink")


def test_a_tool_that_comes_back_is_found_once() -> None:
    pool = [tool(f"blue{at}", "pink") for at in range(9)]
    index = BM25.over(pool)
    back = without(index, pool[3]).changed(added=[pool[3]], removed=frozenset())
    assert back.size == 9
    assert figures(back, wanting("pink")) == figures(index, wanting("pink"))


def test_an_index_that_was_changed_leaves_the_one_before_as_it_was() -> None:
    pool = [tool(f"{word}_x", "pink") for word in COLOURS]
    index = BM25.over(pool)
    before = figures(index, wanting("pink", "red"))
    index.changed(added=[tool("pink")], removed=frozenset({pool[0].fingerprint}))
    assert figures(index, wanting("pink", "red")) == before
    assert index.has("red")


def test_a_tool_that_is_edited_takes_the_place_of_the_one_before() -> None:
    pool = [tool(f"blue{at}", "pink") for at in range(9)]
    edited = replace(pool[0], description="cyan")
    gone = frozenset({pool[0].fingerprint})
    index = BM25.over(pool).changed(added=[edited], removed=gone)
    assert (
        figures(index, wanting("cyan")).keys()
        == figures(BM25.over([*pool[1:], edited]), wanting("cyan")).keys()
    )
    assert [one.description for one in index.living() if one.name == "blue0"] == ["cyan"]


def test_without_tools_or_without_words_nothing_is_found() -> None:
    for index in (BM25.over([]), BM25((), ()), without(BM25.over([tool("red")]), tool("red"))):
        assert index.size == 0
        assert index.match(wanting("red")).score.sum() == 0
        assert index.match(wanting("red")).unknown == 1
        assert not index.has("red")
        assert list(index.stems()) == []
    index = BM25.over([Tool(name=""), Tool(name="!?"), Tool(name="___", description="🎉")])
    assert index.match(wanting("red")).score.tolist() == [0, 0, 0]
    assert index.match([]).score.tolist() == [0, 0, 0]
    assert index.match([]).unknown == 0
    assert without(index, index.tools[0]).match(wanting("red")).wanted == 0


@pytest.mark.parametrize(
    "description",
    [
        "red " * 250_000,
        "r" * 10_000,
        "\x00\x1b[31mred\x07",
        "\ud800red",
        "é" * 10_000,
        "赤" * 10_000,
    ],
)
def test_a_tool_with_any_description_is_found_by_its_name(description: str) -> None:
    index = BM25.over([Tool(name="paint", description=description), tool("other")])
    assert score(index, 0, "paint") > 0 == score(index, 1, "paint")


@quick(100)
@given(names=st.lists(any_text, max_size=6), description=any_text, word=any_text)
def test_tools_of_any_text_at_all_can_be_indexed_changed_and_asked_for(
    names: list[str], description: str, word: str
) -> None:
    pool = [Tool(name=name, description=f"{description} {at}") for at, name in enumerate(names)]
    index = BM25.over(pool[:3]).changed(added=pool[3:], removed=frozenset())
    index = without(index, *pool[:1])
    found = index.match([Wanted(word, ((word, 1.0),))])
    assert ((found.score >= 0) & (found.name_share <= 1)).all()
    assert len(found.score) == len(index.tools)
