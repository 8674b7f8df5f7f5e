"""Server-sent events, cut where readers are careless."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.models.request import JsonObject, compact

SMALL = 7
MOST_PIECES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer, whole and as events; the words in the middle can be repeated."""

    whole: JsonObject
    opening: list[bytes] = field(default_factory=list[bytes])
    words: list[bytes] = field(default_factory=list[bytes])
    closing: list[bytes] = field(default_factory=list[bytes])

    @property
    def events(self) -> list[bytes]:
        return [*self.opening, *self.words, *self.closing]


def event(data: JsonObject, *, name: str | None = None) -> bytes:
    """One event in the form that OpenAI and Anthropic send."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + compact(data) + b"\n\n"


def pieces(text: str) -> list[str]:
    """Small parts of a text; a backslash always ends one, so escapes are torn apart."""
    size = max(SMALL, len(text) // MOST_PIECES)
    parts = re.findall(rf"(?s)[^\\]{{0,{size - 1}}}\\|.{{1,{size}}}", text)
    assert "".join(parts) == text
    return parts


def ragged(chunk: bytes) -> Iterator[bytes]:
    """The same bytes in two writes, the first of which ends inside a character."""
    torn = re.search(rb"[\x80-\xbf]", chunk)
    if torn is None:
        yield chunk
        return
    yield chunk[: torn.start()]
    yield chunk[torn.start() :]
