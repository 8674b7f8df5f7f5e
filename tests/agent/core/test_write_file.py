"""A file is replaced whole, in one step, and only inside the workplace."""

import os
import stat
from pathlib import Path

import pytest

from tests.agent.core.disk import names
from tests.agent.core.people import Yes
from tooldrawer import Session, ToolResult
from tooldrawer.agent.core import CoreTools, Workplace
from tooldrawer.call import ToolCall
from tooldrawer.errors import CallDenied

pytestmark = pytest.mark.anyio


async def write(session: Session, path: str | Path, content: str = "new\n") -> ToolResult:
    return await session.call("write_file", {"path": str(path), "content": content})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("one\ntwo\n", "2 lines, 8 bytes"),
        ("one\ntwo", "2 lines, 7 bytes"),
        ("ü", "1 lines, 2 bytes"),
        ("", "0 lines, 0 bytes"),
        ("a\r\nb\0\r\n", "2 lines, 7 bytes"),
    ],
)
async def test_a_file_is_written_to_the_byte_with_its_folders(
    session: Session, project: Path, content: str, said: str
) -> None:
    result = await write(session, "deep/er/a.txt", content)
    assert result.text == f"Created deep/er/a.txt: {said}."
    assert (project / "deep/er/a.txt").read_bytes() == content.encode()
    assert [path.name for path in (project / "deep/er").iterdir()] == ["a.txt"]


async def test_a_file_that_is_replaced_keeps_its_permissions(
    session: Session, project: Path
) -> None:
    script = project / "run.sh"
    script.write_text("old", encoding="utf-8")
    script.chmod(0o750)
    result = await write(session, "run.sh")
    assert result.text.startswith("Replaced run.sh")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750


async def test_a_new_file_has_the_permissions_that_the_user_gives_new_files(
    session: Session, project: Path
) -> None:
    (project / "plain").touch()
    await write(session, "a.txt")
    assert (project / "a.txt").stat().st_mode == (project / "plain").stat().st_mode


async def test_a_link_inside_stays_a_link_and_its_file_is_written(
    session: Session, project: Path
) -> None:
    (project / "real").write_text("old", encoding="utf-8")
    (project / "link").symlink_to("real")
    await write(session, "link")
    assert (project / "link").is_symlink()
    assert (project / "real").read_text(encoding="utf-8") == "new\n"


async def test_whoever_has_the_old_file_open_keeps_all_of_it(
    session: Session, project: Path
) -> None:
    (project / "a").write_text("old text", encoding="utf-8")
    with (project / "a").open(encoding="utf-8") as file:
        await write(session, "a")
        assert file.read() == "old text"


async def test_ten_megabytes_are_more_than_arguments_may_have(session: Session) -> None:
    result = await write(session, "a", "x" * 10_000_000)
    assert result.is_error


@pytest.mark.parametrize(
    ("path", "content", "complaint"),
    [
        ("folder", "x", "is a folder, not a file"),
        (".", "x", "is a folder, not a file"),
        ("", "x", "is a folder, not a file"),
        ("pipe", "x", "is a pipe, not a file"),
        ("file/below", "x", "something on the way to it is a file"),
        ("a\0b", "x", "is no usable path"),
        ("x" * 300, "x", "File name too long"),
        ("a", "\ud800", "half of a character"),
    ],
)
async def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    session: Session, project: Path, path: str, content: str, complaint: str
) -> None:
    (project / "folder").mkdir()
    (project / "file").write_text("kept", encoding="utf-8")
    os.mkfifo(project / "pipe")
    result = await write(session, path, content)
    assert result.is_error
    assert complaint in result.text
    assert names(project) == ["file", "folder", "pipe"]
    assert (project / "file").read_text(encoding="utf-8") == "kept"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_file_or_folder_that_is_read_only_is_left_alone(
    session: Session, project: Path
) -> None:
    (project / "a").write_text("kept", encoding="utf-8")
    (project / "a").chmod(0o444)
    assert "permission denied" in (await write(session, "a")).text
    (project / "folder").mkdir(mode=0o555)
    assert "permission denied" in (await write(session, "folder/a")).text
    assert (project / "a").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize(
    "path", ["../outside/secret.txt", "link/secret.txt", "straight", "{out}/x"]
)
async def test_nothing_is_written_outside_by_any_way(
    session: Session, project: Path, outside: Path, yes: Yes, path: str
) -> None:
    (project / "link").symlink_to(outside)
    (project / "straight").symlink_to(outside / "secret.txt")
    result = await write(session, path.format(out=outside))
    assert result.is_error
    assert "ask the user, who can allow the folder" in result.text
    assert names(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_text(encoding="utf-8") == "the secret\n"
    assert not yes.requests


@pytest.mark.parametrize("name", ["write_file", "patch"])
async def test_the_tool_itself_refuses_what_a_rule_let_through(
    workplace: Workplace, outside: Path, name: str
) -> None:
    tools = CoreTools(workplace)
    tool = next(tool for tool in tools.tools() if tool.name == name)
    words = {"content": "x"} if name == "write_file" else {"old": "secret", "new": "x"}
    call = ToolCall(name=name, arguments={"path": str(outside / "secret.txt"), **words})
    with pytest.raises(CallDenied, match="who can allow the folder"):
        await tools.run(tool, call)
    assert (outside / "secret.txt").read_text(encoding="utf-8") == "the secret\n"
