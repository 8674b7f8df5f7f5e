"""An issue tracker in SQLite, with labels, comments and milestones."""

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Lock
from typing import Literal

from tooldrawer.functions import Function, FunctionToolset

Priority = Literal["low", "normal", "high", "urgent"]
State = Literal["open", "closed", "all"]
Reason = Literal["done", "not planned", "duplicate"]
Group = Literal["state", "priority", "assignee", "milestone", "label"]

MOST_RESULTS = 100

SCHEMA = """
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS milestones (title TEXT PRIMARY KEY, due TEXT);
CREATE TABLE IF NOT EXISTS issues (
    issue_id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL, body TEXT NOT NULL, priority TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open', closed_as TEXT,
    assignee TEXT, milestone TEXT REFERENCES milestones,
    created TEXT NOT NULL, updated TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS labels (
    issue_id INTEGER REFERENCES issues ON DELETE CASCADE, label TEXT, UNIQUE (issue_id, label)
);
CREATE TABLE IF NOT EXISTS comments (
    issue_id INTEGER REFERENCES issues ON DELETE CASCADE, author TEXT, text TEXT
);
"""
FITTING = """(:label IS NULL OR issue_id IN (SELECT issue_id FROM labels WHERE label = :label))
AND (:assignee IS NULL OR assignee = :assignee)
AND (:milestone IS NULL OR milestone = :milestone)
AND (:priority IS NULL OR priority = :priority)"""
HOLDING = """NOT EXISTS (SELECT 1 FROM json_each(:words) WHERE instr(
    lowercase(title || ' ' || body || ' ' || (SELECT coalesce(group_concat(text, ' '), '')
    FROM comments WHERE comments.issue_id = issues.issue_id)), value) = 0)"""
ORDERS = {
    "newest": "issue_id DESC",
    "priority": "instr('urgent high normal low', priority), issue_id",
    "updated": "updated DESC, issue_id DESC",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One issue with its labels and what was said about it."""

    issue_id: int
    title: str
    body: str
    priority: Priority
    state: Literal["open", "closed"]
    closed_as: str | None
    assignee: str | None
    milestone: str | None
    created: str
    updated: str
    labels: list[str]
    comments: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueFilter:
    """Which issues to list; a field that is left out does not matter."""

    label: str | None = None
    assignee: str | None = None
    milestone: str | None = None
    priority: Priority | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """A goal, and how many of its issues are open and closed."""

    title: str
    due: str | None
    open_issues: int
    closed_issues: int


class Issues:
    """An issue tracker whose public methods, but for `dispose`, are tools."""

    def __init__(
        self, path: Path | str = ":memory:", now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._now = now
        self._lock = Lock()
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.row_factory = sqlite3.Row
        self._database.create_function("lowercase", 1, str.lower)
        self._database.executescript(SCHEMA)

    def dispose(self) -> None:
        """Close the database; no other method may be called afterwards."""
        with self._lock:
            self._database.close()

    def create_issue(
        self,
        title: str,
        body: str = "",
        priority: Priority = "normal",
        labels: list[str] | None = None,
        assignee: str | None = None,
    ) -> Issue:
        """File a new issue and return it with its number.

        Args:
            title: What is wrong or wanted, in a line; it must not be empty.
            body: The details, as markdown.
            priority: How soon it is needed.
            labels: Labels to put on it, such as "bug".
            assignee: Who is to work on it.
        """
        moment = self._now().isoformat(timespec="seconds")
        values = (_required(title, "title"), body, priority, assignee, moment)
        with self._transaction() as database:
            cursor = database.execute(
                "INSERT INTO issues (title, body, priority, assignee, created, updated)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
                values,
            )
            issue_id = cursor.lastrowid or 0
            _add_labels(database, issue_id, labels or [])
            return _issue(database, issue_id)

    def show_issue(self, issue_id: int) -> Issue:
        """Return one issue with its labels and comments.

        Args:
            issue_id: The number of the issue.
        """
        with self._transaction() as database:
            return _issue(database, issue_id)

    def list_issues(
        self,
        state: State = "open",
        only: IssueFilter | None = None,
        sort_by: Literal["newest", "priority", "updated"] = "newest",
        limit: int = 30,
    ) -> list[Issue]:
        """List the issues that fit a filter.

        Args:
            state: Whether to list open issues, closed ones or both.
            only: Which label, assignee, milestone and priority to list.
            sort_by: Which issues come first.
            limit: How many issues to return, at most 100.
        """
        wanted = only or IssueFilter()
        label = wanted.label and wanted.label.strip().lower()
        values = {**asdict(wanted), "label": label, "state": state}
        return self._select(f"{FITTING} ORDER BY {ORDERS[sort_by]}", values, limit)

    def search_issues(self, query: str, state: State = "all", limit: int = 30) -> list[Issue]:
        """Find issues whose title, body or comments hold every word of a query, newest first.

        Args:
            query: The words to look for, in any case.
            state: Whether to search open issues, closed ones or both.
            limit: How many issues to return, at most 100.
        """
        words = json.dumps(_required(query, "query").lower().split())
        values = {"words": words, "state": state}
        return self._select(f"{HOLDING} ORDER BY issue_id DESC", values, limit)

    def count_issues(self, group_by: Group = "state") -> dict[str, int]:
        """Count the issues in each group, the largest group first.

        Args:
            group_by: What to group the issues by; "none" counts those without it.
        """
        with self._transaction() as database:
            rows = database.execute(
                f"SELECT coalesce({group_by}, 'none') AS name, count(DISTINCT issue_id) AS number"
                " FROM issues LEFT JOIN labels USING (issue_id)"
                " GROUP BY name ORDER BY number DESC, name"
            )
            return {row["name"]: row["number"] for row in rows}

    def update_issue(
        self,
        issue_id: int,
        title: str | None = None,
        body: str | None = None,
        priority: Priority | None = None,
    ) -> Issue:
        """Change the title, body or priority of an issue; what is left out stays as it is.

        Args:
            issue_id: The number of the issue.
            title: The new title.
            body: The new body, which replaces the old one in full.
            priority: The new priority.
        """
        given = {"title": title, "body": body, "priority": priority}
        values = {name: value for name, value in given.items() if value is not None}
        if not values or not values.get("title", "kept").strip():
            raise ValueError("Nothing to change to: give a title, a body or a priority.")
        return self._update(issue_id, values)

    def assign_issue(self, issue_id: int, assignee: str | None) -> Issue:
        """Give an issue to someone, or to no one.

        Args:
            issue_id: The number of the issue.
            assignee: Who is to work on it; null takes it off everyone.
        """
        return self._update(issue_id, {"assignee": assignee})

    def label_issue(
        self, issue_id: int, labels: list[str], take_off: list[str] | None = None
    ) -> Issue:
        """Put labels on an issue, and take others off; labels it already has stay.

        Args:
            issue_id: The number of the issue.
            labels: The labels to put on.
            take_off: The labels to take off.
        """
        with self._transaction() as database:
            _add_labels(database, _issue(database, issue_id).issue_id, labels)
            unwanted = [(issue_id, label.strip().lower()) for label in take_off or []]
            database.executemany("DELETE FROM labels WHERE issue_id = ? AND label = ?", unwanted)
        return self._update(issue_id, {})

    def comment_on_issue(self, issue_id: int, text: str, author: str = "assistant") -> Issue:
        """Add a comment to an issue.

        Args:
            issue_id: The number of the issue.
            text: What to say, as markdown.
            author: Who says it.
        """
        with self._transaction() as database:
            values = (_issue(database, issue_id).issue_id, author, _required(text, "text"))
            database.execute("INSERT INTO comments VALUES (?, ?, ?)", values)
        return self._update(issue_id, {})

    def close_issue(self, issue_id: int, reason: Reason = "done") -> Issue:
        """Close an open issue.

        Args:
            issue_id: The number of the issue.
            reason: Why it is closed.
        """
        if self.show_issue(issue_id).state == "closed":
            raise ValueError(f"Issue {issue_id} is closed already. Open it with reopen_issue.")
        return self._update(issue_id, {"state": "closed", "closed_as": reason})

    def reopen_issue(self, issue_id: int) -> Issue:
        """Open a closed issue again.

        Args:
            issue_id: The number of the issue.
        """
        if self.show_issue(issue_id).state == "open":
            raise ValueError(f"Issue {issue_id} is open already. Close it with close_issue.")
        return self._update(issue_id, {"state": "open", "closed_as": None})

    def delete_issue(self, issue_id: int) -> str:
        """Delete an issue with its comments for good; close_issue keeps it instead.

        Args:
            issue_id: The number of the issue.
        """
        with self._transaction() as database:
            issue = _issue(database, issue_id)
            database.execute("DELETE FROM issues WHERE issue_id = ?", (issue_id,))
        return f"Deleted issue {issue_id}: {issue.title}."

    def create_milestone(self, title: str, due: date | None = None) -> str:
        """Set a goal that issues can be planned for.

        Args:
            title: The name of the milestone, such as "1.0".
            due: The day it is due, such as "2026-03-31".
        """
        name = _required(title, "title")
        key = (name, due and due.isoformat())
        with self._transaction() as database:
            added = database.execute("INSERT OR IGNORE INTO milestones VALUES (?, ?)", key).rowcount
        if not added:
            raise ValueError(f"There is a milestone {name!r} already. Use plan_issue.")
        return f"Created the milestone {name}."

    def plan_issue(self, issue_id: int, milestone: str | None) -> Issue:
        """Plan an issue for a milestone, or for none.

        Args:
            issue_id: The number of the issue.
            milestone: The title of a milestone; null takes the issue out of its milestone.
        """
        try:
            return self._update(issue_id, {"milestone": milestone})
        except sqlite3.IntegrityError as error:
            raise ValueError(f"No milestone is {milestone!r}. See list_milestones.") from error

    def list_milestones(self) -> list[Milestone]:
        """List the milestones with the number of open and closed issues in each, soonest first."""
        with self._transaction() as database:
            rows = database.execute(
                "SELECT m.title, m.due, count(i.issue_id) FILTER (WHERE i.state = 'open') AS"
                " open_issues, count(i.issue_id) FILTER (WHERE i.state = 'closed') AS closed_issues"
                " FROM milestones AS m LEFT JOIN issues AS i ON i.milestone = m.title"
                " GROUP BY m.title ORDER BY m.due IS NULL, m.due, m.title"
            )
            return [Milestone(**dict(row)) for row in rows]

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        with self._lock, self._database:
            yield self._database

    def _select(self, condition: str, values: Mapping[str, object], limit: int) -> list[Issue]:
        start = "SELECT * FROM issues WHERE (:state = 'all' OR state = :state) AND "
        with self._transaction() as database:
            rows = database.execute(start + condition, values).fetchall()
            return [_with_parts(database, row) for row in rows[: max(0, min(limit, MOST_RESULTS))]]

    def _update(self, issue_id: int, values: Mapping[str, object]) -> Issue:
        changes = {**values, "updated": self._now().isoformat(timespec="seconds")}
        columns = ", ".join(f"{name} = ?" for name in changes)
        with self._transaction() as database:
            key = _issue(database, issue_id).issue_id
            statement = f"UPDATE issues SET {columns} WHERE issue_id = ?"
            database.execute(statement, (*changes.values(), key))
            return _issue(database, issue_id)


def _issue(database: sqlite3.Connection, issue_id: int) -> Issue:
    number = issue_id if abs(issue_id) < 2**63 else 0
    row = database.execute("SELECT * FROM issues WHERE issue_id = ?", (number,)).fetchone()
    if row is None:
        raise ValueError(f"There is no issue {issue_id}. List them with list_issues.")
    return _with_parts(database, row)


def _with_parts(database: sqlite3.Connection, row: sqlite3.Row) -> Issue:
    key = (row["issue_id"],)
    labels = database.execute("SELECT label FROM labels WHERE issue_id = ? ORDER BY label", key)
    comments = database.execute(
        "SELECT author || ': ' || text FROM comments WHERE issue_id = ? ORDER BY rowid", key
    )
    names, said = ([value for (value,) in found] for found in (labels, comments))
    return Issue(**dict(row), labels=names, comments=said)


def _add_labels(database: sqlite3.Connection, issue_id: int, labels: Iterable[str]) -> None:
    rows = [(issue_id, _required(label, "label").lower()) for label in labels]
    database.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?)", rows)


def _required(text: str, name: str) -> str:
    if not text.strip():
        raise ValueError(f"The {name} is empty: give some text.")
    return text.strip()


def toolset(issues: Issues) -> FunctionToolset:
    """Offer the tracker's methods as tools."""
    return FunctionToolset(
        "issues",
        [
            Function(issues.create_issue),
            Function(issues.show_issue, read_only=True),
            Function(issues.list_issues, read_only=True),
            Function(issues.search_issues, read_only=True),
            Function(issues.count_issues, read_only=True),
            Function(issues.update_issue),
            Function(issues.assign_issue),
            Function(issues.label_issue),
            Function(issues.comment_on_issue),
            Function(issues.close_issue),
            Function(issues.reopen_issue),
            Function(issues.delete_issue, destructive=True),
            Function(issues.create_milestone),
            Function(issues.plan_issue),
            Function(issues.list_milestones, read_only=True),
        ],
    )
