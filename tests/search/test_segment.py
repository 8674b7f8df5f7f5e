"""The words of some tools: read, joined, and packed away."""

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tests.search.town import TOWN, tool
from tooldrawer import Tool
from tooldrawer.search.segment import Segment

tools = st.lists(
    st.sampled_from(TOWN.tools) | st.builds(Tool, name=any_text, description=any_text), max_size=6
)


def content(segment: Segment) -> dict[str, list[tuple[str, int, int]]]:
    """By word: the tools that have it, how much, and where."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    for word in segment.rows:
        at = segment.posting(word)
        assert at is not None
        places = [int(place) for place in segment.places[at]]
        weights = [int(weight) for weight in segment.weights[at]]
        having = [segment.tools[int(document)].fingerprint for document in segment.docs[at]]
        found[word] = list(zip(having, weights, places, strict=True))
    return found


def facts(segment: Segment) -> list[list[int]]:
    """What is known about each tool."""
    return [column.tolist() for column in (segment.lengths, segment.name_sizes, segment.verbs)]


def same(one: Segment, other: Segment) -> bool:
    return (
        one.tools == other.tools
        and one.written == other.written
        and content(one) == content(other)
        and facts(one) == facts(other)
    )


def test_a_segment_holds_each_word_once_for_each_tool() -> None:
    segment = Segment.over([tool("x", "red red"), tool("y", "red")])
    at = segment.posting("red")
    assert at is not None
    assert segment.docs[at].tolist() == [0, 1]
    assert segment.weights[at].tolist() == [120, 60]
    assert segment.lengths.tolist() == [320, 260]
    assert segment.posting("absent") is None


def test_a_word_is_written_in_the_same_way_whatever_came_first() -> None:
    pool = [tool("create"), tool("creating"), tool("creates")]
    assert Segment.over(pool).written == Segment.over(pool[::-1]).written


@quick(100)
@given(pool=tools)
def test_a_segment_comes_out_as_it_was_packed(pool: list[Tool]) -> None:
    segment = Segment.over(pool)
    again = Segment.unpacked(pool, segment.packed())
    assert again is not None
    assert same(again, segment)


@quick(100)
@given(groups=st.lists(tools, min_size=1, max_size=4))
def test_segments_that_are_joined_are_one_over_all_their_tools(groups: list[list[Tool]]) -> None:
    joined = Segment.joined([Segment.over(group) for group in groups])
    assert same(joined, Segment.over(one for group in groups for one in group))


@quick(100)
@given(junk=st.binary(max_size=60), cut=st.integers(0, 400))
def test_what_was_not_packed_here_is_not_taken_for_a_segment(junk: bytes, cut: int) -> None:
    packed = Segment.over(TOWN.tools[:3]).packed()
    for spoilt in (junk, packed[:cut], b"{}\n" + junk, b"[]\n", b"null\n", b'{"sizes": 3}\n'):
        assert Segment.unpacked(TOWN.tools[:3], spoilt) is None
    assert Segment.unpacked(TOWN.tools[:4], packed) is None
