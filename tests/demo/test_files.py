"""The documents of the demo stay inside their folder."""

import zipfile
from pathlib import Path

import pytest

from tooldrawer.demo.files import Files, toolset


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("key", encoding="utf-8")
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "link.txt"])
def test_a_path_that_leaves_the_folder_is_refused(root: Path, path: str) -> None:
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    files = Files(root)
    with pytest.raises(ValueError, match="leaves the root folder"):
        files.open_document(path)
    with pytest.raises(ValueError, match="leaves the root folder"):
        files.save_document(path, "overwritten", "replace")
    assert (root.parent / "secret.txt").read_text(encoding="utf-8") == "key"


def test_a_link_out_of_the_folder_is_neither_listed_nor_searched_nor_packed(root: Path) -> None:
    files = Files(root)
    files.save_document("mine.txt", "my key")
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "out").symlink_to(root.parent)
    (root / "loop").symlink_to(root / "loop")
    assert files.list_documents() == ["mine.txt"]
    assert files.list_folders() == {".": 1}
    assert files.find_in_documents("key") == ["mine.txt:1: my key"]
    files.zip_folder(".", "all.zip")
    with zipfile.ZipFile(root / "all.zip") as packed:
        assert packed.namelist() == ["mine.txt"]


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "loop/inner", "file.txt/inner"])
def test_a_path_that_cannot_be_used_is_refused_in_words(root: Path, path: str) -> None:
    (root / "loop").symlink_to(root / "loop")
    files = Files(root)
    files.save_document("file.txt", "text")
    with pytest.raises(ValueError, match=r"no usable path|cannot be made"):
        files.save_document(path, "text")


def test_a_document_is_replaced_only_when_asked(root: Path) -> None:
    files = Files(root)
    assert files.save_document("plans/may.md", "one\ntwo\nthree\n") == "Saved plans/may.md."
    with pytest.raises(ValueError, match="exists already"):
        files.save_document("plans/may.md", "other")
    part = files.open_document("plans/may.md", first_line=2, line_count=1)
    assert (part.text, part.total_lines) == ("two\n", 3)
    files.save_document("plans/may.md", "other", "replace")
    assert files.open_document("plans/may.md").text == "other"
    with pytest.raises(ValueError, match="exists already"):
        files.save_document("plans", "text", "replace")


def test_documents_are_listed_by_pattern_and_depth(root: Path) -> None:
    files = Files(root)
    for path in ("b.md", "a.txt", "deep/c.md"):
        files.save_document(path, "")
    assert files.list_documents() == ["a.txt", "b.md", "deep/c.md"]
    assert files.list_documents(pattern="*.md", recursive=False) == ["b.md"]
    files.make_folder("empty")
    assert files.list_folders() == {".": 2, "deep": 1, "empty": 0}


def test_text_is_added_and_replaced_in_place(root: Path) -> None:
    files = Files(root)
    files.save_document("log.txt", "one fish\r\ntwo fish")
    files.append_to_document("log.txt", "red fish")
    with pytest.raises(ValueError, match="occurs 3 times"):
        files.replace_in_document("log.txt", "fish", "bird")
    files.replace_in_document("log.txt", "red fish", "blue bird")
    assert (root / "log.txt").read_bytes() == b"one fish\r\ntwo fish\nblue bird"
    with pytest.raises(ValueError, match="does not hold that text"):
        files.replace_in_document("log.txt", "cat", "dog")


def test_documents_are_copied_moved_compared_and_deleted(root: Path) -> None:
    files = Files(root)
    files.save_document("old.txt", "same\nbefore\n")
    files.copy_document("old.txt", "new.txt")
    assert files.compare_documents("old.txt", "new.txt") == "The documents are the same."
    files.replace_in_document("new.txt", "before", "after")
    assert "-before\n+after" in files.compare_documents("old.txt", "new.txt")
    assert files.move_document("new.txt", "kept/new.txt") == "Moved new.txt to kept/new.txt."
    files.delete_document("old.txt")
    assert files.list_documents() == ["kept/new.txt"]
    with pytest.raises(ValueError, match=r"There is no document 'old\.txt'"):
        files.delete_document("old.txt")


def test_words_and_bytes_are_counted(root: Path) -> None:
    files = Files(root)
    files.save_document("poem.txt", "Rose is a rose,\nis a rose.\n")
    counted = files.count_words("poem.txt", most_frequent=1)
    assert (counted.words, counted.lines, counted.most_frequent) == (7, 2, {"rose": 3})
    info = files.document_info("poem.txt")
    assert (info.size_bytes, info.is_text) == (27, True)


def test_bytes_that_are_no_text_are_not_shown(root: Path) -> None:
    (root / "picture.png").write_bytes(b"\x89PNG\0")
    files = Files(root)
    assert not files.document_info("picture.png").is_text
    assert files.find_in_documents("PNG") == []
    with pytest.raises(ValueError, match="is no text"):
        files.open_document("picture.png")


def test_a_document_that_is_too_large_is_not_written(root: Path) -> None:
    with pytest.raises(ValueError, match="may have 1000000 bytes"):
        Files(root).save_document("huge.txt", "x" * 1_000_001)
    assert list(root.iterdir()) == []


def test_a_folder_with_contents_is_deleted_only_when_asked_and_the_root_never(root: Path) -> None:
    files = Files(root)
    files.save_document("full/inner.txt", "text")
    with pytest.raises(ValueError, match="is not empty"):
        files.delete_folder("full")
    files.delete_folder("full", with_contents=True)
    assert list(root.iterdir()) == []
    with pytest.raises(ValueError, match="root folder cannot be deleted"):
        files.delete_folder("full/..", with_contents=True)


def test_every_tool_says_what_it_does_and_none_takes_the_name_of_a_core_tool(root: Path) -> None:
    tools = toolset(Files(root)).tools()
    names = {tool.name for tool in tools}
    assert len(names) == 16
    assert all(tool.description for tool in tools)
    assert not names & {"read_file", "write_file", "search_files", "patch", "terminal"}
