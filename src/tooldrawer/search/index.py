"""What a search gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tooldrawer.tool import Tool


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool and how well it fits; any list of hits has the best first."""

    tool: Tool
    score: float
    """Comparable within one search only."""
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the score is made of: words, meaning, coverage, server, verb."""
    matched: tuple[str, ...] = ()
    """The words of the query that the tool has, as they were said."""
