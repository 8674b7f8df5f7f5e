"""What a search finds and in which order, whatever the catalog, the query and the time."""

from collections.abc import Sequence
from dataclasses import replace
from threading import Barrier, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tests.search.embedders import Bag
from tests.search.town import TOWN, tool
from tooldrawer import Catalog, Hit, Recipe, SearchEngine, Tool
from tooldrawer.search import LEXICAL

FOREVER = 60.0
"""Longer than any vectors here take; a search goes on as soon as they are there."""
# Few words, so that many tools share them and many scores are equal. One form of each: how a word
# is written that a misspelt one was meant for may still be as a tool wrote it that is gone.
WORDS = ("create", "list", "issue", "note", "file", "mail", "user", "s3", "größe", "getURL")
phrases = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
# Some words are near others, some only tools have that will be changed: see `histories`.
slips = st.sampled_from(("creat", "lst file", "isue", "isues userfile", "filing", "drop", "dropp"))
asked = phrases | slips | any_text | st.just("create an issue and list the users")


def engine(*, recipe: Recipe | None = None, keep: int = 16) -> SearchEngine:
    """By words, or by words and a meaning that is only words again, with nothing on disk."""
    return SearchEngine(
        recipe=recipe or Recipe(), embedder=Bag, cache=None, keep=keep, patience=FOREVER
    )


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.tool.name for hit in hits]


def placed(hits: Sequence[Hit]) -> list[tuple[Tool, float]]:
    return [(hit.tool, hit.score) for hit in hits]


@st.composite
def pools(draw: DrawFn, most: int = 14) -> list[Tool]:
    """Tools of different names."""
    count = draw(st.integers(1, most))
    return [
        tool(f"{draw(st.sampled_from(WORDS[:7]))}_{number}", draw(phrases), draw(phrases))
        for number in range(count)
    ]


@st.composite
def histories(draw: DrawFn) -> list[Catalog]:
    """Catalogs one after the other: tools come, go, are changed, and come back."""
    pool = draw(pools())
    edited = [replace(one, description=f"{one.description} isue dropping") for one in pool]
    catalogs: list[Catalog] = []
    for _ in range(draw(st.integers(2, 6))):
        pairs = zip(pool, edited, strict=True)
        catalogs.append(
            Catalog([draw(st.sampled_from(pair)) for pair in pairs if draw(st.integers(0, 5))])
        )
    return catalogs


def decoys(words: str) -> list[Tool]:
    """Tools that say nothing but these words, in every place."""
    return [tool(f"decoy_{number}", f"{words} " * 9, words) for number in range(30)]


@requirement("SEARCH-2")
@pytest.mark.parametrize(
    "query",
    [
        "mcp_post_send_letter", "send_letter", "sendLetter", "SendLetter", "send-letter",
        "SEND_LETTER", "send letter", "Send Letter", "send.letter", " send_letter\n", "sendletter",
        "post__send_letter", "post.send_letter", "post/send_letter", "post: send letter",
        "POST_SEND_LETTER", "postSendLetter", "mcp-post/send_letter", "mcpPostSendLetter",
    ],
)  # fmt: skip
@pytest.mark.parametrize("recipe", [Recipe(), LEXICAL])
def test_an_exact_name_in_any_notation_is_first_whatever_the_rest_says(
    query: str, recipe: Recipe
) -> None:
    catalog = Catalog([*decoys("send letter post mcp"), *TOWN])
    for limit in (1, 5):
        found = names(engine(recipe=recipe).search(catalog, query, limit))
        assert found[0] == "mcp_post_send_letter"
        assert len(found) <= limit


@requirement("SEARCH-2")
@pytest.mark.parametrize("query", ["create_issue", "createIssue", "create issue", "CREATE-ISSUE"])
def test_a_tool_of_just_that_name_comes_before_a_servers_tool_of_that_name(query: str) -> None:
    catalog = Catalog(
        [
            tool("create_issue", server="tracker", description="Create an issue. " * 5),
            tool("create_issue"),
        ]
    )
    assert names(engine().search(catalog, query))[0] == "create_issue"


@requirement("SEARCH-2")
@pytest.mark.parametrize("recipe", [Recipe(), LEXICAL])
def test_the_order_of_several_of_one_bare_name_does_not_depend_on_how_many_are_shown(
    recipe: Recipe,
) -> None:
    about = {"a": "Paint, draw, print and bind whatever it is.", "b": "Go.", "c": "Create a user."}
    shared = [tool("create_user", text, server=server) for server, text in about.items()]
    catalog = Catalog([*(tool(f"create_user_{at}") for at in range(20)), *shared])
    searched = engine(recipe=recipe)
    most = names(searched.search(catalog, "create user", len(catalog)))
    assert set(most[:3]) == {one.name for one in shared}
    for limit in range(1, 5):
        assert names(searched.search(catalog, "create user", limit)) == most[:limit]


@requirement("SEARCH-2")
def test_the_parts_of_a_score_add_up_to_it_for_an_exact_name_too() -> None:
    for query in ("send_letter", "preheat_oven", "send the letter", "pressure of tyres"):
        for hit in engine().search(TOWN, query):
            assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=0.01)


@requirement("SEARCH-1")
def test_a_piece_of_a_name_finds_it_when_no_word_does() -> None:
    assert names(engine(recipe=LEXICAL).search(TOWN, "ecas")) == ["mcp_weather_get_forecast"]
    assert names(engine(recipe=LEXICAL).search(TOWN, "ISHWASH")) == ["mcp_kitchen_start_dishwasher"]


@requirement("SEARCH-4")
@pytest.mark.parametrize(
    "recipe", [Recipe(), LEXICAL, Recipe(weighing=False), Recipe(silence=False)]
)
@quick(60)
@given(history=histories(), queries=st.lists(asked, min_size=1, max_size=3), keep=st.integers(1, 3))
def test_an_index_that_grew_gives_the_very_hits_of_a_fresh_one(
    recipe: Recipe, history: list[Catalog], queries: list[str], keep: int
) -> None:
    grown = engine(recipe=recipe, keep=keep)
    for catalog in history:
        fresh = engine(recipe=recipe)
        for query in queries:
            hits = grown.search(catalog, query, 20)
            expected = fresh.search(catalog, query, 20)
            assert placed(hits) == placed(expected)
            assert [hit.matched for hit in hits] == [hit.matched for hit in expected]


@requirement("SEARCH-4")
@pytest.mark.parametrize("recipe", [Recipe(), LEXICAL])
@pytest.mark.parametrize("query", ["harvest a drop", "dropp", "gather crops", "drops"])
def test_nothing_is_left_of_a_tool_that_is_gone(query: str, recipe: Recipe) -> None:
    stays = [*TOWN.tools[:15], tool("crops_gather", "Gather what has grown.", "crop")]
    gone = tool("drop_count", "Count the drops.", "drop dropped")
    grown, now = engine(recipe=recipe), Catalog(stays)
    grown.search(Catalog([*stays, gone]), query)
    assert grown.search(now, query, 20) == engine(recipe=recipe).search(now, query, 20)


@requirement("SEARCH-4")
@quick(60)
@given(pool=pools(), query=asked, data=st.data())
def test_the_order_of_a_catalog_does_not_count(
    pool: list[Tool], query: str, data: st.DataObject
) -> None:
    shuffled = Catalog(data.draw(st.permutations(pool)))
    assert placed(engine().search(shuffled, query, 20)) == placed(
        engine().search(Catalog(pool), query, 20)
    )


@requirement("SEARCH-4")
@quick(60)
@given(pool=pools(), query=asked, limit=st.integers(1, 6))
def test_a_shorter_list_is_the_beginning_of_a_longer_one_and_the_best_is_first(
    pool: list[Tool], query: str, limit: int
) -> None:
    searched, catalog = engine(), Catalog(pool)
    hits = searched.search(catalog, query, limit)
    assert names(hits) == names(searched.search(catalog, query, limit + 3))[:limit]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(set(names(hits))) == len(hits)


@requirement("SEARCH-4")
@pytest.mark.parametrize("recipe", [Recipe(silence=False), LEXICAL])
def test_ten_thousand_identical_tools_come_in_the_order_of_their_names(recipe: Recipe) -> None:
    one = replace(tool("paint_wall", "Paint a wall."), origin_name="paint_wall")
    catalog = Catalog([replace(one, name=f"paint_{at:05}") for at in range(9_999, -1, -1)])
    searched = engine(recipe=recipe)
    for query in ("paint a wall", "painting of walls", "paint_wall", "please pant the wall"):
        found = names(searched.search(catalog, query, 50))
        assert found == [f"paint_{at:05}" for at in range(50)]


@pytest.mark.parametrize("recipe", [Recipe(), LEXICAL, Recipe(silence=False)])
def test_there_is_nothing_in_an_empty_catalog(recipe: Recipe) -> None:
    searched = engine(recipe=recipe)
    for query in ("send a letter", "x", "", "send a letter and then list loans"):
        assert searched.search(Catalog([]), query) == []
    assert searched.notice(Catalog([])) == ""


@pytest.mark.parametrize("query", ["", "  \n\t ", "!?", "\0", "…", "¿?¡!"])
@pytest.mark.parametrize("recipe", [Recipe(), LEXICAL, Recipe(silence=False)])
def test_a_query_without_a_word_finds_nothing(query: str, recipe: Recipe) -> None:
    assert engine(recipe=recipe).search(TOWN, query) == []


def test_a_query_of_100_kilobytes_is_answered_by_its_beginning() -> None:
    long = "send a letter to an address " * 4_000
    assert len(long) > 100_000
    for searched in (SearchEngine(patience=FOREVER), SearchEngine(recipe=LEXICAL)):
        assert names(searched.search(TOWN, long))[0] == "mcp_post_send_letter"
    assert engine(recipe=LEXICAL).search(TOWN, "ß" * 100_000) == []
    assert engine().search(TOWN, " " * 100_000) == []


@pytest.mark.parametrize(
    "description",
    [
        "Sharpen a saw. " + "x" * 1_000_000,
        "Sharpen a saw. " + "word " * 200_000,
        "Sharpen a saw. \x00\x1b[2J\x07\r\n\u202e\u2028",
        "Sharpen a saw. \ud800\udfff\udc00",
        "Sharpen a saw. " + "a\u0301" * 1_000,
    ],
)
@pytest.mark.parametrize("recipe", [Recipe(), LEXICAL])
def test_a_hostile_description_hides_neither_its_tool_nor_others(
    description: str, recipe: Recipe
) -> None:
    catalog = Catalog([tool("hone", description, "\ud800 saw\x00"), *TOWN])
    searched = SearchEngine(recipe=recipe, patience=FOREVER)
    assert names(searched.search(catalog, "sharpen a saw"))[0] == "hone"
    assert (
        names(searched.search(catalog, "renew the loan of a book"))[0] == "mcp_library_renew_loan"
    )


@quick(100)
@given(query=any_text, description=any_text, parameter=any_text)
def test_no_text_breaks_a_search(query: str, description: str, parameter: str) -> None:
    made = tool("hone", description, parameter)
    hits = engine().search(Catalog([made, *TOWN.tools[:5]]), query)
    assert len(hits) <= 5


@requirement("SEARCH-6")
def test_equal_catalogs_share_one_index_and_get_their_own_tools() -> None:
    searched = engine()
    other = Catalog([replace(one) for one in reversed(TOWN.tools)])
    assert searched.index(TOWN) is searched.index(other)
    for catalog in (TOWN, other):
        assert all(
            any(hit.tool is one for one in catalog) for hit in searched.search(catalog, "send book")
        )


@requirement("SEARCH-6")
def test_no_more_indexes_are_kept_than_wanted_and_the_ones_in_use_stay() -> None:
    searched = engine(keep=2)
    first, second, third = (Catalog(TOWN.tools[at : at + 10]) for at in (0, 10, 20))
    kept = {at: searched.index(catalog) for at, catalog in enumerate((first, second))}
    assert searched.index(first) is kept[0]
    searched.index(third)
    assert searched.index(first) is kept[0]
    assert searched.index(second) is not kept[1]


@requirement("SEARCH-6")
def test_threads_that_search_at_once_find_the_same_and_share_the_index() -> None:
    searched, together = engine(), Barrier(8)
    queries = ("send a letter", "renew the loan of a book", "is there a storm", "tyres")
    expected = {query: placed(engine().search(TOWN, query)) for query in queries}
    odd: list[str] = []
    indexes: list[object] = []

    def work() -> None:
        catalog = Catalog(TOWN)
        together.wait()
        indexes.append(searched.index(catalog))
        found = ((query, placed(searched.search(catalog, query))) for query in queries * 3)
        odd.extend(query for query, hits in found if hits != expected[query])

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (odd, len(indexes), len(set(map(id, indexes)))) == ([], 8, 1)
