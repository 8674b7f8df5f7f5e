"""Each ingredient of a search can be left out, and then what it brings is missing."""

from dataclasses import replace

import pytest

from tests.search.embedders import Bag, Told
from tests.search.town import TOWN
from tooldrawer import Hit, Recipe, SearchEngine
from tooldrawer.search import EVERYTHING, LEXICAL
from tooldrawer.search.embedder import Embedder


def search(query: str, recipe: Recipe, embedder: Embedder | None = None) -> list[Hit]:
    made = embedder or Bag()
    engine = SearchEngine(recipe=recipe, embedder=lambda: made, cache=None, patience=60)
    return engine.search(TOWN, query)


def first(query: str, recipe: Recipe) -> str:
    return next((hit.tool.local_name for hit in search(query, recipe)), "")


def test_the_ingredients_have_names_and_all_are_in_everything() -> None:
    assert len(Recipe.names()) == len(set(Recipe.names()))
    assert all(getattr(EVERYTHING, name) for name in Recipe.names())
    assert {name for name in Recipe.names() if not getattr(LEXICAL, name)} == {"meaning"}


def test_meaning_finds_what_shares_no_word() -> None:
    query = "zwiebel knoblauch quark"
    told = Told({query: "kitchen: find recipe. Find a recipe for some ingredients. ingredients"})
    recipe = Recipe(silence=False, languages=False, spelling=False)
    assert search(query, recipe, told)[0].tool.local_name == "find_recipe"
    assert search(query, replace(recipe, meaning=False), told) == []


@pytest.mark.parametrize(
    ("ingredient", "query", "found"),
    [
        ("languages", "lösche die Datei", "delete_file"),
        ("languages", "удалить файл", "delete_file"),
        ("synonyms", "shrink a photo", "resize_image"),
        ("spelling", "preheet the ovn", "preheat_oven"),
        ("spelling", "stormwarnings", "list_storm_warnings"),
    ],
)
def test_an_ingredient_finds_what_is_not_found_without_it(
    ingredient: str, query: str, found: str
) -> None:
    assert first(query, LEXICAL) == found
    assert first(query, replace(LEXICAL, **{ingredient: False})) != found


def test_with_needs_each_thing_that_was_asked_for_has_its_tool_on_top() -> None:
    query = "get the balance of the account and then list the transactions of the account"
    other = "list the payments of an account in a month, and also measure how deep the snow is"
    for asked, wanted in (
        (query, {"get_balance", "list_transactions"}),
        (other, {"list_transactions", "measure_snow"}),
    ):
        top = [hit.tool.local_name for hit in search(asked, LEXICAL)]
        assert set(top[:2]) == wanted


def test_without_needs_the_longer_part_of_a_query_may_take_all_places() -> None:
    query = "reserve the book for the reader, list the books of the reader and show the tides"
    with_needs = [hit.tool.local_name for hit in search(query, LEXICAL)[:3]]
    without = [hit.tool.local_name for hit in search(query, replace(LEXICAL, needs=False))[:3]]
    assert "get_tides" in with_needs
    assert "get_tides" not in without


def test_without_weighing_words_and_meaning_make_up_the_whole_score_alike() -> None:
    for hit in search("renew the loan of a book", Recipe(weighing=False)):
        others = {part: worth for part, worth in hit.parts.items() if worth}
        assert others.keys() <= {"words", "meaning"}
        assert hit.score == pytest.approx(hit.parts["words"] + hit.parts["meaning"], abs=0.01)


def test_without_silence_there_is_always_an_answer_and_with_it_never_a_worse_one_first() -> None:
    queries = ("book", "send a letter", "paint the moon", "knit a jumper", "tune a violin", "x y z")
    for query in queries:
        loud = search(query, Recipe(silence=False))
        quiet = search(query, Recipe())
        assert len(loud) == 5
        assert not quiet or quiet[0] == loud[0]
