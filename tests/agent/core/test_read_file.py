"""Files are shown so that a model can work with them, and nothing makes the reader wait."""

import base64
import os
import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tooldrawer import Session, ToolResult
from tooldrawer.agent.core import CoreTools, Workplace
from tooldrawer.call import ToolCall

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
is_root = os.geteuid() == 0


async def read(session: Session, path: str | Path, **more: int) -> ToolResult:
    with anyio.fail_after(60):
        return await session.call("read_file", {"path": str(path), **more})


async def test_lines_are_numbered_as_an_editor_does(session: Session, project: Path) -> None:
    (project / "a.txt").write_bytes("one\r\n\n\ttwo\u2028 ü".encode())
    assert (await read(session, "a.txt")).text == "1\tone\n2\t\n3\t\ttwo\u2028 ü"


async def test_a_part_says_how_to_read_on_until_the_end(session: Session, project: Path) -> None:
    (project / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)), encoding="utf-8")
    first = await read(session, "a.txt", limit=4)
    assert first.text == "1\t1\n2\t2\n3\t3\n4\t4\n[6 more lines; read on with offset 5]"
    last = await read(session, "a.txt", offset=9, limit=4)
    assert last.text == "9\t9\n10\t10"
    beyond = await read(session, "a.txt", offset=11)
    assert beyond.text == "[no line 11: the file has 10]"


async def test_a_large_file_is_shown_in_parts_that_lead_through_all_of_it(
    session: Session, project: Path
) -> None:
    (project / "a.txt").write_text(
        "".join(f"line {n} {'x' * 90}\n" for n in range(100_000)), encoding="utf-8"
    )
    first = await read(session, "a.txt", limit=100_000)
    assert len(first.text) < 45_000
    shown = len(first.text.splitlines()) - 1
    assert first.text.endswith(f"[{100_000 - shown:,} more lines; read on with offset {shown + 1}]")
    following = await read(session, "a.txt", offset=shown + 1, limit=1)
    assert following.text.startswith(f"{shown + 1}\tline {shown} x")


async def test_a_file_is_read_as_far_as_it_is_reasonable(session: Session, project: Path) -> None:
    with (project / "a.log").open("wb") as file:
        for _ in range(41):
            file.write((b"x" * 99_999 + b"\n") * 50)
    first = await read(session, "a.log", limit=1)
    assert "more lines; read on with offset 2]\n[what lies beyond 200,000,000 bytes" in first.text
    far = await read(session, "a.log", offset=2_020)
    assert far.text == "[what lies beyond 200,000,000 bytes was left; use sed in the terminal]"


async def test_a_line_of_ten_megabytes_is_cut(session: Session, project: Path) -> None:
    (project / "a.json").write_text("ü" * 5_000_000 + "\nend\n", encoding="utf-8")
    result = await read(session, "a.json")
    assert result.text.startswith("1\tüüü")
    assert "… [the line has 10,000,001 bytes; use cut in the terminal]\n2\tend" in result.text
    assert "UTF-8" not in result.text
    assert len(result.text) < 3_000


async def test_bytes_that_are_no_utf_8_are_replaced_and_that_is_said(
    session: Session, project: Path
) -> None:
    (project / "a.txt").write_bytes(b"caf\xe9\nplain\n")
    result = await read(session, "a.txt")
    assert result.text == "1\tcaf\ufffd\n2\tplain\n[bytes that are not UTF-8 are shown as \ufffd]"


async def test_an_empty_file_is_said_to_be_empty(session: Session, project: Path) -> None:
    (project / "a.txt").touch()
    assert (await read(session, "a.txt")).text == "[empty file]"


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0" + bytes(9), "image/jpeg"),
        (b"GIF89a" + bytes(9), "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 " + bytes(9), "image/webp"),
    ],
)
async def test_an_image_comes_back_as_an_image_whatever_its_name(
    session: Session, project: Path, start: bytes, kind: str
) -> None:
    (project / "picture").write_bytes(start)
    (block,) = (await read(session, "picture")).content
    assert block == {
        "type": "image",
        "data": base64.b64encode(start).decode(),
        "mimeType": kind,
    }


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\n", "a PDF document"),
        (b"PK\x03\x04abc", "a zip archive"),
        (b"\x7fELF\2", "a program"),
        (b"abc\0def", "binary data"),
        ("text".encode("utf-16"), "UTF-16 text"),
        (PNG + bytes(6_000_000), "image/png, 6,000,108 bytes"),
    ],
)
async def test_what_is_no_text_is_refused_by_its_name(
    session: Session, project: Path, content: bytes, kind: str
) -> None:
    (project / "thing").write_bytes(content)
    result = await read(session, "thing")
    assert result.is_error
    assert f"'thing' is {kind}" in result.text
    assert "terminal" in result.text


async def test_a_folder_is_listed(session: Session, project: Path) -> None:
    (project / "inner").mkdir()
    (project / "b.txt").touch()
    os.close(os.open(os.fsencode(project) + b"/\xff.txt", os.O_CREAT))
    result = await read(session, ".")
    assert result.text == "[a folder with 3 entries]\nb.txt\ninner/\n?.txt"


async def test_a_long_folder_is_listed_in_part(session: Session, project: Path) -> None:
    for number in range(250):
        (project / f"{number:03}").touch()
    result = await read(session, ".")
    assert result.text.endswith("199\n[50 more: look with search_files, kind name]")


async def test_a_missing_file_gets_the_nearest_names(session: Session, project: Path) -> None:
    (project / "source").mkdir()
    (project / "source" / "settings.py").touch()
    result = await read(session, "source/setings.py")
    assert result.is_error
    assert "the nearest names are settings.py." in result.text
    result = await read(session, "sourse/deep/settings.py")
    assert "the nearest names are source." in result.text
    result = await read(session, "source/settings.py/more")
    assert result.is_error


async def test_a_link_inside_is_followed_as_it_points_now(session: Session, project: Path) -> None:
    (project / "a").write_text("A", encoding="utf-8")
    (project / "b").write_text("B", encoding="utf-8")
    (project / "link").symlink_to("a")
    assert (await read(session, "link")).text == "1\tA"
    (project / "link").unlink()
    (project / "link").symlink_to("b")
    assert (await read(session, "link")).text == "1\tB"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _circle(path: Path) -> None:
    path.symlink_to(path.with_name("other"))
    path.with_name("other").symlink_to(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _nothing(path: Path) -> None: ...


@pytest.mark.parametrize(
    ("make", "path", "complaint"),
    [
        (_pipe, "thing", "is a pipe, not a file"),
        (_socket, "thing", "is a socket, not a file"),
        (_circle, "thing", "is no usable path"),
        (_dangling, "thing", "There is no file"),
        (_nothing, "a\0b", "is no usable path"),
        (_nothing, "\ud800", "half of a character"),
        (_nothing, "~nobody-of-that-name/x", "is no usable path"),
        (_nothing, "x" * 5_000, "is no usable path: File name too long"),
        (_nothing, "x/" * 5_000, "is no usable path: File name too long"),
        (_nothing, "/dev/zero", "is a device, not a file"),
    ],
)
async def test_what_cannot_be_read_is_refused_and_nothing_hangs(
    session: Session, project: Path, make: Callable[[Path], None], path: str, complaint: str
) -> None:
    make(project / "thing")
    result = await read(session, path)
    assert result.is_error
    assert complaint in result.text
    assert len(result.text) < 1_000


@pytest.mark.skipif(is_root, reason="root may read everything")
async def test_a_file_that_may_not_be_read_is_refused(session: Session, project: Path) -> None:
    (project / "a").touch(mode=0)
    result = await read(session, "a")
    assert "permission denied" in result.text


@pytest.mark.parametrize("numbers", [{"offset": 0}, {"limit": 0}, {"offset": -5}])
async def test_lines_are_counted_from_one(
    session: Session, project: Path, numbers: dict[str, int]
) -> None:
    (project / "a").touch()
    result = await read(session, "a", **numbers)
    assert "/offset and /limit start at 1" in result.text


async def test_a_path_from_home_is_understood(
    session: Session, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    (project / "a").write_text("A", encoding="utf-8")
    assert (await read(session, "~/a")).text == "1\tA"


async def test_the_tool_itself_reads_what_a_person_allowed_outside(
    workplace: Workplace, outside: Path
) -> None:
    tools = CoreTools(workplace)
    tool = next(tool for tool in tools.tools() if tool.name == "read_file")
    call = ToolCall(name="read_file", arguments={"path": str(outside / "secret.txt")})
    assert (await tools.run(tool, call)).text == "1\tthe secret"


async def test_a_line_number_beyond_counting_is_past_the_end(
    session: Session, project: Path
) -> None:
    (project / "a.txt").write_text("one\n", encoding="utf-8")
    assert "the file has 1]" in (await read(session, "a.txt", offset=10**30)).text
