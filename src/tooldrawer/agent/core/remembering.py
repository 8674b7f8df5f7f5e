"""The tool that looks into earlier sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from tooldrawer.errors import InvalidArguments

_MOST = 20
_LONGEST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of an earlier conversation."""

    session: str
    when: float
    """Seconds since 1970."""
    who: str
    """Who said it: user, assistant or a tool's name."""
    text: str


class Past(Protocol):
    """The sessions that were stored."""

    def search(self, query: str, limit: int) -> Sequence[Passage]:
        """The passages that fit best, best first. Called in a worker thread."""
        ...


class Recollection:
    """Earlier sessions, as lines for a model."""

    def __init__(self, past: Past) -> None:
        self._past = past

    def session_search(self, query: str, limit: int = 5) -> str:
        """Search earlier conversations."""
        if not query.strip():
            raise InvalidArguments("There is nothing to search for. Give words in /query.")
        found = self._past.search(query, min(max(limit, 1), _MOST))
        return "\n".join(map(_line, found)) or "[nothing found: try other words]"


def _line(passage: Passage) -> str:
    when = datetime.fromtimestamp(passage.when, UTC).strftime("%Y-%m-%d %H:%M")
    text = " ".join(passage.text.split())
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"[{passage.session}, {when} UTC] {passage.who}: {text}"
