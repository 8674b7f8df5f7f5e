"""Searches with the vectors of a server, and without them when it fails."""

from dataclasses import replace
from pathlib import Path

from tests.fakes import Clock
from tests.search.embedding_server import KEY, EmbeddingServer, answer, counted, failing, model
from tooldrawer import Catalog, Recipe, SearchEngine, Tool
from tooldrawer.search.endpoint import Endpoint
from tooldrawer.search.spec import EndpointSpec

LEVEL = Recipe(weighing=False, silence=False)
"""Nothing that was learned for the model in the package."""
GARDEN = Catalog(
    [
        Tool(name="sprinkle", description="Give the plants water."),
        Tool(name="lend_book", description="Lend a book to a reader."),
        Tool(name="ring_bell", description="Ring the bell at the door."),
    ]
)


def engine(
    spec: EndpointSpec, *, cache: Path | None = None, clock: Clock | None = None
) -> SearchEngine:
    return SearchEngine(
        recipe=LEVEL,
        embedder=lambda: Endpoint(spec),
        cache=str(cache) if cache else None,
        patience=30,
        clock=clock or Clock(),
    )


def names(searched: SearchEngine, query: str, catalog: Catalog = GARDEN) -> list[str]:
    return [hit.tool.name for hit in searched.search(catalog, query, 1)]


def test_a_tool_is_found_by_what_only_the_servers_model_knows(spec: EndpointSpec) -> None:
    searched = engine(spec)
    assert names(searched, "zorble") == ["sprinkle"]
    assert searched.notice(GARDEN) == ""
    (hit,) = searched.search(GARDEN, "zorble", 1)
    assert hit.parts["meaning"] > 0
    assert names(SearchEngine(recipe=replace(LEVEL, meaning=False), cache=None), "zorble") == []


def test_tools_that_are_known_are_not_asked_for_again(
    server: EmbeddingServer, spec: EndpointSpec, tmp_path: Path
) -> None:
    assert names(engine(spec, cache=tmp_path), "zorble") == ["sprinkle"]
    asked = len(server.texts)
    assert names(engine(spec, cache=tmp_path), "zorble") == ["sprinkle"]
    assert server.texts[asked:] == ["zorble"]
    engine(replace(spec, model="small"), cache=tmp_path).prepare(GARDEN)
    assert len(server.texts) == asked + 1 + len(GARDEN)


def test_a_model_that_gives_other_vectors_under_the_same_name_leaves_words(
    server: EmbeddingServer, spec: EndpointSpec, tmp_path: Path
) -> None:
    engine(spec, cache=tmp_path).prepare(GARDEN)
    server.reply = lambda asked: answer([counted(text, 8) for text in asked.texts])
    searched = engine(spec, cache=tmp_path)
    assert names(searched, "lend a book") == ["lend_book"]
    assert "has 8 numbers, those of known tools have 64" in searched.notice(GARDEN)


def test_an_endpoint_that_dies_after_the_index_leaves_words_and_a_notice(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    searched = engine(spec)
    searched.prepare(GARDEN)
    server.stop()
    assert names(searched, "lend a book") == ["lend_book"]
    notice = searched.notice(GARDEN)
    assert notice.startswith("search by meaning was off, words alone decided: The embeddings")
    assert f"{server.origin} with model 'tiny' cannot be reached" in notice
    assert KEY not in notice
    assert names(searched, "zorble") == []


def test_meaning_is_back_with_the_endpoint(server: EmbeddingServer, spec: EndpointSpec) -> None:
    searched = engine(spec)
    searched.prepare(GARDEN)
    server.reply = failing(500)
    assert names(searched, "zorble") == []
    assert "HTTP 500" in searched.notice(GARDEN)
    server.reply = model
    assert names(searched, "zorble") == ["sprinkle"]
    assert searched.notice(GARDEN) == ""


def test_a_failed_index_is_tried_again_by_a_search_half_a_minute_later(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    clock = Clock()
    searched = engine(spec, clock=clock)
    server.reply = failing(401)
    assert names(searched, "lend a book") == ["lend_book"]
    notice = searched.notice(GARDEN)
    assert notice.startswith("search by meaning is off for these tools: The embeddings endpoint")
    assert KEY not in notice
    server.reply = model
    clock.now += 29
    assert names(searched, "zorble") == []
    assert searched.notice(GARDEN) == notice
    assert len(server.received) == 1
    clock.now += 1
    assert names(searched, "zorble") == ["sprinkle"]
    assert searched.notice(GARDEN) == ""


def test_an_index_that_fails_again_waits_again(server: EmbeddingServer, spec: EndpointSpec) -> None:
    clock = Clock()
    searched = engine(spec, clock=clock)
    server.reply = failing(503)
    for expected in (1, 1, 2, 2, 3):
        names(searched, "lend a book")
        assert len(server.received) == expected
        clock.now += 15
    assert "HTTP 503" in searched.notice(GARDEN)


def test_settings_that_cannot_be_used_leave_words_and_a_notice() -> None:
    searched = engine(EndpointSpec(url="ftp://here", model="tiny"))
    assert names(searched, "lend a book") == ["lend_book"]
    assert "embeddings.url is a text that does not begin with http" in searched.notice(GARDEN)


def test_a_catalog_without_tools_asks_nobody(server: EmbeddingServer, spec: EndpointSpec) -> None:
    empty = Catalog([])
    searched = engine(spec)
    assert names(searched, "lend a book", empty) == []
    assert searched.notice(empty) == ""
    assert server.received == []
