"""The tool that reads files."""

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import islice
from pathlib import Path

from tooldrawer.agent.core.opening import SAMPLE, failure, kind_of, opened, refuse_binary
from tooldrawer.agent.core.workplace import Workplace
from tooldrawer.call import ToolResult
from tooldrawer.errors import InvalidArguments

_MOST_LINES, _MOST_CHARACTERS = 2_000, 40_000
"""In one reply: about ten thousand tokens."""
_LONGEST_LINE = 2_000
_FARTHEST = 200_000_000
"""Bytes that are read to find a line, and to tell how many lines there are."""
_CHUNK = 1_000_000
_LARGEST_IMAGE = 5_000_000
"""Bytes that providers accept."""
_MOST_ENTRIES = 200


class Reader:
    """Files and folders, shown to a model. Where they lie is the guardrail's business."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace

    def read_file(self, path: str, offset: int = 1, limit: int = 1000) -> ToolResult:
        """Read a text file as numbered lines, an image, or a folder's names.

        Args:
            offset: First line
            limit: Lines
        """
        if offset < 1 or limit < 1:
            raise InvalidArguments("/offset and /limit start at 1. Correct them and call again.")
        place = self._workplace.resolve(path)
        if place.is_dir():
            return ToolResult.of_text(_folder(place))
        with opened(place) as file:
            size = os.fstat(file.fileno()).st_size
            kind = kind_of(file.peek(SAMPLE)[:SAMPLE])
            if kind.startswith("image/") and size <= _LARGEST_IMAGE:
                return _image(file.read(_LARGEST_IMAGE), kind)
            if kind:
                raise refuse_binary(place, kind, size, self._workplace)
            first = min(offset, _FARTHEST)  # as far as there can be lines
            return ToolResult.of_text(_text(file, first, min(limit, _MOST_LINES)))


def _image(content: bytes, kind: str) -> ToolResult:
    data = base64.b64encode(content).decode()
    return ToolResult(content=({"type": "image", "data": data, "mimeType": kind},))


def _folder(place: Path) -> str:
    try:
        with os.scandir(place) as entries:
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
    except OSError as error:
        raise failure(place, error) from error
    more = len(names) - _MOST_ENTRIES
    said = [f"[a folder with {len(names):,} entries]", *names[:_MOST_ENTRIES]]
    said += [f"[{more:,} more: look with search_files, kind name]"] if more > 0 else []
    # Names are bytes to the system; those that are no UTF-8 must not break the reply.
    return "\n".join(said).encode(errors="replace").decode()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, of which the beginning was kept."""

    start: bytes
    size: int

    @property
    def text(self) -> str:
        """The line for a model."""
        text = self.start.decode(errors="replace").replace("\0", "\ufffd").rstrip("\r\n")
        if len(text) <= _LONGEST_LINE and self.size == len(self.start):
            return text
        more = f"… [the line has {self.size:,} bytes; use cut in the terminal]"
        return text[:_LONGEST_LINE] + more

    @property
    def is_utf8(self) -> bool:
        """Whether it is what it says it is; a character that our own cut went through is."""
        try:
            self.start.decode()
        except UnicodeDecodeError as error:
            return self.size > len(self.start) and error.end == len(self.start)
        return True


class _Lines:
    """The lines of a file, one after the other, as far as it is reasonable to read."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._read = 0

    @property
    def has_given_up(self) -> bool:
        """Whether so much was read that the rest was left."""
        return self._read >= _FARTHEST

    def __iter__(self) -> Iterator[_Line]:
        while not self.has_given_up and (start := self._part()):
            size, part = len(start), start
            # Only the start stays in memory: a file may be one line of gigabytes.
            while not part.endswith(b"\n") and not self.has_given_up and (part := self._part()):
                size += len(part)
            yield _Line(start, size)

    def count_rest(self) -> int:
        """How many lines are left, in a fraction of the time that it takes to read them."""
        count, chunk, last = 0, b"", b"\n"
        while not self.has_given_up and (chunk := self._file.read(_CHUNK)):
            self._read += len(chunk)
            count += chunk.count(b"\n")
            last = chunk[-1:]
        return count + (last != b"\n")

    def _part(self) -> bytes:
        part = self._file.readline(SAMPLE)
        self._read += len(part)
        return part


def _text(file: BufferedReader, offset: int, limit: int) -> str:
    """The lines asked for as far as there is room, then what there is besides."""
    source = _Lines(file)
    lines = iter(source)
    before = sum(1 for _ in islice(lines, offset - 1))
    taken = list(_fitting(islice(lines, limit)))
    said = [f"{number}\t{line.text}" for number, line in enumerate(taken, start=offset)]
    if not all(line.is_utf8 for line in taken):
        said.append("[bytes that are not UTF-8 are shown as \ufffd]")
    if not taken and not source.has_given_up:
        said.append(f"[no line {offset}: the file has {before:,}]" if before else "[empty file]")
    more = source.count_rest()
    if more:
        said.append(f"[{more:,} more lines; read on with offset {offset + len(taken)}]")
    if source.has_given_up:
        said.append(f"[what lies beyond {_FARTHEST:,} bytes was left; use sed in the terminal]")
    return "\n".join(said)


def _fitting(lines: Iterator[_Line]) -> Iterator[_Line]:
    room = _MOST_CHARACTERS
    for line in lines:
        yield line
        room -= len(line.text)
        if room < 0:
            return
