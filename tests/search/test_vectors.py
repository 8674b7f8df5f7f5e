"""Vectors are made once for each content, for all processes, and their store is only a cache."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.packaging.python import CHECKOUT
from tests.properties.strategies import any_text, quick
from tests.search.embedders import Bag
from tests.search.town import TOWN, tool
from tooldrawer import Catalog, SearchEngine, Tool
from tooldrawer.search import vectors as module
from tooldrawer.search.embedder import Vectors, shipped
from tooldrawer.search.vector_table import VectorTable
from tooldrawer.search.vectors import Shelf, VectorStore, shelf

CONTENTS = [bytes([at]) * 16 for at in range(100)]


def made(tools: Sequence[Tool], kept: Shelf | None, embedder: Bag | None = None) -> int:
    """How many texts a new store with that shelf has to read; its vectors are the right ones."""
    used = embedder or Bag()
    found = VectorStore(used, kept).vectors(tools).rows
    count = len(used.read)
    assert found.tolist() == VectorStore(used).vectors(tools).rows.tolist()
    return count


def fill(store: VectorStore, tools: Sequence[Tool], progress: Callable[[int], None]) -> None:
    store.fill(VectorTable([one.fingerprint for one in tools]), tools, progress=progress)


@pytest.fixture
def kept(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "deep" / "down" / "vectors.sqlite3")


def test_a_row_for_each_tool_in_order_of_length_one() -> None:
    store = VectorStore(Bag())
    forth, back = (store.vectors(tools).rows for tools in (TOWN.tools, TOWN.tools[::-1]))
    assert forth.dtype == np.float32
    assert forth.shape[0] == len(TOWN)
    assert np.array_equal(forth[::-1], back)
    assert np.allclose(np.linalg.norm(forth, axis=1), 1, atol=1e-3)
    assert len(store.vectors([]).rows) == 0


def test_a_store_reads_no_tool_twice() -> None:
    bag = Bag()
    store = VectorStore(bag)
    store.vectors(TOWN.tools[:10])
    store.vectors(TOWN.tools[5:15])
    store.vectors(TOWN.tools[:15])
    assert len(bag.read) == 15


def test_tools_that_say_the_same_are_read_once() -> None:
    bag = Bag()
    twins = [replace(tool("hone"), name=f"hone_{at}", origin_name="hone") for at in range(9)]
    assert len(VectorStore(bag).vectors(twins).rows) == 9
    assert len(bag.read) == 1


def test_what_is_left_to_read_is_told_step_by_step() -> None:
    told: list[int] = []
    tools = [tool(f"hone_{at}") for at in range(150)]
    store = VectorStore(Bag())
    store.vectors(tools[:10])
    fill(store, tools, told.append)
    assert told[0] == 140
    assert told == sorted(told, reverse=True)
    assert len(told) > 1
    told.clear()
    fill(store, tools, told.append)
    assert told == []


def test_what_one_store_has_read_another_with_the_same_folder_knows(kept: Shelf) -> None:
    assert made(TOWN.tools, kept) == 40
    assert made(TOWN.tools, kept) == 0
    assert made(TOWN.tools[::-1], kept) == 0


def test_another_model_reads_everything_again_and_neither_disturbs_the_other(kept: Shelf) -> None:
    for identity, expected in (("one", 40), ("two", 40), ("one", 0), ("two", 0)):
        assert made(TOWN.tools, kept, Bag(identity)) == expected


def test_a_tool_that_changed_is_read_again_alone(kept: Shelf) -> None:
    made(TOWN.tools, kept)
    changed = replace(TOWN.tools[0], description="Send a letter by sea.")
    assert made([changed, *TOWN.tools[1:]], kept) == 1


def test_what_a_killed_process_had_read_is_not_lost(kept: Shelf) -> None:
    class Mortal(Bag):
        def tools(self, texts: Sequence[str]) -> Vectors:
            if len(self.read) >= 100:
                raise KeyboardInterrupt
            return super().tools(texts)

    tools = [tool(f"hone_{at}") for at in range(200)]
    with pytest.raises(KeyboardInterrupt):
        VectorStore(Mortal(), kept).vectors(tools)
    assert 0 < made(tools, kept) <= 100


def test_a_program_that_ends_soon_leaves_the_next_one_less_to_read(kept: Shelf) -> None:
    class Mortal:
        """The encoder of the package, in a program that ends after twenty tools."""

        identity, batch, queries = shipped().identity, shipped().batch, shipped().queries

        def __init__(self) -> None:
            self.left = 20

        def tools(self, texts: Sequence[str]) -> Vectors:
            self.left -= len(texts)
            if self.left < 0:
                raise KeyboardInterrupt
            return shipped().tools(texts)

    left: list[int] = []
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            fill(VectorStore(Mortal(), kept), TOWN.tools, left.append)
    first, second = left[0], left[len(left) // 2]
    assert (first, second) == (40, 24)


def test_vectors_from_disk_give_the_very_hits_of_fresh_ones(tmp_path: Path) -> None:
    queries = ("send a letter", "snow", "list the loans of a reader", "money", "how late is it")
    engines = [
        SearchEngine(embedder=Bag, cache=cache, patience=60)
        for cache in (None, str(tmp_path), str(tmp_path))
    ]
    fresh, first, second = (
        [engine.search(TOWN, query, 20) for query in queries] for engine in engines
    )
    assert fresh == first == second


def test_a_shelf_keeps_no_more_than_it_may_and_what_was_put_in_last(tmp_path: Path) -> None:
    small = Shelf(tmp_path / "vectors.sqlite3", most=20)
    for at in range(0, 100, 5):
        small.write("old" if at < 50 else "new", [(one, one) for one in CONTENTS[at : at + 5]])
        stored = [*small.read("old", CONTENTS), *small.read("new", CONTENTS)]
        assert len(stored) <= 20
        assert set(CONTENTS[at : at + 5]) <= set(stored)
    assert small.read("old", CONTENTS) == {}


def test_what_nobody_asked_for_longest_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Shelf(tmp_path / "vectors.sqlite3", most=20)
    day = 86_400.0
    for now, contents in ((1, CONTENTS[:10]), (2, CONTENTS[10:20])):
        monkeypatch.setattr(module, "time", lambda now=now: now * day)
        small.write("m", [(one, one) for one in contents])
    monkeypatch.setattr(module, "time", lambda: 3 * day)
    assert set(small.read("m", CONTENTS[:5])) == set(CONTENTS[:5])
    small.write("m", [(one, one) for one in CONTENTS[20:25]])
    stored = set(small.read("m", CONTENTS))
    assert set(CONTENTS[:5]) <= stored
    assert not set(CONTENTS[5:10]) & stored
    assert set(CONTENTS[20:25]) <= stored


def test_more_contents_than_a_statement_takes_are_read_and_written(kept: Shelf) -> None:
    many = [at.to_bytes(16, "big") for at in range(5_000)]
    kept.write("m", [(one, one[::-1]) for one in many])
    found = kept.read("m", [*many, b"unknown"])
    assert found == {one: one[::-1] for one in many}


@pytest.mark.parametrize("damage", ["garbage", "cut", "header", "empty", "text"])
def test_a_damaged_file_costs_its_contents_only(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "vectors.sqlite3"
    made(TOWN.tools, Shelf(path))
    whole = path.read_bytes()
    assert len(whole) > 4_096
    damaged = {
        "garbage": os.urandom(len(whole)),
        "cut": whole[: len(whole) // 2],
        "header": whole[:100] + b"\xff" * (len(whole) - 100),
        "empty": b"",
        "text": b"this is no database",
    }
    path.write_bytes(damaged[damage])
    assert made(TOWN.tools, Shelf(path)) > 0
    # Whoever finds the damage may throw it away; who comes then starts anew.
    made(TOWN.tools, Shelf(path))
    assert made(TOWN.tools, Shelf(path)) == 0


def test_where_nothing_can_be_written_everything_works_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    (tmp_path / "folder.sqlite3").mkdir()
    for path in (
        tmp_path / "file" / "vectors.sqlite3",
        tmp_path / "folder.sqlite3",
        Path(os.devnull) / "vectors.sqlite3",
        Path("/proc/nowhere/vectors.sqlite3"),
    ):
        assert made(TOWN.tools, Shelf(path)) == 40
        assert made(TOWN.tools, Shelf(path)) == 40
    assert (tmp_path / "folder.sqlite3").is_dir()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to the superuser")
def test_a_folder_that_must_not_be_written_is_done_without(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert made(TOWN.tools, Shelf(tmp_path / "vectors.sqlite3")) == 40
    assert made(TOWN.tools, Shelf(tmp_path / "vectors.sqlite3")) == 40


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
@pytest.mark.parametrize("before", [None, 0o644])
def test_only_its_owner_can_read_what_is_kept(tmp_path: Path, before: int | None) -> None:
    path = tmp_path / "cache" / "vectors.sqlite3"
    if before is not None:
        Shelf(path).write("bag", [(CONTENTS[0], b"one")])
        path.chmod(before)
    Shelf(path).write("bag", [(CONTENTS[1], b"two")])
    assert {each.stat().st_mode & 0o777 for each in path.parent.iterdir()} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_by_default_vectors_are_in_the_users_cache_folder_and_on_demand_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert shelf(None) is None
    made(TOWN.tools, shelf(""))
    assert list((tmp_path / "cache").rglob("vectors.sqlite3"))
    made(TOWN.tools, shelf(str(tmp_path / "mine")))
    assert (tmp_path / "mine" / "vectors.sqlite3").is_file()


@quick(60)
@given(texts=st.lists(any_text, max_size=6))
def test_any_text_of_a_tool_has_a_vector(texts: list[str]) -> None:
    tools = [tool(f"hone_{at}", text, text) for at, text in enumerate(texts)]
    assert len(VectorStore(Bag()).vectors(tools).rows) == len(texts)


WRITING = """
import logging, sys
from pathlib import Path
from tests.search.embedders import Bag
from tests.search.town import tool
from tooldrawer.search.vectors import Shelf, VectorStore

logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
tools = [tool(f"hone_{number}") for number in range(int(sys.argv[1]), int(sys.argv[1]) + 100)]
print("ready", flush=True)
for path in sys.stdin:
    for at in range(0, 100, 25):
        VectorStore(Bag(), Shelf(Path(path.strip()))).vectors(tools[at : at + 25])
    print("ready", flush=True)
"""


def test_processes_that_write_at_once_lose_nothing_and_complain_about_nothing(
    tmp_path: Path,
) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITING, str(first)],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # Each shares half of its tools with the one before.
        for first in range(0, 250, 50)
    ]
    everything = [tool(f"hone_{number}") for number in range(300)]
    try:
        for number in range(20):  # each time a new file, which the first of them creates
            path = tmp_path / str(number) / "vectors.sqlite3"
            assert [_line(writer) for writer in writers] == ["ready\n"] * 5
            for writer in writers:
                _tell(writer, f"{path}\n")
        assert [writer.communicate() for writer in writers] == [("ready\n", None)] * 5
        for number in range(20):
            assert made(everything, Shelf(tmp_path / str(number) / "vectors.sqlite3")) == 0
    finally:
        for writer in writers:
            writer.kill()


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _tell(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()


def test_engines_with_one_folder_share_what_they_read(tmp_path: Path) -> None:
    bag = Bag()
    for _ in range(3):
        engine = SearchEngine(embedder=lambda: bag, cache=str(tmp_path), patience=60)
        assert engine.search(Catalog(TOWN), "send a letter")
    assert len(bag.read) == 40
