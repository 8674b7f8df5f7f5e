"""The benchmark of retrieval: what it makes of answers, what it shows, and what it refuses."""

from collections.abc import Sequence
from math import log2
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from tests.bench.sets import QUERIES, TOOLS, write_catalogs, write_own, write_set
from tests.cli.shell import Shell
from tooldrawer.bench.labelled import Asked, LabelledSet, chosen, load
from tooldrawer.bench.retrieval import MEAN, Figures, Method, methods, run
from tooldrawer.catalog import Catalog
from tooldrawer.errors import ConfigError
from tooldrawer.search import Recipe
from tooldrawer.search.embedder import Vectors
from tooldrawer.tool import Tool


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def scripted(**answers: Sequence[str]) -> Method:
    """A search that answers by the first word of a query."""
    return lambda _: lambda query: answers.get(query.split()[0], ())


def one_set(*queries: Asked, name: str = "invented") -> LabelledSet:
    return LabelledSet(name=name, catalog=Catalog([Tool(name="saw")]), queries=queries)


def asked(text: str, *needs: str, kind: str = "") -> Asked:
    return Asked(text=text, needs=tuple(frozenset(need.split("|")) for need in needs), kind=kind)


def only(figures: Sequence[Figures], name: str, kind: str = "") -> Figures:
    (found,) = [each for each in figures if (each.set, each.kind) == (name, kind)]
    return found


@pytest.mark.parametrize(("count", "most", "kept"), [(10, 4, 4), (9, 9, 9), (9, 8, 5), (3, 9, 3)])
def test_a_sample_is_every_so_many_queries(count: int, most: int, kept: int) -> None:
    queries = tuple(asked(str(at)) for at in range(count))
    (one,) = chosen([one_set(*queries)], sample=most)
    step = -(-count // most)
    assert one.queries == queries[::step]
    assert len(one.queries) == kept


def test_the_figures_are_those_worked_out_by_hand() -> None:
    one = one_set(
        asked("first", "saw"),
        asked("second", "saw|jigsaw", "nail"),
        asked("silent", "saw"),
        asked("third"),
        asked("fourth"),
    )
    found = scripted(
        first=["saw"],
        second=["tape", "jigsaw", "glue", "rope", "wax", "nail"],
        third=["saw"],
    )
    (figures,) = run([one], {"scripted": found})
    assert (figures.set, figures.kind, figures.search) == ("invented", "", "scripted")
    assert (figures.queries, figures.unserved) == (5, 2)
    assert figures.hit_at_1 == pytest.approx(1 / 3)
    assert figures.recall_at_5 == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert figures.recall_at_10 == pytest.approx((1 + 1 + 0) / 3)
    late = (1 / log2(3) + 1 / log2(7)) / (1 + 1 / log2(3))
    assert figures.ndcg_at_10 == pytest.approx((1 + late + 0) / 3)
    assert figures.false_answers == 1 / 2
    assert figures.false_silences == pytest.approx(1 / 3)
    assert figures.interval is not None
    assert 0 <= figures.interval[0] <= 0.5 <= figures.interval[1] <= 1
    assert 0 < figures.p50_ms <= figures.p95_ms


def test_only_the_first_ten_answers_count() -> None:
    found = scripted(late=[*map(str, range(10)), "saw"])
    (figures,) = run([one_set(asked("late", "saw"))], {"scripted": found})
    assert (figures.recall_at_10, figures.false_silences) == (0, 0)


def test_where_no_query_tells_there_is_no_figure() -> None:
    served, unserved = asked("a", "saw", kind="step"), asked("b", kind="nobody")
    figures = run([one_set(served, unserved)], {"scripted": scripted(a=["saw"])})
    assert only(figures, "invented", "step").false_answers is None
    nobody = only(figures, "invented", "nobody")
    assert (nobody.hit_at_1, nobody.recall_at_5, nobody.interval) == (None, None, None)
    assert (nobody.false_answers, nobody.false_silences) == (0, None)


def test_kinds_have_figures_of_their_own_and_languages_one_more_together() -> None:
    one = one_set(
        asked("a", "saw", kind="phrase"), asked("b", "saw", kind="de"), asked("c", "saw", kind="fr")
    )
    figures = run([one], {"scripted": scripted(a=["saw"], b=["saw"])})
    recalls = {each.kind: each.recall_at_5 for each in figures}
    assert recalls == {
        "": pytest.approx(2 / 3), "phrase": 1, "de": 1, "fr": 0, "languages": 0.5
    }  # fmt: skip


def test_the_mean_weighs_each_set_the_same_and_leaves_out_the_ones_that_cannot_tell() -> None:
    many = one_set(*(asked("a", "saw") for _ in range(9)), asked("nobody"), name="many")
    few = one_set(asked("b", "saw"), name="few")
    figures = run([many, few], {"x": scripted(a=["saw"]), "y": scripted(b=["saw"])})
    assert [each.search for each in figures if each.set == MEAN] == ["x", "y"]
    for each in figures:
        if each.set == MEAN:
            assert (each.queries, each.unserved) == (11, 1)
            assert (each.recall_at_5, each.interval) == (0.5, (0.5, 0.5))
            assert each.false_answers == 0


class CountedEmbedder:
    """Turns words into vectors, and remembers which tools it was given."""

    identity = "counted"
    batch = 8

    def __init__(self) -> None:
        self.read: list[str] = []

    def tools(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        return self.queries(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), 32), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode()) % 32] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def test_each_ingredient_is_left_out_and_all_searches_read_the_tools_once(tmp_path: Path) -> None:
    sets = load(data=write_set(tmp_path / "house"))
    embedder = CountedEmbedder()
    searches = methods(cache=str(tmp_path / "cache"), ablate=True, embedder=lambda: embedder)
    left_out = [f"without {name}" for name in Recipe.names() if name != "meaning"]
    assert list(searches) == ["full", "lexical", "plain", *left_out]
    figures = run(sets, searches)
    assert len(embedder.read) == len(TOOLS)
    assert [each.search for each in figures if not each.kind] == list(searches)


def test_a_search_that_lost_its_vectors_is_not_passed_off_as_the_full_one(tmp_path: Path) -> None:
    class Broken(CountedEmbedder):
        def tools(self, texts: Sequence[str]) -> Vectors:
            raise RuntimeError("the weights are gone")

    searches = methods(cache=str(tmp_path / "cache"), embedder=Broken)
    with pytest.raises(ConfigError, match=r"The full search cannot be measured: .* are gone\."):
        run(load(data=write_set(tmp_path / "house")), searches)


def test_the_command_measures_public_sets_and_our_own_queries_and_writes_the_table(
    shell: Shell,
) -> None:
    write_set(shell.folder / "sets" / "house")
    write_catalogs(shell.folder / "lists")
    write_own(shell.folder / "own.tsv")
    shell.write("doc.md", "# Found\n<!-- figures: retrieval -->\nbefore\n<!-- /figures -->\nEnd.\n")
    figures = shell.run(
        *("bench", "retrieval", "--data", "sets", "--catalog", "lists", "--queries", "own.tsv"),
        *("--write", "doc.md", "--json"),
    ).json
    sets = [each["set"] for each in figures if not each["kind"] and each["search"] == "full"]
    assert sets == ["house", "own", MEAN]
    assert {each["search"] for each in figures} == {"full", "lexical", "plain"}
    house = next(each for each in figures if (each["set"], each["search"]) == ("house", "plain"))
    assert (house["queries"], house["unserved"]) == (len(QUERIES), 1)
    assert (house["hit_at_1"], house["recall_at_5"], house["false_silences"]) == (1, 1, 0)
    text = (shell.folder / "doc.md").read_text(encoding="utf-8")
    assert text.startswith("# Found\n<!-- figures: retrieval -->\n| set | search | queries | hit@1")
    assert "\n| house: task | lexical | 2 | " in text
    assert text.endswith("\nWritten by `tooldrawer bench retrieval`.\n<!-- /figures -->\nEnd.\n")
    assert "before" not in text
    assert text.count("\n| ") == len(figures) + 1


def test_the_table_for_people_has_a_line_for_each_search(shell: Shell) -> None:
    write_set(shell.folder / "house")
    shown = shell.run(
        *("bench", "retrieval", "--data", "house", "--kind", "step", "--sample", "1"),
        *("--cache", "kept"),
    ).text
    assert shown.split()[:4] == ["set", "search", "queries", "hit@1"]
    rows = [line.split() for line in shown.splitlines()[2:]]
    assert [row[:2] for row in rows[:3]] == [
        ["house", name] for name in ("full", "lexical", "plain")
    ]
    assert [row[:2] for row in rows[3:]] == [["house:", "step"]] * 3
    assert MEAN not in shown
    assert (shell.folder / "kept" / "vectors.sqlite3").exists()


@pytest.mark.parametrize(
    "given",
    [(), ("--catalog", "lists"), ("--queries", "own.tsv"), ("--data", "house", "--queries", "x")],
)
def test_a_command_without_tools_or_without_queries_says_what_is_needed(
    shell: Shell, given: tuple[str, ...]
) -> None:
    said = shell.run("bench", "retrieval", *given).refusal
    assert "--data DIR, or --catalog DIR and --queries PATH" in said


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--data", "nowhere"), "nowhere: cannot be read: No such file or directory."),
        (("--data", "lists"), "lists: has no set; expected tools.jsonl and queries.jsonl"),
        (("--data", "house", "--set", "barn"), "There is no set 'barn'; there are house."),
        (("--data", "house", "--kind", "poem"), "there are step, task, nobody."),
        (("--data", "house", "--sample", "0"), "'--sample'"),
        (("--data", "house", "--write", "no.md"), "no.md: cannot be read"),
        (("--catalog", "lists", "--queries", "no.tsv"), "no.tsv: cannot be read: No such file"),
        (("--catalog", "lists", "--queries", "house"), "house: has no *.tsv file with queries."),
        (("--catalog", "nowhere", "--queries", "own.tsv"), "nowhere: cannot be read"),
    ],
)
def test_what_is_not_there_is_named(shell: Shell, given: tuple[str, ...], words: str) -> None:
    write_set(shell.folder / "house")
    write_catalogs(shell.folder / "lists")
    write_own(shell.folder / "own.tsv")
    assert words in shell.run("bench", "retrieval", *given).refusal
