"""The benchmark of the core measures, says what holds, and writes only where it may."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell

SMALL = ("bench", "core", "--sizes", "20,40")
BEFORE = "# Title\r\n\r\n<!-- figures: core -->"
GROUPS = ("core", "growth")
AFTER = "<!-- /figures -->\r\nThe end: “naïve”.\n<!-- figures: other -->\nkept\n<!-- /figures -->\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.timeout(900)
def test_every_row_says_what_was_measured_and_whether_its_bar_holds(shell: Shell) -> None:
    document = shell.folder / "README.md"
    document.write_bytes(f"{BEFORE}\nold figures\n{AFTER}".encode())
    shell.write("all.md", "".join(f"<!-- figures: {name} --><!-- /figures -->" for name in GROUPS))
    ran = shell.run(*SMALL, "--write", "README.md", "--write", "all.md", "--json")
    assert ran.code == 0
    rows = json.loads(ran.out)

    for row in rows:
        assert row["what"]
        assert row["unit"]
        assert row["value"] > 0
        held = None if row["bar"] is None else row["value"] <= row["bar"]
        assert row["holds"] is held
        assert (row["ratio"] is None) == (row["against"] == "")
    names = [row["what"] for row in rows]
    assert len(set(names)) == len(names)
    assert any(row["bar"] is not None for row in rows)
    assert [row["group"] for row in rows if row["what"].startswith(("20 tools", "40 tools"))] == [
        "growth"
    ] * 10

    text = document.read_bytes().decode()
    assert text.startswith(f"{BEFORE}\n| what | measured | bar | against |\n")
    assert text.endswith(f"\nWritten by `tooldrawer bench core`.\n{AFTER}")
    assert "old figures" not in text
    table = text.removeprefix(BEFORE).removesuffix(AFTER)
    core = [row["what"] for row in rows if row["group"] == "core"]
    assert [line.split("|")[1].strip() for line in table.splitlines()[3:-2]] == core
    everything = (shell.folder / "all.md").read_text(encoding="utf-8")
    assert all(f"| {name} |" in everything for name in names)
    assert everything.count("| what |") == len(GROUPS)


@pytest.mark.timeout(900)
def test_a_recorded_catalog_is_measured_as_a_table_for_people(shell: Shell) -> None:
    tools = [{"name": f"tool_{at}", "description": "Do one thing."} for at in range(7)]
    shell.write("seven.json", json.dumps(tools))
    ran = shell.run("bench", "core", "--sizes", "3", "--catalog", "seven.json")
    shown = ran.out
    assert ran.code == 0
    progress = ran.err.splitlines()
    assert progress[0].startswith("[1/7] Measuring ")
    assert progress[-1] == "[7/7] Measuring 3 tools ..."
    assert shown.split()[:4] == ["what", "measured", "bar", "against"]
    assert "search, 7 tools" in shown
    assert "3 tools: first assembly" in shown
    assert "≤ 300 tokens ✓" in shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: No such file or directory."),
        ("# Title\n", "has no place for the figures; put <!-- figures: core --> or "),
        ("<!-- figures: core -->\n", "has no place for the figures"),
        (
            "<!-- figures: core -->\n<!-- figures: other -->\n<!-- /figures -->\n",
            "has no place for the figures",
        ),
        ("<!-- /figures --><!-- figures: core -->", "has no place for the figures"),
    ],
)
def test_a_document_without_the_marks_is_refused_before_anything_is_measured(
    shell: Shell, text: str | None, words: str
) -> None:
    if text is not None:
        shell.write("README.md", text)
    said = shell.run(*SMALL, "--write", "README.md").refusal
    assert said.startswith("README.md: ")
    assert words in said
    if text is not None:
        assert (shell.folder / "README.md").read_text(encoding="utf-8") == text


def test_sizes_are_whole_numbers(shell: Shell) -> None:
    for sizes in ("20,many", "0", "-5", "2.5", "²"):
        said = shell.run("bench", "core", f"--sizes={sizes}").refusal
        assert "--sizes takes whole numbers with commas between" in said


def test_a_catalog_without_tools_cannot_be_measured(shell: Shell) -> None:
    shell.write("none.json", "[]")
    said = shell.run("bench", "core", "--catalog", "none.json").refusal
    assert "none.json: has no tools" in said


def test_the_dependencies_are_weighed_one_by_one_and_together(shell: Shell) -> None:
    shell.write("weights.md", "<!-- figures: dependencies --><!-- /figures -->")
    rows = shell.run("bench", "dependencies", "--write", "weights.md", "--json").json
    assert {"anyio", "pydantic", "typer"} <= {row["what"] for row in rows}
    assert all(row["unit"] == "MB" and row["value"] > 0 for row in rows)
    (everything,) = [row for row in rows if row["what"].startswith("all ")]
    assert everything["value"] == max(row["value"] for row in rows)
    assert any(row["what"].startswith("`agent` adds ") for row in rows)
    assert "| anyio |" in (shell.folder / "weights.md").read_text(encoding="utf-8")
