"""Which queries get an empty reply: those without a meaning."""

import pytest

from tests.requirements import requirement
from tests.search.town import TOWN, tool
from tooldrawer import Catalog, Recipe, SearchEngine
from tooldrawer.search import LEXICAL
from tooldrawer.search.text import is_function_word, words

RECIPES = [Recipe(), LEXICAL]
THREE = Catalog(
    [
        tool("create_issue", "Open a ticket.", "assignee"),
        tool("list_pods", "Show what runs in a cluster."),
        tool("query_data_source", "Look rows up."),
    ]
)


def names(catalog: Catalog, query: str, recipe: Recipe) -> list[str]:
    engine = SearchEngine(recipe=recipe, patience=60)
    return [hit.tool.name for hit in engine.search(catalog, query)]


@requirement("SEARCH-7")
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("query", "query_data_source"),
        ("find query", "query_data_source"),
        ("assignee", "create_issue"),
        ("assignees", "create_issue"),
        ("create_iss", "create_issue"),
        ("iss", "create_issue"),
        ("clustr", "list_pods"),
        ("the cluster of a quixotic zeppelin", "list_pods"),
    ],
)
def test_a_word_of_a_tool_or_one_like_it_finds_the_tool(
    query: str, first: str, recipe: Recipe
) -> None:
    assert names(THREE, query, recipe)[0] == first


@requirement("SEARCH-7")
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("catalog", [TOWN, Catalog(TOWN.tools[:3])])
def test_every_word_of_a_name_a_parameter_or_a_description_finds_something(
    catalog: Catalog, recipe: Recipe
) -> None:
    engine = SearchEngine(recipe=recipe, patience=60)
    engine.prepare(catalog)
    for one in catalog:
        parameters = one.parameters.get("properties")
        assert isinstance(parameters, dict)
        for word in f"{one.local_name} {one.description} {' '.join(parameters)}".split():
            assert engine.search(catalog, word), word
            # Small words say nothing about what is wanted, unless there are no others.
            if not all(map(is_function_word, words(word))):
                assert engine.search(catalog, f"find {word} zeppelin"), word


@requirement("SEARCH-7")
@requirement("BR-9")
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("query", ["xqzvk", "zzzz", "asdfgh qwertzu", "!!!", "  ", "\u200b"])
def test_input_without_meaning_finds_nothing(query: str, recipe: Recipe) -> None:
    assert names(TOWN, query, recipe) == []


@requirement("SEARCH-7")
def test_a_request_in_words_that_no_tool_has_gets_the_nearest_tools() -> None:
    assert names(THREE, "unicorn", Recipe())
    assert names(THREE, "unicorn", LEXICAL) == []


MIXED = Catalog(
    [
        tool("t2", "在数据库中查询订单", "订单号"),
        tool("create_issue", "Create an issue.", "assignee reference"),
        tool("search_orders", "Look up an order in a database."),
        tool("zadacha", "Создать задачу в трекере"),
        tool("t3", "สร้างงานใหม่ในโครงการ"),
        tool("t4", "課題を作成する"),
        tool("t5", "이슈를 생성합니다"),
    ]
)


@requirement("SEARCH-7")
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("订单号", "t2"),
        ("单号", "t2"),
        ("查询", "t2"),
        ("在数据库中查询订单", "t2"),
        ("งานใหม่", "t3"),
        ("作成", "t4"),
        ("課題を作", "t4"),
    ],
)
def test_text_without_spaces_finds_the_tool_that_contains_it(
    query: str, first: str, recipe: Recipe
) -> None:
    assert names(MIXED, query, recipe)[0] == first
    alone = Catalog([one for one in MIXED if one.name in {first, "create_issue"}])
    assert names(alone, query, recipe)[0] == first


@requirement("SEARCH-7")
@pytest.mark.parametrize(
    "query", ["请查询我的订单", "請作成", "我要写", "이슈", "задачи", "трекер"]
)
def test_a_piece_or_another_form_of_a_foreign_word_finds_the_tool_by_words_alone(
    query: str,
) -> None:
    foreign = [one for one in MIXED if not one.description.isascii()]
    assert names(Catalog([*foreign, tool("t6", "写文件")]), query, LEXICAL)


@requirement("SEARCH-5")
@requirement("SEARCH-7")
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("query", ["assigne", "assigned", "assigning", "referenced", "referencing"])
def test_an_english_word_that_is_a_form_of_a_tools_word_finds_the_tool(
    query: str, recipe: Recipe
) -> None:
    assert names(MIXED, query, recipe)[0] == "create_issue"


@requirement("SEARCH-7")
def test_a_contraction_finds_the_tool_that_has_it() -> None:
    catalog = Catalog([tool("keep", "Files that don't change."), tool("drop", "Remove files.")])
    assert names(catalog, "don't", LEXICAL) == ["keep"]


@requirement("SEARCH-4")
@pytest.mark.parametrize("recipe", RECIPES)
def test_literal_matches_keep_their_order_for_any_limit_and_have_the_highest_scores(
    recipe: Recipe,
) -> None:
    many = Catalog([*MIXED, *(tool(f"order_{at}", f"查询订单 {'x' * at}") for at in range(9))])
    engine = SearchEngine(recipe=recipe, patience=60)
    hits = engine.search(many, "查询", 20)
    assert hits[0].tool.name == "order_0"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for limit in range(1, 20):
        assert [hit.tool for hit in engine.search(many, "查询", limit)] == [
            hit.tool for hit in hits[:limit]
        ]
