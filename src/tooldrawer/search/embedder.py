"""What turns texts into vectors, and the one that ships with the package."""

from collections.abc import Sequence
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tooldrawer.search.daemon_threads import hold_exit
from tooldrawer.search.model_files import checksums, read_model_file
from tooldrawer.search.runtime import load_runtime
from tooldrawer.search.wordpiece import WordPiece

Vectors = NDArray[np.float32]

_QUERY_PIECES = 32
_TOOL_PIECES = 64
_WEIGHTS = "encoder.onnx"
_BATCH = 8
"""About a tenth of a second: what a program that ends soon has read is there for the next one."""


class Embedder(Protocol):
    """Gives texts that mean the same vectors that point the same way."""

    @property
    def identity(self) -> str:
        """Changes whenever the vectors of a text would: stored ones are kept under it."""
        ...

    @property
    def batch(self) -> int:
        """How many texts to give it at once; what a process has not finished of them is lost."""
        ...

    def tools(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text about a tool."""
        ...

    def queries(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text that asks for one."""
        ...


class Encoder:
    """The transformer in the package: 6 layers, 8-bit weights, on one core.

    Texts are read one at a time. Weights of 8 bits are scaled by what is read together, so in a
    batch a tool's vector would depend on its neighbours; and one core is no faster with batches.
    """

    batch = _BATCH

    def __init__(self) -> None:
        """Load the weights.

        Raises:
            ImportError: The runtime is not installed.
            ModelFileChanged: A file of the model is not the one that was packaged.
        """
        with hold_exit():
            runtime = load_runtime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # What was compared with its checksum is what is loaded: from memory, not from the file.
        content = {name: read_model_file(name) for name in checksums()}
        with hold_exit():
            self._session = runtime.InferenceSession(
                content[_WEIGHTS], options, providers=["CPUExecutionProvider"]
            )
        self._pieces = WordPiece(content["vocabulary.txt"].decode("utf-8").splitlines())
        self.identity = checksums()[_WEIGHTS][:16]

    def tools(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text about a tool."""
        return self._read(texts, _TOOL_PIECES)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text that asks for one."""
        return self._read(texts, _QUERY_PIECES)

    def _read(self, texts: Sequence[str], most: int) -> Vectors:
        rows: list[Vectors] = []
        for text in texts:
            ids = np.array([self._pieces.ids(text, most=most)], dtype=np.int64)
            with hold_exit():
                rows.append(self._session.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0][0])
        return np.array(rows, dtype=np.float32)


@cache
def shipped() -> Embedder:
    """The encoder of the package, loaded once.

    Raises:
        ImportError: Its runtime is not installed.
        ModelFileChanged: A file of the model is not the one that was packaged.
    """
    return Encoder()
