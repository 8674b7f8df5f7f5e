"""What every retriever offers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tooldrawer.tool import Tool


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool and how well it fits; any list of hits has the best first."""

    tool: Tool
    score: float


class Index(Protocol):
    """A built, read-only search structure over one catalog."""

    def search(self, query: str, *, limit: int) -> Sequence[Hit]:
        """The best `limit` tools for `query`; empty when nothing fits. Ties go by name."""
        ...
