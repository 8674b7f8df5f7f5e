"""The vectors of an index's tools, filled in while searches use those that exist already."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tooldrawer.search.embedder import Vectors

STORED = np.float16
"""How vectors are kept in memory and on disk."""
Flags = NDArray[np.bool_]


class VectorTable:
    """One row for each tool, in order. One thread fills it; any number of threads read it."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Make an empty table; `keys` has the key of each tool, and tools may share one."""
        self._positions: dict[str, list[int]] = {}
        for position, key in enumerate(keys):
            self._positions.setdefault(key, []).append(position)
        self._size = len(keys)
        self.rows: Vectors = np.zeros((len(keys), 0), np.float32)
        self._is_filled: Flags = np.zeros(len(keys), np.bool_)
        self.is_complete = not keys

    def fill(self, vectors: Mapping[str, bytes]) -> None:
        """Put stored vectors into the rows of their tools."""
        at = [position for key in vectors for position in self._positions[key]]
        if not at:
            return
        flat = b"".join(_repeated(vectors, self._positions))
        values = np.frombuffer(flat, STORED).reshape(len(at), -1).astype(np.float32)
        if not self.rows.shape[1]:
            self.rows = np.zeros((self._size, values.shape[1]), np.float32)
        self.rows[at] = values
        # After the rows: whoever reads the flags finds the rows that they promise.
        self._is_filled[at] = True
        self.is_complete = bool(self._is_filled.all())

    def filled(self) -> Flags | None:
        """Tell which rows have their vectors at this moment; None when all of them have."""
        return None if self.is_complete else self._is_filled.copy()


def _repeated(
    vectors: Mapping[str, bytes], positions: Mapping[str, Sequence[int]]
) -> Iterable[bytes]:
    for key, vector in vectors.items():
        yield from (vector for _ in positions[key])
