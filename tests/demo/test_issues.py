"""The issue tracker of the demo does what its tools say."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from tooldrawer.demo.issues import IssueFilter, Issues, toolset


@pytest.fixture
def issues() -> Iterator[Issues]:
    minutes = count()
    start = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    tracker = Issues(now=lambda: start + timedelta(minutes=next(minutes)))
    yield tracker
    tracker.dispose()


def test_a_created_issue_is_open_and_has_clean_labels(issues: Issues) -> None:
    made = issues.create_issue("Crash on start", "Trace", "high", ["Bug", "bug "], "ana")
    assert (made.issue_id, made.state, made.labels) == (1, "open", ["bug"])
    assert made.created == made.updated == "2026-03-02T09:00:00+00:00"
    assert issues.show_issue(1) == made


def test_a_wrong_label_leaves_no_issue_behind(issues: Issues) -> None:
    with pytest.raises(ValueError, match="label is empty"):
        issues.create_issue("Half done", labels=["fine", " "])
    assert issues.list_issues() == []


def test_issues_are_listed_by_filter_and_order(issues: Issues) -> None:
    issues.create_issue("Typo", priority="low", labels=["docs"])
    issues.create_issue("Leak", priority="urgent", labels=["bug"], assignee="ana")
    issues.create_issue("Crash", labels=["bug"])
    issues.update_issue(1, body="In the README")
    issues.close_issue(3)
    assert [issue.issue_id for issue in issues.list_issues(sort_by="priority")] == [2, 1]
    assert [issue.issue_id for issue in issues.list_issues("all", sort_by="updated")] == [3, 1, 2]
    bugs = issues.list_issues("all", IssueFilter(label="Bug"))
    assert [issue.title for issue in bugs] == ["Crash", "Leak"]
    assert [issue.title for issue in issues.list_issues(only=IssueFilter(assignee="ana"))] == [
        "Leak"
    ]
    assert issues.list_issues(limit=-(10**30)) == []


def test_a_search_looks_into_comments_and_takes_no_wildcards(issues: Issues) -> None:
    issues.create_issue("Größe wrong", "100% CPU")
    issues.create_issue("Other")
    issues.comment_on_issue(2, "Also the GRÖSSE?", "bo")
    issues.comment_on_issue(2, "See größe")
    assert [issue.issue_id for issue in issues.search_issues("GRÖßE")] == [2, 1]
    assert [issue.issue_id for issue in issues.search_issues("größe 100%")] == [1]
    assert issues.search_issues("_") == []
    assert issues.show_issue(2).comments == ["bo: Also the GRÖSSE?", "assistant: See größe"]


def test_an_issue_is_closed_and_reopened_once(issues: Issues) -> None:
    issues.create_issue("Question")
    closed = issues.close_issue(1, "not planned")
    assert (closed.state, closed.closed_as) == ("closed", "not planned")
    with pytest.raises(ValueError, match="Open it with reopen_issue"):
        issues.close_issue(1)
    assert issues.reopen_issue(1).closed_as is None
    with pytest.raises(ValueError, match="is open already"):
        issues.reopen_issue(1)


def test_labels_assignee_and_title_are_changed(issues: Issues) -> None:
    issues.create_issue("Draft", labels=["new"])
    assert issues.label_issue(1, ["ready"], take_off=["New"]).labels == ["ready"]
    assert issues.assign_issue(1, "ana").assignee == "ana"
    assert issues.assign_issue(1, None).assignee is None
    assert issues.update_issue(1, title="Final").title == "Final"
    with pytest.raises(ValueError, match="Nothing to change"):
        issues.update_issue(1, title=" ", body="text")


def test_milestones_count_their_issues(issues: Issues) -> None:
    issues.create_milestone("later")
    issues.create_milestone("1.0", date(2026, 3, 31))
    for title in ("One", "Two"):
        number = issues.create_issue(title).issue_id
        issues.plan_issue(number, "1.0")
    issues.close_issue(2)
    first, second = issues.list_milestones()
    assert (first.title, first.due) == ("1.0", "2026-03-31")
    assert (first.open_issues, first.closed_issues, second.open_issues) == (1, 1, 0)
    with pytest.raises(ValueError, match=r"No milestone is '2\.0'"):
        issues.plan_issue(1, "2.0")
    with pytest.raises(ValueError, match=r"'1\.0' already"):
        issues.create_milestone("1.0")


def test_issues_are_counted_once_in_each_group(issues: Issues) -> None:
    issues.create_issue("One", labels=["bug", "ui"])
    issues.create_issue("Two", labels=["bug"], assignee="ana")
    assert issues.count_issues() == {"open": 2}
    assert issues.count_issues("label") == {"bug": 2, "ui": 1}
    assert issues.count_issues("assignee") == {"ana": 1, "none": 1}


@pytest.mark.parametrize("number", [2, -1, 10**30])
def test_an_unknown_number_names_the_tool_that_lists_the_known_ones(
    issues: Issues, number: int
) -> None:
    issues.create_issue("Only")
    with pytest.raises(ValueError, match=rf"There is no issue {number}\. List them"):
        issues.delete_issue(number)


def test_a_tracker_in_a_file_outlives_its_process(tmp_path: Path) -> None:
    first = Issues(tmp_path / "issues.db")
    first.create_issue("Kept")
    first.create_issue("Gone")
    assert first.delete_issue(2) == "Deleted issue 2: Gone."
    first.dispose()
    second = Issues(tmp_path / "issues.db")
    assert [issue.title for issue in second.list_issues()] == ["Kept"]
    assert second.create_issue("Next").issue_id == 3
    second.dispose()


def test_many_threads_share_one_tracker(issues: Issues) -> None:
    issues.create_issue("Busy")
    with ThreadPoolExecutor(8) as threads:
        for number in range(50):
            threads.submit(issues.comment_on_issue, 1, f"{number}")
    assert len(issues.show_issue(1).comments) == 50


def test_every_tool_says_what_it_does_and_the_lifetime_is_no_tool(issues: Issues) -> None:
    tools = toolset(issues).tools()
    assert len(tools) == 15
    assert all(tool.description for tool in tools)
    assert "dispose" not in {tool.name for tool in tools}
