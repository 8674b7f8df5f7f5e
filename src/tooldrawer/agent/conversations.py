"""Conversations on disk: each message as it was, to go on with, and its text to be found again."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time

from platformdirs import user_data_path
from rapidfuzz import process

from tooldrawer.activity.masking import Masker
from tooldrawer.agent.core.remembering import Passage
from tooldrawer.agent.database import Database
from tooldrawer.agent.passages import Passages, find, storable
from tooldrawer.agent.written import read, written
from tooldrawer.bridge import BridgeNames
from tooldrawer.call import ToolResult
from tooldrawer.errors import ToolDrawerError
from tooldrawer.wire.message import Answered, Message, Reply, Returned, Said, Summary

_LETTERS = "bcdfghjkmnpqrstvwxyz"
"""No vowels, so that no id is a word."""
_ID_LETTERS = 4
_IDS_A_DAY = len(_LETTERS) ** _ID_LETTERS
_SECONDS_A_DAY = 86_400
_MOST_TITLE = 60
_MOST_NAMED = 5
_MOST_COMPARED = 1_000
_INTERRUPTED = (
    "Interrupted: the program was ended before this call was. Whether it took effect is not known; "
    "look before you make it again."
)
_INFO = "SELECT id, started, last, model, cwd, scope, title, turns, parent FROM conversation"
_FAMILY = """WITH RECURSIVE family (id) AS (
        SELECT id FROM conversation WHERE :first IS NULL OR id = :first UNION
        SELECT conversation.id FROM conversation JOIN family ON conversation.parent = family.id)
    SELECT id FROM family"""
_Row = tuple[str, float, float, str, str, str, str, int, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """What there is to say about a conversation without reading it."""

    id: str
    started: float
    """Seconds since the epoch."""
    last: float
    """When its last message came."""
    model: str
    cwd: str
    scope: str
    title: str
    """The first words of the person, secrets masked."""
    turns: int
    """How often the person said something."""
    parent: str | None
    """The conversation whose subagent had this one."""


class Conversations:
    """All conversations of this user, in one file that only they can read.

    Every method reads or writes the disk: call it in a worker thread, from as many as you like.
    Several processes may use one file. A message is on the disk when `append` returns, and is
    never changed; only `forget` removes it.

    Messages are kept exactly, secrets included, since they are sent to the model again. The text
    to be searched and the titles are copies in which secrets are masked, as in the activity: what
    a search finds is shown to other models, in other conversations.

    Raises from every method:
        ToolDrawerError: The file cannot be used, or there is no such conversation. The text says
            what to do; a program can go on without keeping the conversation.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        masker: Masker | None = None,
        names: BridgeNames | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        self.path = path or user_data_path("tooldrawer", appauthor=False) / "conversations.db"
        self._passages = Passages(masker=masker or Masker(), names=names or BridgeNames())
        self._database = Database(self.path)
        self._clock = clock

    def start(self, *, model: str, cwd: str, scope: str, parent: str | None = None) -> str:
        """A new conversation's id: the day and four letters, `260724-kqzt`, later ones greater."""
        now = self._clock()
        values = (now, now, storable(model), storable(cwd), storable(scope), parent)
        with self._database.writing() as connection:
            made = _new_id(connection, now)
            connection.execute(
                "INSERT INTO conversation (id, started, last, model, cwd, scope, parent) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (made, *values),
            )
        return made

    def append(self, conversation: str, message: Message) -> None:
        """Keep one more message."""
        body = written(message, conversation=conversation)
        with self._database.writing() as connection:
            self._add(connection, conversation, body, begins=None)
            if isinstance(message, Said):
                connection.execute(
                    "UPDATE conversation SET turns = turns + 1, title = "
                    "CASE WHEN title = '' THEN ? ELSE title END WHERE id = ?",
                    (_title(self._passages.clean(message.text, 4 * _MOST_TITLE)), conversation),
                )
            self._passages.add(
                connection,
                conversation,
                message,
                at=self._clock(),
                indexed=self._database.has_index(connection),
            )

    def compacted(self, conversation: str, summary: Summary, *, replaces: int) -> None:
        """The first `replaces` messages that `load` gives now stand in `summary`.

        They stay in the file, and can be searched.
        """
        body = written(summary, conversation=conversation)
        with self._database.writing() as connection:
            live = _live(connection, conversation)
            if not 0 < replaces <= len(live):
                raise ToolDrawerError(
                    f"The conversation {conversation} has {len(live)} messages to go on with, so "
                    f"{replaces} cannot be replaced. Does another program go on with it?"
                )
            rest = live[replaces:]
            begins = rest[0][0] if rest else _next_number(connection, conversation)
            self._add(connection, conversation, body, begins=begins)

    def load(self, conversation: str) -> tuple[Message, ...]:
        """The messages to go on with: the last summary, if there is one, and what came after.

        Calls that never came to an end, because the program was killed, are answered: a provider
        refuses a conversation where they are not.
        """
        with self._database.reading() as connection:
            return tuple(message for _, message in _live(connection, conversation))

    def forget(self, conversation: str | None = None) -> tuple[str, ...]:
        """Delete a conversation with those of its subagents, or all; the ids of those deleted."""
        with self._database.erasing() as connection:
            if conversation is not None:
                _known(connection, conversation)
            rows: list[tuple[str]] = connection.execute(
                _FAMILY, {"first": None if conversation is None else storable(conversation)}
            ).fetchall()
            connection.executemany("DELETE FROM passage WHERE conversation = ?", rows)
            connection.executemany("DELETE FROM message WHERE conversation = ?", rows)
            connection.executemany("DELETE FROM conversation WHERE id = ?", rows)
        return tuple(identity for (identity,) in rows)

    def info(self, conversation: str) -> Info:
        """What there is to say about it."""
        with self._database.reading() as connection:
            return _known(connection, conversation)

    def recent(self, limit: int, *, cwd: str | None = None) -> list[Info]:
        """Those that people began and said something in, the latest first; of one folder or all."""
        where = "WHERE parent IS NULL AND turns > 0 AND (:cwd IS NULL OR cwd = :cwd)"
        asked = {"cwd": None if cwd is None else storable(cwd), "limit": max(limit, 0)}
        with self._database.reading() as connection:
            rows: Iterable[_Row] = connection.execute(
                f"{_INFO} {where} ORDER BY last DESC, id DESC LIMIT :limit", asked
            )
            return [_info(row) for row in rows]

    def latest(self, cwd: str) -> Info | None:
        """The one to go on with in a folder."""
        return next(iter(self.recent(1, cwd=cwd)), None)

    def find(self, beginning: str) -> Info:
        """The one whose id, or the letters of whose id, begin so; a subagent's too."""
        wanted = storable(beginning).strip().lower()
        with self._database.reading() as connection:
            rows: list[_Row] = connection.execute(
                f"{_INFO} WHERE :wanted IN (substr(id, 1, :length), "
                "substr(id, instr(id, '-') + 1, :length)) ORDER BY last DESC, id DESC",
                {"wanted": wanted, "length": len(wanted)},
            ).fetchall()
            exact = [row for row in rows if row[0] == wanted]
            if len(found := exact or rows) == 1:
                return _info(found[0])
            raise ToolDrawerError(_which(wanted, rows or _nearest(connection, wanted), len(rows)))

    def search(
        self, query: str, limit: int, *, scope: str | None = None, besides: str = ""
    ) -> Sequence[Passage]:
        """What was said or found before, best first, for any query at all.

        Of one scope or of all, and of all conversations `besides` one: who searches has no need
        to find the question itself. Without FTS5 in SQLite, the latest are read one by one.
        """
        with self._database.reading() as connection:
            indexed = self._database.has_index(connection)
            return find(connection, query, limit, indexed=indexed, scope=scope, besides=besides)

    def _add(
        self, connection: sqlite3.Connection, conversation: str, body: bytes, *, begins: int | None
    ) -> None:
        _known(connection, conversation)
        now, number = self._clock(), _next_number(connection, conversation)
        connection.execute(
            "INSERT INTO message (conversation, number, at, body, begins) VALUES (?, ?, ?, ?, ?)",
            (conversation, number, now, body, begins),
        )
        connection.execute("UPDATE conversation SET last = ? WHERE id = ?", (now, conversation))


def _live(connection: sqlite3.Connection, conversation: str) -> list[tuple[int, Message]]:
    """The messages to go on with, by their number; one added here has that of the one before."""
    _known(connection, conversation)
    summary: tuple[int, int, bytes] | None = connection.execute(
        "SELECT number, begins, body FROM message WHERE conversation = ? AND begins IS NOT NULL "
        "ORDER BY number DESC LIMIT 1",
        (conversation,),
    ).fetchone()
    rows: list[tuple[int, bytes]] = connection.execute(
        "SELECT number, body FROM message WHERE conversation = ? AND number >= ? "
        "AND begins IS NULL ORDER BY number",
        (conversation, summary[1] if summary else 0),
    ).fetchall()
    if summary:
        rows.insert(0, (summary[0], summary[2]))
    return _mended([(number, read(body, conversation=conversation)) for number, body in rows])


def _mended(messages: Iterable[tuple[int, Message]]) -> list[tuple[int, Message]]:
    """Every call answered right after it was made, and nothing answered that was not asked."""
    mended: list[tuple[int, Message]] = []
    open_calls: Answered | None = None
    for number, message in messages:
        if isinstance(message, Returned) and not _answers(message, open_calls):
            continue  # two programs went on with one conversation, and this is the other's
        if open_calls is not None and not isinstance(message, Returned):
            mended.append((mended[-1][0], _interrupted(open_calls)))
        mended.append((number, message))
        open_calls = message if isinstance(message, Answered) and message.calls else None
    if open_calls is not None:
        mended.append((mended[-1][0], _interrupted(open_calls)))
    return mended


def _answers(message: Returned, answer: Answered | None) -> bool:
    asked = [(call.name, call.id) for call in answer.calls] if answer else None
    return [(reply.call.name, reply.call.id) for reply in message.replies] == asked


def _interrupted(answer: Answered) -> Returned:
    return Returned(
        replies=tuple(
            Reply(
                call=call, result=ToolResult.of_text(_INTERRUPTED, is_error=True, call_id=call.id)
            )
            for call in answer.calls
        )
    )


def _known(connection: sqlite3.Connection, conversation: str) -> Info:
    row: _Row | None = connection.execute(
        f"{_INFO} WHERE id = ?", (storable(conversation),)
    ).fetchone()
    if row is None:
        raise ToolDrawerError(_which(conversation, _nearest(connection, conversation), 0))
    return _info(row)


def _info(row: _Row) -> Info:
    identity, started, last, model, cwd, scope, title, turns, parent = row
    return Info(
        id=identity,
        started=started,
        last=last,
        model=model,
        cwd=cwd,
        scope=scope,
        title=title,
        turns=turns,
        parent=parent,
    )


def _nearest(connection: sqlite3.Connection, wanted: str) -> list[_Row]:
    rows: list[_Row] = connection.execute(
        f"{_INFO} ORDER BY last DESC LIMIT ?", (_MOST_COMPARED,)
    ).fetchall()
    near = process.extract(wanted, [row[0] for row in rows], limit=_MOST_NAMED)
    return [rows[place] for _, _, place in near]


def _which(wanted: str, rows: Sequence[_Row], matching: int) -> str:
    """What to say when `wanted` is no conversation, or several."""
    named = "".join(f"\n  {row[0]}  {row[6]}" for row in rows[:_MOST_NAMED])
    if matching:
        return (
            f"{matching} conversations begin with {wanted!r}; give more letters. The latest:{named}"
        )
    listed = f" The nearest:{named}" if named else " None was kept so far."
    return f"There is no conversation {wanted!r}.{listed}"


def _next_number(connection: sqlite3.Connection, conversation: str) -> int:
    found = connection.execute(
        "SELECT coalesce(max(number) + 1, 0) FROM message WHERE conversation = ?", (conversation,)
    )
    return int(found.fetchone()[0])


def _new_id(connection: sqlite3.Connection, now: float) -> str:
    """The first that is free from this moment of the day on."""
    day = datetime.fromtimestamp(now, UTC).strftime("%y%m%d")
    moment = int(now % _SECONDS_A_DAY * _IDS_A_DAY / _SECONDS_A_DAY)
    while True:
        made = f"{day}-{_letters(moment)}"
        if not connection.execute("SELECT 1 FROM conversation WHERE id = ?", (made,)).fetchone():
            return made
        moment += 1


def _letters(number: int) -> str:
    letters = ""
    while number or len(letters) < _ID_LETTERS:
        number, letter = divmod(number, len(_LETTERS))
        letters = _LETTERS[letter] + letters
    return letters


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_TITLE else f"{line[:_MOST_TITLE].rsplit(' ', 1)[0]}…"
