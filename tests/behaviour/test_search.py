"""Search by words: what is found, in which order, and what it costs to change."""

import pytest

from tests.requirements import requirement
from tooldrawer import Catalog, Hit, Recipe, SearchEngine, Tool
from tooldrawer.search import EVERYTHING, LEXICAL


def tool(name: str, description: str = "", *parameters: str, source: str = "") -> Tool:
    properties = {name: {"type": "string"} for name in parameters}
    schema = {"type": "object", "properties": properties}
    return Tool(name=name, description=description, parameters=schema, source=source)


OFFICE = Catalog(
    [
        tool("createEvent", "Put a meeting into the calendar.", "guestList", source="mcp-outlook"),
        tool("mcp_mail_send_message", "Send an e-mail.", "recipient", source="mcp-mail"),
        tool("mcp_mail_list_messages", "List e-mails in a folder.", source="mcp-mail"),
        tool("resize-image", "Change the width and height of a picture."),
        tool("s3.upload_object", "Store a file in a bucket.", source="mcp-aws"),
        tool("cafe_booking", "Réserver une table au café."),
    ]
)


def found(
    query: str, catalog: Catalog = OFFICE, limit: int = 5, recipe: Recipe = EVERYTHING
) -> list[str]:
    engine = SearchEngine(recipe=recipe)
    engine.prepare(catalog)
    return [hit.tool.name for hit in engine.search(catalog, query, limit)]


@requirement("SEARCH-1")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create event", "createEvent"),
        ("guests", "createEvent"),
        ("sending messages", "mcp_mail_send_message"),
        ("recipients", "mcp_mail_send_message"),
        ("outlook", "createEvent"),
        ("resize images", "resize-image"),
        ("upload to S3", "s3.upload_object"),
        ("reserver une table", "cafe_booking"),
        ("CAFÉ", "cafe_booking"),
    ],
)
def test_words_are_found_whatever_their_notation_case_or_ending(query: str, first: str) -> None:
    assert found(query)[0] == first


@requirement("SEARCH-1")
def test_when_no_word_is_shared_a_part_of_the_name_is_enough() -> None:
    assert found("ooking")[0] == "cafe_booking"
    assert found("afe_b") == ["cafe_booking"]
    assert found("xyzzy") == []


@requirement("BR-9")
def test_a_tool_that_shares_only_small_words_with_a_need_does_not_fit_it() -> None:
    assert found("I would like to have a unicorn with this, please", recipe=LEXICAL) == []
    assert found("a meeting for all of us")[0] == "createEvent"


@requirement("SEARCH-1")
def test_a_word_that_every_tool_has_still_finds_them() -> None:
    github = Catalog([tool(f"mcp_github_{verb}") for verb in ("get", "list", "open")])
    assert len(found("github", github)) == 3


@requirement("SEARCH-2")
@pytest.mark.parametrize(
    "query",
    ["mcp_mail_list_messages", "MAIL__LIST_MESSAGES", "mail.list_messages", "Mail/List_Messages"],
)
def test_an_exact_name_in_any_notation_is_first(query: str) -> None:
    decoys = [tool(f"list_{n}", "list messages mail " * 9) for n in range(20)]
    catalog = Catalog([*decoys, *OFFICE])
    assert found(query, catalog)[0] == "mcp_mail_list_messages"


@requirement("SEARCH-2")
def test_a_bare_name_that_several_have_puts_them_all_first() -> None:
    catalog = Catalog(
        [
            tool("mcp_b_search", "Look.", source="mcp-b"),
            tool("search_search_search", "search " * 30, "search"),
            tool("mcp_a_search", "Look.", source="mcp-a"),
        ]
    )
    assert found("search", catalog) == ["mcp_a_search", "mcp_b_search", "search_search_search"]


@requirement("SEARCH-4")
def test_ties_go_by_name_and_the_order_of_the_catalog_does_not_count() -> None:
    twins = [tool(name, "Same words.") for name in ("delta", "alpha", "charlie", "bravo")]
    assert found("same words", Catalog(twins)) == ["alpha", "bravo", "charlie", "delta"]
    assert found("same words", Catalog(twins[::-1])) == ["alpha", "bravo", "charlie", "delta"]


@requirement("SEARCH-6")
def test_equal_catalogs_share_one_index() -> None:
    engine = SearchEngine()
    assert engine.index(Catalog(OFFICE)) is engine.index(Catalog(reversed(OFFICE.tools)))


@requirement("SEARCH-6")
def test_a_grown_index_finds_what_a_fresh_one_finds() -> None:
    engine = SearchEngine()
    engine.prepare(OFFICE)
    changed = Catalog([*OFFICE.tools[1:], tool("paint", "Change the colour of a picture.")])
    engine.prepare(changed)
    fresh = SearchEngine()
    fresh.prepare(changed)
    grown = engine.search(changed, "change picture")
    assert grown == fresh.search(changed, "change picture")
    assert {hit.tool.name for hit in grown[:2]} == {"paint", "resize-image"}


def test_hits_have_a_tool_and_a_falling_score() -> None:
    hits = SearchEngine().search(OFFICE, "list mail messages")
    assert all(isinstance(hit, Hit) for hit in hits)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", ["", "   ", "!?", "\0", "ß" * 5000])
def test_an_empty_or_odd_query_finds_nothing_and_breaks_nothing(query: str) -> None:
    assert found(query) == []
