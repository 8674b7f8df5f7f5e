"""What can be found again of conversations: pieces of text, without secrets, by their words."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tooldrawer.activity.masking import Masker
from tooldrawer.agent.compaction import real_names
from tooldrawer.agent.core.remembering import Passage
from tooldrawer.bridge import BridgeNames
from tooldrawer.tokens import compact
from tooldrawer.wire.content import told
from tooldrawer.wire.message import Answered, Message, Reply, Returned, Said

_MOST_CHARACTERS = 4_000
"""Of one passage: where a long result begins says what it is."""
_MOST_ARGUMENTS = 500
_MOST_WORDS = 32
_MOST_SHOWN = 500
_MOST_SCANNED = 20_000
"""Passages that are read one by one when no word is found, the latest first."""
_ITSELF = "session_search"
"""Its results are passages already."""
_WORD = re.compile(r"\w+")
_COLUMNS = "passage.conversation, passage.at, passage.who"
_WHERE = """(:scope IS NULL OR passage.conversation IN
    (SELECT id FROM conversation WHERE scope = :scope)) AND passage.conversation != :besides"""
_BY_WORDS = f"""SELECT {_COLUMNS}, CASE WHEN length(passage.text) <= {_MOST_SHOWN}
        THEN passage.text ELSE snippet(passage_index, 0, '', '', '…', 64) END
    FROM passage_index JOIN passage ON passage.id = passage_index.rowid
    WHERE passage_index MATCH :words AND {_WHERE} ORDER BY rank LIMIT :limit"""
_ONE_BY_ONE = f"""SELECT {_COLUMNS}, passage.text, parts_in(passage.text) AS found
    FROM (SELECT * FROM passage ORDER BY id DESC LIMIT {_MOST_SCANNED}) AS passage
    WHERE found AND {_WHERE} ORDER BY found DESC, passage.id DESC LIMIT :limit"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """Reads passages out of messages, and finds them in the database."""

    masker: Masker = field(default_factory=Masker)
    names: BridgeNames = field(default_factory=BridgeNames)

    def of(self, message: Message) -> Iterator[tuple[str, str]]:
        """Who said what in a message. A summary says nothing new."""
        match message:
            case Said():
                found = [("user", message.text)]
            case Answered():
                found = [("assistant", message.text)]
            case Returned():
                found = [pair for reply in message.replies for pair in self._reply(reply)]
            case _:
                found = []
        for who, text in found:
            if clean := self.clean(text, _MOST_CHARACTERS):
                yield who, clean

    def clean(self, text: str, most: int) -> str:
        """The beginning of a text without its secrets, fit for a database."""
        # A secret that goes on after the cut must be seen whole to be masked.
        masked = str(self.masker.masked(text[: 2 * most]))
        return storable(masked).strip()[:most]

    def add(
        self,
        connection: sqlite3.Connection,
        conversation: str,
        message: Message,
        *,
        at: float,
        indexed: bool,
    ) -> None:
        """Put the passages of a message into the database."""
        for who, text in self.of(message):
            made = connection.execute(
                "INSERT INTO passage (conversation, at, who, text) VALUES (?, ?, ?, ?)",
                (conversation, at, storable(who), text),
            )
            if indexed:
                connection.execute(
                    "INSERT INTO passage_index (rowid, text) VALUES (?, ?)", (made.lastrowid, text)
                )

    def _reply(self, reply: Reply) -> Iterator[tuple[str, str]]:
        call = reply.call
        if call.native or call.name in (self.names.search, self.names.describe, _ITSELF):
            return
        arguments = compact(self.masker.masked(call.arguments)) if call.arguments else ""
        text = f"{arguments[:_MOST_ARGUMENTS]}\n{told(reply.result)}"
        yield next(iter(real_names(call, self.names)), call.name), text


def find(
    connection: sqlite3.Connection,
    query: str,
    limit: int,
    *,
    indexed: bool,
    scope: str | None,
    besides: str,
) -> Sequence[Passage]:
    """The passages with most of the words, best first; else those with the same characters."""
    asked: dict[str, object] = {"limit": max(limit, 0), "scope": scope, "besides": besides}
    text = storable(query)
    words = dict.fromkeys(_WORD.findall(text.casefold()))
    found: list[tuple[str, float, str, str]] = []
    if indexed and words:
        quoted = " OR ".join(f'"{word}"' for word in list(words)[:_MOST_WORDS])
        found = connection.execute(_BY_WORDS, {**asked, "words": quoted}).fetchall()
    if not found:
        found = _one_by_one(connection, text.casefold().split()[:_MOST_WORDS], asked)
    return [
        Passage(session=session, when=when, who=who, text=text[: 2 * _MOST_SHOWN])
        for session, when, who, text in found
    ]


def storable(text: str) -> str:
    """The text as SQLite takes it: half a character is written out, and nothing ends it early."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", " ")


def _one_by_one(
    connection: sqlite3.Connection, parts: Sequence[str], asked: dict[str, object]
) -> list[tuple[str, float, str, str]]:
    """For scripts without spaces, pictures, parts of words, and where FTS5 is missing."""
    if not parts:
        return []

    def parts_in(text: str) -> int:
        folded = text.casefold()
        return sum(part in folded for part in parts)

    connection.create_function("parts_in", 1, parts_in, deterministic=True)
    rows = connection.execute(_ONE_BY_ONE, asked).fetchall()
    return [(session, when, who, _around(text, parts)) for session, when, who, text, _ in rows]


def _around(text: str, parts: Sequence[str]) -> str:
    """The text near the first part that is in it."""
    if len(text) <= _MOST_SHOWN:
        return text
    folded = text.casefold()
    first = min((place for part in parts if (place := folded.find(part)) >= 0), default=0)
    start = max(first - _MOST_SHOWN // 4, 0)
    return ("…" if start else "") + text[start : start + _MOST_SHOWN]
