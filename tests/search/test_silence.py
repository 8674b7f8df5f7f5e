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
