"""Text documents in one folder, which no path may leave."""

import hashlib
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from fnmatch import fnmatch
from pathlib import Path
from threading import Lock
from typing import Literal

from tooldrawer.functions import Function, FunctionToolset

LARGEST_DOCUMENT = 1_000_000
MOST_RESULTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInfo:
    """What is known about a document without its text."""

    path: str
    size_bytes: int
    is_text: bool
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """Some lines of a document, and how many lines it has in all."""

    path: str
    first_line: int
    total_lines: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCount:
    """The size of a text as a writer counts it."""

    words: int
    lines: int
    characters: int
    most_frequent: dict[str, int]


class Files:
    """A folder of documents whose public methods are tools; every path is relative to it."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._lock = Lock()

    def save_document(
        self, path: str, text: str, if_exists: Literal["refuse", "replace"] = "refuse"
    ) -> str:
        """Write a text document, and the folders on the way to it.

        Args:
            path: Where to write it, relative to the root folder, such as "plans/may.md".
            text: The whole text of the document.
            if_exists: What to do when the document exists: refuse to write, or replace it.
        """
        exists = self._inside(path).is_file()
        target = self._document(path) if exists and if_exists == "replace" else self._free(path)
        self._write(target, text.encode())
        return f"Saved {self._name(target)}."

    def open_document(self, path: str, first_line: int = 1, line_count: int = 200) -> DocumentPart:
        """Return the text of a document, or a part of it.

        Args:
            path: The document, relative to the root folder.
            first_line: The line to start with; the first line of a document is 1.
            line_count: How many lines to return at most.
        """
        lines = self._text(self._document(path)).splitlines(keepends=True)
        start = max(first_line, 1) - 1
        return DocumentPart(
            path=path,
            first_line=start + 1,
            total_lines=len(lines),
            text="".join(lines[start : start + max(line_count, 0)]),
        )

    def list_documents(
        self, folder: str = ".", pattern: str = "*", *, recursive: bool = True
    ) -> list[str]:
        """List the paths of the documents in a folder, in alphabetical order.

        Args:
            folder: The folder to list, relative to the root folder.
            pattern: Which names to list, such as "*.md".
            recursive: Whether the folders inside the folder are listed too.
        """
        top = self._folder(folder)
        chosen = [
            self._name(found)
            for found in self._documents(top)
            if fnmatch(found.name, pattern) and (recursive or found.parent == top)
        ]
        return chosen[:MOST_RESULTS]

    def list_folders(self, folder: str = ".") -> dict[str, int]:
        """Return each folder inside a folder with the number of documents right in it.

        Args:
            folder: The folder to start from, relative to the root folder.
        """
        top = self._folder(folder)
        counts = Counter(found.parent for found in self._documents(top))
        folders = sorted(found for found in top.rglob("*") if found.is_dir() and self._holds(found))
        return {self._name(found): counts[found] for found in [top, *folders]}

    def find_in_documents(
        self, query: str, folder: str = ".", pattern: str = "*", *, match_case: bool = False
    ) -> list[str]:
        """Return the lines in a folder's documents that hold a text, with document and line number.

        Args:
            query: The text to look for, taken literally.
            folder: The folder to search, relative to the root folder.
            pattern: Which document names to search, such as "*.md".
            match_case: Whether upper and lower case matter.
        """
        if not query:
            raise ValueError("The query is empty: give the text to look for.")
        wanted = query if match_case else query.lower()
        found = [
            f"{self._name(document)}:{number}: {line.strip()}"
            for document in self._documents(self._folder(folder))
            if fnmatch(document.name, pattern) and _is_text(document.read_bytes())
            for number, line in enumerate(document.read_bytes().decode().splitlines(), start=1)
            if wanted in (line if match_case else line.lower())
        ]
        return found[:MOST_RESULTS]

    def document_info(self, path: str) -> DocumentInfo:
        """Return the size, kind and checksum of a document.

        Args:
            path: The document, relative to the root folder.
        """
        document = self._document(path)
        content = document.read_bytes()
        return DocumentInfo(
            path=self._name(document),
            size_bytes=len(content),
            is_text=_is_text(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )

    def count_words(self, path: str, most_frequent: int = 5) -> WordCount:
        """Count the words, lines and characters of a document.

        Args:
            path: The document, relative to the root folder.
            most_frequent: How many of the most frequent words to return.
        """
        text = self._text(self._document(path))
        words = [word.strip(".,;:!?\"'()[]#*").lower() for word in text.split()]
        counts = Counter(word for word in words if word)
        return WordCount(
            words=counts.total(),
            lines=len(text.splitlines()),
            characters=len(text),
            most_frequent=dict(counts.most_common(max(most_frequent, 0))),
        )

    def compare_documents(self, old_path: str, new_path: str) -> str:
        """Return the differences between two documents as a unified diff.

        Args:
            old_path: The older document, relative to the root folder.
            new_path: The newer document, relative to the root folder.
        """
        old, new = (self._text(self._document(path)) for path in (old_path, new_path))
        difference = unified_diff(
            old.splitlines(), new.splitlines(), old_path, new_path, lineterm=""
        )
        return "\n".join(difference) or "The documents are the same."

    def append_to_document(self, path: str, text: str) -> str:
        """Add text at the end of a document, on a new line.

        Args:
            path: The document, relative to the root folder.
            text: The text to add.
        """

        def longer(before: str) -> str:
            gap = "\n" if before and not before.endswith("\n") else ""
            return before + gap + text

        return self._rewrite(path, longer)

    def replace_in_document(
        self, path: str, old: str, new: str, *, every_place: bool = False
    ) -> str:
        """Replace a piece of text in a document.

        Args:
            path: The document, relative to the root folder.
            old: The text to replace, exactly as it stands in the document.
            new: The text to put in its place.
            every_place: Whether to replace it wherever it occurs; if not, it must occur once.
        """

        def replaced(before: str) -> str:
            places = before.count(old) if old else 0
            if places == 0:
                raise ValueError(f"{path!r} does not hold that text. Read it with open_document.")
            if places > 1 and not every_place:
                raise ValueError(f"The text occurs {places} times. Give more, or every_place.")
            return before.replace(old, new)

        return self._rewrite(path, replaced)

    def copy_document(self, path: str, new_path: str) -> str:
        """Copy a document; the new path must be free.

        Args:
            path: The document, relative to the root folder.
            new_path: Where the copy goes, relative to the root folder.
        """
        source, target = self._document(path), self._free(new_path)
        self._write(target, source.read_bytes())
        return f"Copied {self._name(source)} to {self._name(target)}."

    def move_document(self, path: str, new_path: str) -> str:
        """Move or rename a document; the new path must be free.

        Args:
            path: The document, relative to the root folder.
            new_path: Where it goes, relative to the root folder.
        """
        source, target = self._document(path), self._free(new_path)
        self._make_way(target)
        source.rename(target)
        return f"Moved {self._name(source)} to {self._name(target)}."

    def make_folder(self, folder: str) -> str:
        """Make an empty folder, and the folders on the way to it.

        Args:
            folder: The folder to make, relative to the root folder.
        """
        target = self._free(folder)
        self._make_way(target / "inside")
        return f"Made the folder {self._name(target)}."

    def zip_folder(self, folder: str, archive: str) -> str:
        """Pack all documents of a folder into a new zip archive.

        Args:
            folder: The folder to pack, relative to the root folder.
            archive: Where the archive goes, such as "backup.zip".
        """
        top = self._folder(folder)
        contents = {
            found.relative_to(top).as_posix(): found.read_bytes() for found in self._documents(top)
        }
        target = self._free(archive)
        self._make_way(target)
        with zipfile.ZipFile(target, "w") as packed:
            for name, content in contents.items():
                packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return f"Packed {len(contents)} documents into {self._name(target)}."

    def delete_document(self, path: str) -> str:
        """Delete a document for good.

        Args:
            path: The document, relative to the root folder.
        """
        document = self._document(path)
        document.unlink()
        return f"Deleted {self._name(document)}."

    def delete_folder(self, folder: str, *, with_contents: bool = False) -> str:
        """Delete a folder for good.

        Args:
            folder: The folder, relative to the root folder, which itself cannot be deleted.
            with_contents: Whether the folder may hold something, which is deleted with it.
        """
        target = self._folder(folder)
        if target == self._root:
            raise ValueError("The root folder cannot be deleted. Name a folder inside it.")
        if any(target.iterdir()) and not with_contents:
            raise ValueError(f"{folder!r} is not empty. Set with_contents to delete it all.")
        shutil.rmtree(target)
        return f"Deleted the folder {self._name(target)}."

    def _inside(self, path: str) -> Path:
        try:
            target = (self._root / path).resolve()
            target.exists()
        except (OSError, RuntimeError, ValueError) as error:
            raise ValueError(f"{path!r} is no usable path. Give a plain, shorter one.") from error
        if not target.is_relative_to(self._root):
            raise ValueError(f"{path!r} leaves the root folder. Give a path inside it.")
        return target

    def _document(self, path: str) -> Path:
        target = self._inside(path)
        if not target.is_file():
            raise ValueError(f"There is no document {path!r}. List them with list_documents.")
        return target

    def _folder(self, folder: str) -> Path:
        target = self._inside(folder)
        if not target.is_dir():
            raise ValueError(f"There is no folder {folder!r}. List them with list_folders.")
        return target

    def _free(self, path: str) -> Path:
        target = self._inside(path)
        if target.exists():
            raise ValueError(f"{path!r} exists already. Give another path, or delete it first.")
        return target

    def _documents(self, top: Path) -> Iterator[Path]:
        return (found for found in sorted(top.rglob("*")) if self._holds(found) and found.is_file())

    def _holds(self, found: Path) -> bool:
        try:
            return found.resolve().is_relative_to(self._root)
        except (OSError, RuntimeError):
            return False

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def _text(self, document: Path) -> str:
        content = document.read_bytes()
        if not _is_text(content):
            raise ValueError(f"{self._name(document)!r} is no text. Try document_info instead.")
        return content.decode()

    def _rewrite(self, path: str, change: Callable[[str], str]) -> str:
        with self._lock:
            document = self._document(path)
            self._write(document, change(self._text(document)).encode())
        return f"Changed {self._name(document)}."

    def _write(self, target: Path, content: bytes) -> None:
        if len(content) > LARGEST_DOCUMENT:
            raise ValueError(f"A document may have {LARGEST_DOCUMENT} bytes, not {len(content)}.")
        self._make_way(target)
        target.write_bytes(content)

    def _make_way(self, target: Path) -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            name = self._name(target.parent)
            raise ValueError(f"The folder {name!r} cannot be made: {error.strerror}.") from error


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def toolset(files: Files) -> FunctionToolset:
    """Offer the folder's methods as tools."""
    return FunctionToolset(
        "files",
        [
            Function(files.save_document, destructive=True),
            Function(files.open_document, read_only=True),
            Function(files.list_documents, read_only=True),
            Function(files.list_folders, read_only=True),
            Function(files.find_in_documents, read_only=True),
            Function(files.document_info, read_only=True),
            Function(files.count_words, read_only=True),
            Function(files.compare_documents, read_only=True),
            Function(files.append_to_document),
            Function(files.replace_in_document),
            Function(files.copy_document),
            Function(files.move_document),
            Function(files.make_folder),
            Function(files.zip_folder),
            Function(files.delete_document, destructive=True),
            Function(files.delete_folder, destructive=True),
        ],
    )
