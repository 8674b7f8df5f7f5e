"""A piece of a file is replaced when it is clear which; otherwise what is there is shown."""

import os
from pathlib import Path

import anyio
import pytest

from tests.agent.core.disk import mode, put, text
from tooldrawer import Session, ToolResult

pytestmark = pytest.mark.anyio

CODE = """def area(width, height):
    return width * height


def volume(width, height, depth):
    base = area(width, height)
    return base * depth
"""


@pytest.fixture(autouse=True)
def code(project: Path) -> Path:
    path = project / "code.py"
    path.write_text(CODE, encoding="utf-8")
    return path


async def patch(session: Session, old: str, new: str, **more: bool | str) -> ToolResult:
    return await session.call("patch", {"path": "code.py", "old": old, "new": new, **more})


async def test_a_unique_piece_is_replaced_and_the_difference_shown(
    session: Session, code: Path
) -> None:
    result = await patch(session, "    return base * depth", "    return depth * base")
    assert result.text == (
        "Changed code.py.\n"
        "@@ -5,4 +5,4 @@\n"
        " def volume(width, height, depth):\n"
        "     base = area(width, height)\n"
        "-    return base * depth\n"
        "+    return depth * base\n"
        " "
    )
    assert text(code) == CODE.replace("base * depth", "depth * base")


async def test_a_piece_that_occurs_more_than_once_is_refused_with_its_lines(
    session: Session, code: Path
) -> None:
    result = await patch(session, "width, height", "w, h")
    assert result.is_error
    assert "/old occurs 3 times, at lines 1, 5, 6. Add lines around it" in result.text
    assert text(code) == CODE


async def test_every_occurrence_is_replaced_when_asked_for(session: Session, code: Path) -> None:
    result = await patch(session, "width, height", "w, h", replace_all=True)
    assert result.text.startswith("Changed code.py in 3 places.\n@@ -1,")
    assert text(code) == CODE.replace("width, height", "w, h")


async def test_other_white_space_is_shown_as_it_stands(session: Session, code: Path) -> None:
    result = await patch(session, "def area(width,height):\n  return width * height\n", "x")
    assert result.is_error
    assert "differs in white space only. Copy this exactly:\n" in result.text
    assert "def area(width, height):\n    return width * height" in result.text
    assert text(code) == CODE


async def test_the_nearest_lines_are_shown(session: Session) -> None:
    result = await patch(session, "    base = area(width, heigth)\n    return base", "x")
    assert result.is_error
    assert "The nearest lines are, from line 6:\n    base = area(width, height)\n" in result.text


async def test_line_numbers_that_were_copied_along_are_pointed_out(session: Session) -> None:
    result = await patch(session, "6\t    base = area(width, height)", "x")
    assert "leave them and the tab after them out" in result.text


async def test_a_text_that_is_like_nothing_there_is_said_to_be_missing(session: Session) -> None:
    result = await patch(session, "zebra crossing", "x")
    assert result.text == (
        "/old is not in the file, so nothing was changed. "
        "Read it with read_file and copy the text exactly."
    )


@pytest.mark.parametrize("old", [" \n \n", "\n\n\n\n", "}", "\t\t"])
async def test_white_space_and_signs_that_are_not_there_are_no_reason_to_break(
    session: Session, old: str
) -> None:
    result = await patch(session, old, "x")
    assert result.text.startswith("/old is not in the file")


async def test_windows_line_ends_are_kept(session: Session, code: Path) -> None:
    put(code, "one\r\ntwo\r\nthree\r\n")
    result = await patch(session, "one\ntwo", "1\n2\n2b")
    assert not result.is_error
    assert text(code) == "1\r\n2\r\n2b\r\nthree\r\n"


async def test_a_mark_at_the_beginning_and_a_missing_last_line_end_stay(
    session: Session, code: Path
) -> None:
    put(code, "\ufeffone\ntwo")
    await patch(session, "two", "2")
    assert text(code) == "\ufeffone\n2"


async def test_permissions_stay(session: Session, code: Path) -> None:
    os.chmod(code, 0o751)  # noqa: PTH101
    await patch(session, "base * depth", "1")
    assert mode(code) == 0o751


async def test_patches_of_one_turn_to_one_file_all_count(session: Session, code: Path) -> None:
    put(code, "".join(f"line {n}.\n" for n in range(20)))
    results = await session.call_all(
        ("patch", {"path": "code.py", "old": f"line {n}.", "new": f"changed {n}."})
        for n in range(20)
    )
    assert not any(result.is_error for result in results)
    assert text(code) == "".join(f"changed {n}.\n" for n in range(20))


async def test_a_long_change_is_shown_in_part(session: Session, code: Path) -> None:
    put(code, "a\n" * 500)
    result = await patch(session, "a", "b", replace_all=True)
    assert "more lines]" in result.text
    assert len(result.text.splitlines()) < 70
    put(code, "a\n" * 50_000)
    result = await patch(session, "a", "b", replace_all=True)
    assert result.text == "Changed code.py in 50,000 places.\n[the change is too long to be shown]"


async def test_a_change_deep_in_a_large_file_has_its_real_line_numbers(
    session: Session, code: Path
) -> None:
    put(code, "".join(f"{n}\n" for n in range(1, 100_001)))
    result = await patch(session, "\n70000\n", "\nseventy\nthousand\n")
    assert "@@ -69998,5 +69998,6 @@\n 69998\n 69999\n-70000\n+seventy\n+thousand\n" in result.text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"old": ""}, "/old is empty"),
        ({"old": "area", "new": "area"}, "are the same"),
        ({"new": "\ud800"}, "half of a character"),
        ({"path": "missing.py"}, "There is no file"),
        ({"path": "."}, "is a folder"),
        ({"path": "binary"}, "is binary data"),
        ({"path": "latin"}, "is text in another encoding"),
        ({"path": "/dev/null"}, "outside the working directory"),
        ({"path": "large"}, "too many to patch"),
    ],
)
async def test_what_cannot_be_patched_is_refused_with_the_reason(
    session: Session, project: Path, arguments: dict[str, str], complaint: str
) -> None:
    (project / "binary").write_bytes(b"a\0b")
    (project / "latin").write_bytes(b"caf\xe9")
    (project / "large").write_bytes(b"x" * 10_000_001)
    words = {"path": "code.py", "old": "def area", "new": "x"}
    result = await session.call("patch", {**words, **arguments})
    assert result.is_error
    assert complaint in result.text


async def test_lines_that_are_added_end_as_the_others_do(session: Session, code: Path) -> None:
    put(code, "one\r\ntwo\r\n")
    await patch(session, "one", "one\nand a half")
    assert text(code) == "one\r\nand a half\r\ntwo\r\n"
    await patch(session, "two\r\n", "two\n")
    assert text(code) == "one\r\nand a half\r\ntwo\n"


async def test_a_change_that_makes_a_file_of_gigabytes_is_refused(
    session: Session, code: Path
) -> None:
    put(code, "a" * 100_000)
    result = await patch(session, "a", "b" * 15_000, replace_all=True)
    assert "would have more than" in result.text
    assert len(text(code)) == 100_000


async def test_a_long_text_that_is_almost_there_holds_nobody_up(
    session: Session, code: Path
) -> None:
    put(code, "a\n" * 400_000)
    with anyio.fail_after(30):
        result = await patch(session, " a\n" * 200_000 + "b", "x")
        assert "/old is not in the file" in result.text
        assert (await session.call("write_file", {"path": "b", "content": "x"})).text == (
            "Created b: 1 lines, 1 bytes."
        )
