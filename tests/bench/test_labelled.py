"""Sets of labelled queries are read as they are meant, or refused with file and line."""

import json
from pathlib import Path

import pytest

from tests.bench.sets import OWN, TOOLS, write_catalogs, write_own, write_set
from tooldrawer.bench.labelled import chosen, load
from tooldrawer.errors import ConfigError


def test_a_set_is_read_with_its_needs_and_what_nobody_serves(tmp_path: Path) -> None:
    (one,) = load(data=write_set(tmp_path / "house"))
    assert one.name == "house"
    assert [tool.name for tool in one.catalog] == [str(row["name"]) for row in TOOLS]
    assert one.catalog.get("cut_wood").server == "shed"
    assert [asked.needs for asked in one.queries] == [
        (frozenset({"cut_wood"}),),
        (frozenset({"bake_bread"}), frozenset({"slice_bread"})),
        (frozenset({"glue_wood"}), frozenset({"bake_bread", "slice_bread"})),
        (),
    ]
    assert one.kinds == ("step", "task", "nobody")


def test_a_folder_of_sets_is_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write_set(tmp_path / name)
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").write_text("Not a set.", encoding="utf-8")
    assert [one.name for one in load(data=tmp_path)] == ["a", "b", "c"]
    assert [one.name for one in load(data=tmp_path, names=["c", "a"])] == ["a", "c"]


def test_labels_of_recorded_lists_mean_the_file_and_the_name_at_the_server(tmp_path: Path) -> None:
    lists = write_catalogs(tmp_path / "lists")
    (own,) = load(catalog=lists, queries=write_own(tmp_path / "own.tsv"))
    (_, several, *_) = own.queries
    found = [{(own.catalog.get(name).source, own.catalog.get(name).local_name) for name in need}
             for need in several.needs]  # fmt: skip
    assert found == [{("mcp-Tool Shed", "cut"), ("mcp-barn", "cut")}, {("mcp-barn", "feed")}]
    assert own.queries[-1].needs == ()
    assert own.kinds == ("phrase", "several", "de", "fr", "nobody", "languages")


def test_tools_that_share_a_name_are_told_apart_by_their_server(tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    lists.mkdir()
    for server, tool in (("a", "b_c"), ("a_b", "c")):  # both are mcp_a_b_c
        (lists / f"{server}.json").write_text(json.dumps([{"name": tool}]), encoding="utf-8")
    file = write_own(tmp_path / "own.tsv", "x\ta/b_c\tone", "x\ta_b/c\tother")
    (own,) = load(catalog=lists, queries=file)
    first, second = (own.catalog.get(next(iter(asked.needs[0]))) for asked in own.queries)
    assert (first.source, second.source) == ("mcp-a", "mcp-a_b")
    assert first.name != second.name


def test_every_file_of_a_folder_of_queries_is_a_set(tmp_path: Path) -> None:
    lists = write_catalogs(tmp_path / "lists")
    for name in ("known", "held_out"):
        write_own(tmp_path / f"{name}.tsv")
    found = load(data=write_set(tmp_path / "house"), catalog=lists, queries=tmp_path)
    assert [one.name for one in found] == ["house", "held_out", "known"]


def test_kinds_are_chosen_by_name_and_all_languages_at_once(tmp_path: Path) -> None:
    lists = write_catalogs(tmp_path / "lists")
    sets = load(
        data=write_set(tmp_path / "house"), catalog=lists, queries=write_own(tmp_path / "own.tsv")
    )
    (own,) = chosen(sets, ["languages"])
    assert [asked.kind for asked in own.queries] == ["de", "fr"]
    assert [one.name for one in chosen(sets, ["nobody"])] == ["house", "own"]
    with pytest.raises(ConfigError, match="No query is of the kind 'poem'; there are step, task,"):
        chosen(sets, ["step", "poem"])


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("tools", "", "tools.jsonl: has no tools, so there is nothing to find."),
        ("queries", "\n\n", "queries.jsonl: has no queries, so there is nothing to measure."),
        ("tools", '{"name": "a"}\n{"name"', "tools.jsonl:2: is not JSON: "),
        ("tools", '["a"]', "tools.jsonl:1: is JSON, but not an object."),
        ("tools", '{"description": "x"}', "tools.jsonl:1: has no 'name', which is needed."),
        ("tools", '{"name": 7}', "tools.jsonl:1: 'name' is not a text."),
        ("tools", '{"name": "a", "parameters": []}', "tools.jsonl:1: 'parameters' is no JSON"),
        ("tools", '{"name": "a"}\n\n{"name": "a"}', "tools.jsonl:3: is a second tool 'a'"),
        ("queries", '{"query": " ", "relevant": []}', "queries.jsonl:1: has no 'query'"),
        ("queries", '{"query": "x"}', "queries.jsonl:1: 'relevant' is no list of tools' names"),
        (
            "queries",
            '{"query": "x", "relevant": ["cut_woods"]}',
            "queries.jsonl:1: no tool is labelled 'cut_woods'; the nearest is 'cut_wood'.",
        ),
        ("queries", '{"query": "x", "relevant": [7]}', "queries.jsonl:1: no tool is labelled 7;"),
        (
            "queries",
            '{"query": "x", "relevant": ["cut_wood"], "groups": [[]]}',
            "queries.jsonl:1: 'groups' is no list with a list of tools' names for each need.",
        ),
        (
            "queries",
            '{"query": "x", "relevant": [], "groups": [["cut_wood"]]}',
            "queries.jsonl:1: 'groups' has needs, but by 'relevant' nobody serves any.",
        ),
        ("queries", None, "queries.jsonl: cannot be read: No such file or directory."),
        ("tools", None, "tools.jsonl: cannot be read: No such file or directory."),
        ("tools", b"\xff\xfe", "tools.jsonl: is not UTF-8 text."),
    ],
)
def test_what_is_written_wrongly_in_a_set_is_named_with_its_line(
    tmp_path: Path, file: str, content: str | bytes | None, words: str
) -> None:
    place = write_set(tmp_path / "house") / f"{file}.jsonl"
    if content is None:
        place.unlink()
    else:
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        load(data=tmp_path / "house")
    assert str(caught.value).startswith(str(tmp_path / "house" / words.partition(":")[0]))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("phrase\tshed/cut", "own.tsv:2: is not kind, labels, query with tabs between."),
        ("phrase\t\tcut", "own.tsv:2: is not kind, labels, query with tabs between."),
        ("x\tshed/cut + shed/glue\tcut", "own.tsv:2: no tool is labelled 'shed/glue'; the nearest"),
        ("x\tTool Shed/cut\tcut", "own.tsv:2: no tool is labelled 'Tool Shed/cut'"),
        ("x\t?\tcut", "own.tsv:2: no tool is labelled '?'; check the label, or the tools."),
    ],
)
def test_what_is_written_wrongly_in_our_own_queries_is_named_with_its_line(
    tmp_path: Path, line: str, words: str
) -> None:
    file = write_own(tmp_path / "own.tsv", OWN[0], line)
    with pytest.raises(ConfigError) as caught:
        load(catalog=write_catalogs(tmp_path / "lists"), queries=file)
    assert words in str(caught.value)


def test_lists_without_tools_and_files_without_queries_cannot_be_measured(tmp_path: Path) -> None:
    lists = write_catalogs(tmp_path / "lists")
    empty = tmp_path / "empty.tsv"
    empty.write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"empty\.tsv: has no queries"):
        load(catalog=lists, queries=empty)
    nothing = tmp_path / "nothing.json"
    nothing.write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"nothing\.json: has no tools"):
        load(catalog=nothing, queries=write_own(tmp_path / "own.tsv"))
