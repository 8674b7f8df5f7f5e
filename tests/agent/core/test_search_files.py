"""Contents and names are found, within bounds, whatever the pattern and whatever lies about."""

import os
from pathlib import Path

import anyio
import pytest

from tests.agent.core.disk import commands
from tooldrawer import FunctionToolset, Session, ToolResult
from tooldrawer.agent.core import Workplace
from tooldrawer.agent.core.finding import Finder
from tooldrawer.call import ToolCall

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def tree(project: Path) -> Path:
    """A small project, with everything that should be left alone."""
    files = {
        "README.md": "# Title\nsee src\n",
        "src/main.py": "import os\n\ndef main():\n    needle = 1\n",
        "src/deep/part.py": "needle = 2\nneedle += 1\n",
        "web/app.ts": "const needle = 3\n",
        "web/app.tsx": "const needle = 4\n",
        ".git/config": "needle",
        "node_modules/lib/index.js": "needle",
        ".venv/lib/site.py": "needle",
        "binary.bin": "needle\0",
    }
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    return project


async def search(session: Session, pattern: str, **more: str | int) -> ToolResult:
    with anyio.fail_after(60):
        return await session.call("search_files", {"pattern": pattern, **more})


async def names(session: Session, pattern: str, **more: str | int) -> list[str]:
    return (await search(session, pattern, kind="name", **more)).text.splitlines()


async def test_contents_are_found_by_regular_expression_grouped_by_file(session: Session) -> None:
    result = await search(session, r"needle\s\+?=")
    assert result.text == (
        "src/main.py\n4:     needle = 1\n"
        "src/deep/part.py\n1: needle = 2\n2: needle += 1\n"
        "web/app.ts\n1: const needle = 3\n"
        "web/app.tsx\n1: const needle = 4"
    )


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("*.py", {"src/main.py", "src/deep/part.py"}),
        ("*.{ts,tsx}", {"web/app.ts", "web/app.tsx"}),
        ("src/*.py", {"src/main.py"}),
        ("./src/**/*.py", {"src/main.py", "src/deep/part.py"}),
        ("**/app.*", {"web/app.ts", "web/app.tsx"}),
        ("[!a]*.py", {"src/main.py", "src/deep/part.py"}),
        ("ap?.ts", {"web/app.ts"}),
        ("*.rs", set[str]()),
    ],
)
async def test_a_glob_chooses_the_files(session: Session, glob: str, files: set[str]) -> None:
    result = await search(session, "needle", glob=glob)
    assert {line for line in result.text.splitlines() if "." in line.split(":")[0]} == files


async def test_names_are_found_by_glob_folders_too(session: Session) -> None:
    assert await names(session, "*p*.ts*") == ["web/app.ts", "web/app.tsx"]
    assert await names(session, "dee*") == ["src/deep/"]
    assert await names(session, "src/**") == ["src/deep/", "src/main.py", "src/deep/part.py"]
    assert await names(session, "[]*") == ["[no matches]"]


async def test_a_search_may_start_in_a_folder_or_be_about_one_file(session: Session) -> None:
    assert (await search(session, "needle", path="web")).text.count("app.ts") == 2
    assert (await search(session, "import", path="src/main.py")).text == "src/main.py\n1: import os"


async def test_what_git_ignores_is_not_searched(session: Session, tree: Path) -> None:
    (tree / ".gitignore").write_text(
        "# comment\n*.ts\n/src/deep/\n!app.ts\nno\\*star\n", encoding="utf-8"
    )
    (tree / "web/.gitignore").write_text("app.tsx\nbroken[\n", encoding="utf-8")
    (tree / "other.ts").write_text("needle", encoding="utf-8")
    result = await search(session, "needle")
    assert result.text == "src/main.py\n4:     needle = 1\nweb/app.ts\n1: const needle = 3"
    assert await names(session, "*.tsx", path="web") == ["[no matches]"]
    # One who names an ignored folder wants it searched.
    assert "src/deep/part.py" in (await search(session, "needle", path="src/deep")).text


async def test_more_than_the_limit_is_said(session: Session, tree: Path) -> None:
    result = await search(session, "needle", limit=2)
    assert result.text.endswith("[the first 2; more match. Narrow the search or raise limit]")
    (tree / "many").write_text("pin\n" * 1_000, encoding="utf-8")
    result = await search(session, "pin", limit=10**9)
    assert result.text.count(": pin") == 200


async def test_a_long_line_is_shown_around_its_match(session: Session, tree: Path) -> None:
    (tree / "min.js").write_text("x" * 5_000 + "pin" + "y" * 5_000, encoding="utf-8")
    result = await search(session, "pin")
    assert "…x" in result.text
    assert "pin" in result.text
    assert len(result.text) < 300


async def test_large_binary_and_strange_files_are_passed_over(session: Session, tree: Path) -> None:
    (tree / "large.txt").write_text("needle\n" * 1_000_000, encoding="utf-8")
    (tree / "latin.txt").write_bytes(b"caf\xe9 pin\n")
    os.close(os.open(os.fsencode(tree) + b"/pin\xff", os.O_CREAT))
    os.mkfifo(tree / "pipe")
    (tree / "circle").symlink_to("circle")
    (tree / "up").symlink_to("..")
    (tree / "zero").symlink_to("/dev/zero")
    result = await search(session, "pin")
    assert result.text == "latin.txt\n1: caf\ufffd pin\n[1 files over 5 MB were not searched]"
    assert await names(session, "pin*") == ["pin?"]


async def test_a_link_does_not_lead_a_search_out(
    session: Session, tree: Path, outside: Path
) -> None:
    (tree / "folder").symlink_to(outside)
    (tree / "file.txt").symlink_to(outside / "secret.txt")
    (tree / "inner.txt").symlink_to("README.md")
    assert (await search(session, "the secret")).text == "[no matches]"
    assert "inner.txt" in (await search(session, "# Title")).text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"pattern": "("}, "is no regular expression"),
        ({"pattern": "a{99999999999999999999}"}, "is no regular expression"),
        ({"pattern": "(" * 900 + ")" * 900}, "is no regular expression"),
        ({"pattern": ""}, "/pattern must have 1 to"),
        ({"pattern": "x" * 10_000}, "/pattern must have 1 to"),
        ({"pattern": "x", "glob": "x" * 10_000}, "/glob must have at most"),
        ({"pattern": "x", "path": "nowhere"}, "There is no file"),
        ({"pattern": "x", "path": "a\0b"}, "is no usable path"),
        ({"pattern": "x", "path": "pipe"}, "is no folder or regular file"),
        ({"pattern": "x", "kind": "colour"}, "kind"),
    ],
)
async def test_what_cannot_be_searched_is_refused_with_the_reason(
    session: Session, tree: Path, arguments: dict[str, str], complaint: str
) -> None:
    os.mkfifo(tree / "pipe")
    with anyio.fail_after(60):
        result = await session.call("search_files", arguments)
    assert result.is_error
    assert complaint in result.text


@pytest.mark.parametrize("pattern", ["\0", "'; rm -rf", "--help", "{a,{b,c}}"])
async def test_strange_patterns_find_nothing_and_break_nothing(
    session: Session, pattern: str
) -> None:
    assert (await search(session, pattern)).text == "[no matches]"
    assert (await search(session, pattern, kind="name")).text == "[no matches]"


async def test_a_pattern_that_takes_for_ever_is_stopped_and_stops_nobody(
    workplace: Workplace, tree: Path
) -> None:
    (tree / "a-first.txt").write_text("aaaa b\n", encoding="utf-8")
    (tree / "b-trap.txt").write_text("a" * 60 + "!\n", encoding="utf-8")
    toolset = FunctionToolset("core", [Finder(workplace, seconds=5).search_files])
    call = ToolCall(name="search_files", arguments={"pattern": "(a+)+ ?b"})
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    result = ToolResult()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tick)
            result = await toolset.run(toolset.tools()[0], call)
            tasks.cancel_scope.cancel()
    assert result.text.startswith("a-first.txt\n1: aaaa b\n[stopped after 5 s with 1 matches")
    assert ticks > 10


async def test_a_cancelled_search_leaves_no_process(session: Session, tree: Path) -> None:
    (tree / "trap.txt").write_text("a" * 60 + "!\n", encoding="utf-8")
    with anyio.move_on_after(0.5) as scope:
        await search(session, "(a+)+b")
    assert scope.cancelled_caught
    assert not [command for command in commands() if str(tree).encode() in command]


async def test_a_pipe_in_the_place_of_gitignore_holds_nobody_up(
    session: Session, tree: Path
) -> None:
    os.mkfifo(tree / "src" / ".gitignore")
    result = await search(session, "needle", path="src")
    assert "deep/part.py" in result.text
    assert "stopped" not in result.text


async def test_a_gitignore_that_takes_for_ever_is_left_out(session: Session, tree: Path) -> None:
    deep = tree / ("d/" * 20)
    deep.mkdir(parents=True)
    (deep / "part.py").write_text("needle", encoding="utf-8")
    (tree / ".gitignore").write_text(f"{'**/' * 40}none\n{'*a' * 500}\nweb/\n", encoding="utf-8")
    result = await search(session, "needle")
    assert "d/part.py" in result.text
    assert "stopped" not in result.text
    assert "web" not in result.text
