"""Damaged entries of the cache are computed again, and meaning stays on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.requirements import requirement
from tests.search.embedders import Bag
from tests.search.town import TOWN
from tooldrawer import SearchEngine
from tooldrawer.search.vectors import Shelf, VectorStore

QUERY = "renew the loan of a book"
DAMAGES = {
    "one byte short": "randomblob(length(vector) - 1)",
    "other bytes": "randomblob(length(vector))",
    "cut off": "substr(vector, 1, length(vector) - 2)",
    "two bytes too many": "vector || x'0000'",
    "empty": "x''",
    "null": "NULL",
    "text": "'vector'",
    "number": "7",
}


def search(folder: Path, bag: Bag) -> list[tuple[str, float]]:
    engine = SearchEngine(embedder=lambda: bag, cache=str(folder), patience=60)
    hits = engine.search(TOWN, QUERY)
    assert engine.notice(TOWN) == ""
    assert engine.prepare(TOWN).has_meaning
    return [(hit.tool.name, hit.score) for hit in hits]


@requirement("SEARCH-6")
@requirement("SEARCH-8")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("some", ["1", "content < x'80'"], ids=["all", "some"])
def test_damaged_entries_are_computed_and_stored_again(
    damage: str, some: str, tmp_path: Path
) -> None:
    expected = search(tmp_path, Bag())
    for name in ("vectors", "words"):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite3")) as database, database:
            database.execute(f"UPDATE vectors SET vector = {damage} WHERE {some}")
    again = Bag()
    assert search(tmp_path, again) == expected
    assert again.read
    repaired = Bag()
    assert search(tmp_path, repaired) == expected
    assert repaired.read == []


@requirement("SEARCH-6")
def test_vectors_of_different_lengths_do_not_turn_meaning_off(tmp_path: Path) -> None:
    kept = Shelf(tmp_path / "vectors.sqlite3")
    search(tmp_path, Bag())
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite3")) as database:
        (content,) = database.execute("SELECT content FROM vectors LIMIT 1").fetchone()
    for wrong in (b"abc", b"ab" * 7, b""):
        kept.write(Bag().identity, [(content, wrong)])
        bag = Bag()
        assert VectorStore(bag, kept).vectors(TOWN.tools).is_complete
        assert len(bag.read) == 1
