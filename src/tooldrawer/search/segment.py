"""The words of some tools, by word: what BM25 searches in."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tooldrawer.search.document import NAME, fields
from tooldrawer.search.text import forms
from tooldrawer.search.verbs import deeds
from tooldrawer.tool import Tool

Whole = NDArray[np.integer[Any]]
Arrays = Mapping[str, Whole]

_ARRAYS: dict[str, type[np.integer[Any]]] = {
    "docs": np.int32,
    "weights": np.int32,
    "places": np.uint8,
    "starts": np.int64,
    "lengths": np.int64,
    "name_sizes": np.int32,
    "verbs": np.int64,
}


class Segment:
    """Postings of some tools. Never changes.

    A word's postings are the places `starts[row]` to `starts[row + 1]` of `docs`, `weights` (in
    hundredths) and `places`; `lengths`, `name_sizes` and `verbs` have one entry a tool.
    """

    def __init__(self, tools: Sequence[Tool], written: dict[str, str], arrays: Arrays) -> None:
        self.tools = tuple(tools)
        self.written = written
        """A way to write each stem (what an encoder can read), in the order of rows."""
        self.rows = dict(zip(written, range(len(written)), strict=True))
        self.docs, self.weights, self.places = arrays["docs"], arrays["weights"], arrays["places"]
        self.starts, self.lengths = arrays["starts"], arrays["lengths"]
        self.name_sizes, self.verbs = arrays["name_sizes"], arrays["verbs"]

    @classmethod
    def over(cls, tools: Iterable[Tool]) -> Self:
        """The words of `tools`, read now."""
        read = _Reading()
        some = tuple(tools)
        for tool in some:
            read.add(tool)
        return cls(some, read.written, read.arrays())

    @classmethod
    def joined(cls, segments: Sequence["Segment"]) -> "Segment":
        """One segment of several."""
        if len(segments) == 1:
            return segments[0]
        written: dict[str, str] = {}
        row_of: dict[str, int] = {}
        rows: list[Whole] = [np.zeros(0, np.int64)]
        docs: list[Whole] = [np.zeros(0, np.int64)]
        start = 0
        for segment in segments:
            for stemmed, form in segment.written.items():
                row_of.setdefault(stemmed, len(row_of))
                if stemmed not in written or form < written[stemmed]:
                    written[stemmed] = form
            own = np.array([row_of[stemmed] for stemmed in segment.written], dtype=np.int64)
            rows.append(np.repeat(own, np.diff(segment.starts)))
            docs.append(segment.docs.astype(np.int64) + start)
            start += len(segment.tools)
        parts = {
            name: np.concatenate([np.zeros(0, kind), *(getattr(s, name) for s in segments)])
            for name, kind in _ARRAYS.items()
        }
        parts["docs"] = np.concatenate(docs)
        arrays = _by_row(np.concatenate(rows), parts, len(row_of))
        return cls([tool for s in segments for tool in s.tools], written, arrays)

    @classmethod
    def unpacked(cls, tools: Sequence[Tool], packed: bytes) -> "Segment | None":
        """The segment of `tools` as it was packed; None when it cannot be that."""
        try:
            head, _, body = packed.partition(b"\n")
            header = json.loads(head)
            arrays: dict[str, Whole] = {}
            at = 0
            for name, kind in _ARRAYS.items():
                size = int(header["sizes"][name])
                arrays[name] = np.frombuffer(body, dtype=kind, count=size, offset=at)
                at += size * np.dtype(kind).itemsize
            written = dict(zip(header["stems"], header["written"], strict=True))
            found = cls(tools, written, arrays)
        except (ValueError, KeyError, TypeError):
            return None
        return found if len(found.lengths) == len(tools) else None

    def packed(self) -> bytes:
        """Everything but the tools, as bytes."""
        arrays = {name: np.asarray(getattr(self, name), kind) for name, kind in _ARRAYS.items()}
        header = {
            "sizes": {name: len(array) for name, array in arrays.items()},
            "stems": list(self.written),
            "written": list(self.written.values()),
        }
        return b"\n".join(
            (json.dumps(header).encode("ascii"), b"".join(map(_bytes, arrays.values())))
        )

    def posting(self, word: str) -> slice | None:
        """Where the documents that have a word stand."""
        row = self.rows.get(word)
        return None if row is None else slice(int(self.starts[row]), int(self.starts[row + 1]))


class _Reading:
    """Postings while they are gathered."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}
        self._row_of: dict[str, int] = {}
        self._rows: list[int] = []
        self._columns: dict[str, list[int]] = {name: [] for name in _ARRAYS}

    def add(self, tool: Tool) -> None:
        counts: dict[str, int] = {}
        where: dict[str, int] = {}
        for field in fields(tool):
            weight, place = field.weight, field.place
            for stemmed, written, _ in forms(field.text):
                counts[stemmed] = counts.get(stemmed, 0) + weight
                where[stemmed] = where.get(stemmed, 0) | place
                known = self.written.get(stemmed)
                if known is None or written < known:
                    self.written[stemmed] = written
        columns = self._columns
        document = len(columns["lengths"])
        named = [stemmed for stemmed, place in where.items() if place & NAME]
        verbs = 0
        for stemmed in named:
            verbs |= deeds(stemmed)
        columns["lengths"].append(sum(counts.values()))
        columns["name_sizes"].append(len(named) or 1)
        columns["verbs"].append(verbs)
        for stemmed, weight in counts.items():
            self._rows.append(self._row_of.setdefault(stemmed, len(self._row_of)))
            columns["docs"].append(document)
            columns["weights"].append(weight)
            columns["places"].append(where[stemmed])

    def arrays(self) -> Arrays:
        arrays = {name: np.array(self._columns[name], kind) for name, kind in _ARRAYS.items()}
        return _by_row(np.array(self._rows, np.int64), arrays, len(self._row_of))


def _by_row(rows: Whole, arrays: Arrays, count: int) -> Arrays:
    """The same postings, ordered by row."""
    order = np.argsort(rows, kind="stable")
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    ordered = {name: arrays[name][order] for name in ("docs", "weights", "places")}
    return {**arrays, **ordered, "starts": starts}


def _bytes(array: Whole) -> bytes:
    return array.tobytes()
