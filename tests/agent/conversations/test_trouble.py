"""A file that cannot be used gives one sentence that says where it is and what to do."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tooldrawer.agent.conversations import Conversations
from tooldrawer.errors import ToolDrawerError
from tooldrawer.wire.message import Said, Summary

Use = Callable[[Conversations], object]
USES: list[Use] = [
    lambda kept: kept.start(model="m", cwd="/", scope=""),
    lambda kept: kept.append("x", Said(text="")),
    lambda kept: kept.compacted("x", Summary(text=""), replaces=1),
    lambda kept: kept.load("x"),
    lambda kept: kept.info("x"),
    lambda kept: kept.find("x"),
    lambda kept: kept.recent(1),
    lambda kept: kept.latest("/"),
    lambda kept: kept.search("x", 1),
]


def complaint(path: Path, use: Use) -> str:
    with pytest.raises(ToolDrawerError) as caught:
        use(Conversations(path))
    assert str(path) in str(caught.value)
    return str(caught.value)


def filled(path: Path, messages: int = 50) -> str:
    kept = Conversations(path)
    name = kept.start(model="m", cwd="/", scope="")
    for number in range(messages):
        kept.append(name, Said(text=f"{number} " + "word " * 500))
    return name


@pytest.mark.parametrize("use", USES)
def test_a_file_that_is_something_else_is_told_as_damaged(tmp_path: Path, use: Use) -> None:
    path = tmp_path / "conversations.db"
    path.write_text("This is a letter to my aunt. " * 100, encoding="utf-8")
    assert "Move it away" in complaint(path, use)
    assert path.read_text(encoding="utf-8").startswith("This is a letter"), "and stays as it is"


def test_a_file_with_damaged_pages_is_told_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    name = filled(path)
    with path.open("r+b") as file:
        file.seek(8_192)
        file.write(os.urandom(path.stat().st_size - 8_192))
    assert "Move it away" in complaint(path, lambda kept: kept.load(name))


def test_a_file_that_was_cut_off_is_told_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    name = filled(path)
    os.truncate(path, 10_000)
    assert "Move it away" in complaint(path, lambda kept: kept.load(name))


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    path.touch()
    assert len(Conversations(path).load(filled(path, 2))) == 2


def test_a_file_that_vanishes_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    kept = Conversations(path)
    kept.start(model="m", cwd="/", scope="")
    path.unlink()
    name = kept.start(model="m", cwd="/", scope="")
    kept.append(name, Said(text="the zebra"))
    assert kept.load(name) == (Said(text="the zebra"),)
    assert len(kept.search("zebra", 5)) == 1


@pytest.mark.parametrize("use", USES)
def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path, use: Use) -> None:
    path = tmp_path / "conversations.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    text = complaint(path, use)
    assert "later version of tooldrawer (format 99; this one knows 1)" in text
    assert "Update tooldrawer" in text


def test_a_message_of_a_later_version_names_its_conversation(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    name = filled(path, 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE message SET body = ?", (b'{"kind": "sung"}',))
    with pytest.raises(ToolDrawerError, match=f"conversation {name} cannot be read.*'sung'"):
        Conversations(path).load(name)


@pytest.mark.parametrize("use", USES)
def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, use: Use) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "conversations.db"
    assert "can be written" in complaint(path, use)


@pytest.mark.parametrize("use", USES)
def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path, use: Use) -> None:
    path = tmp_path / "conversations.db"
    path.mkdir()
    assert "can be written" in complaint(path, use)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    for use in USES:
        assert "can be written" in complaint(folder / "conversations.db", use)


def test_a_full_disk_is_told_and_what_was_kept_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conversations.db"
    name = filled(path, 3)
    connect = sqlite3.connect

    def small(path: Path, *, timeout: float, isolation_level: None) -> sqlite3.Connection:
        connection = connect(path, timeout=timeout, isolation_level=isolation_level)
        connection.execute("PRAGMA max_page_count = 1")  # no more pages than there are
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    text = complaint(path, lambda kept: kept.append(name, Said(text="x" * 100_000)))
    assert "Make room on the disk" in text
    assert len(Conversations(path).load(name)) == 3
