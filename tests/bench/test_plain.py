"""Plain BM25 against its formula."""

from math import isclose, log

from tooldrawer.bench.plain import PlainBM25, words
from tooldrawer.tool import Tool


def test_words_end_at_signs_underscores_and_humps_and_keep_their_form() -> None:
    assert words("createPullRequest list_HTTPServers, S3-Buckets!") == [
        *("create", "pull", "request", "list", "http", "servers", "s3", "buckets")
    ]


def test_the_order_is_the_formulas() -> None:
    tools = {
        "a": ("red red blue", 4),  # with its name, four words
        "b": ("red", 2),
        "c": ("green green green green green", 6),
    }
    index = PlainBM25(Tool(name=name, description=text) for name, (text, _) in tools.items())
    assert index.search("red", 10) == ["a", "b"]
    assert index.search("red blue", 1) == ["a"]

    def gain(times: int, length: int, held: int) -> float:
        rarity = log(1 + (3 - held + 0.5) / (held + 0.5))
        return rarity * times * 2.5 / (times + 1.5 * (0.25 + 0.75 * length / 4))

    assert gain(2, 4, 2) > gain(1, 2, 2)
    # One `b`, which only one tool has, is worth more than both `red`.
    assert gain(1, 2, 1) + gain(1, 2, 2) > gain(2, 4, 2)
    assert index.search("b red", 10) == ["b", "a"]
    assert isclose(gain(1, 4, 1), log(1 + 2.5 / 1.5))


def test_a_word_that_is_said_twice_counts_once() -> None:
    index = PlainBM25([Tool(name="x", description="saw"), Tool(name="y", description="nail")])
    assert index.search("nail saw saw saw", 5) == ["x", "y"]


def test_names_descriptions_and_the_names_of_parameters_are_searched_and_nothing_else() -> None:
    schema = {"properties": {"roomNumber": {"description": "hidden"}}, "title": "hidden"}
    index = PlainBM25([Tool(name="bookHotel", description="Reserve.", parameters=schema)])
    for query in ("hotel", "RESERVE", "number"):
        assert index.search(query, 5) == ["bookHotel"]
    for query in ("hidden", "hotels", "properties", ""):
        assert index.search(query, 5) == []


def test_a_shortened_name_is_searched_in_full() -> None:
    index = PlainBM25([Tool(name="mcp_shop_1a2b", long_name="mcp_shop_list_orders")])
    assert index.search("orders", 5) == ["mcp_shop_1a2b"]
    assert index.search("1a2b", 5) == []


def test_no_tools_have_no_answers() -> None:
    assert PlainBM25([]).search("anything", 5) == []
