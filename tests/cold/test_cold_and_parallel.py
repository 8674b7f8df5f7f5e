"""The first thing that a fresh process is asked are sixteen requests at once, with an empty cache.

Fifty processes in all. Every reply, and every byte in the cache, is that of a process that was
asked one request after the other.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest

from tests.cold.processes import (
    Replies,
    ask_agent,
    ask_library,
    ask_over_http,
    ask_over_stdio,
    stored,
)
from tests.cold.requests import REQUESTS
from tests.requirements import requirement


class Ask(Protocol):
    """Starts a fresh process in a folder, beside its cache, and asks it everything."""

    def __call__(self, folder: Path, *, together: bool) -> Replies: ...


_AT_ONCE = 4
"""Processes that run at the same time."""


@requirement("SEARCH-8")
@pytest.mark.parametrize(
    ("ask", "processes", "sharing"),
    [
        (ask_library, 16, 1),
        (ask_library, 16, 4),
        (ask_over_stdio, 8, 2),
        (ask_over_http, 5, 1),
        (ask_agent, 5, 1),
    ],
)
def test_fresh_processes_answer_parallel_requests_like_sequential_ones(
    ask: Ask, processes: int, sharing: int, tmp_path: Path
) -> None:
    """`sharing` processes at a time begin with one empty cache folder."""
    expected = ask(tmp_path / "alone" / "process", together=False)
    on_disk = stored(tmp_path / "alone" / "cache")
    assert len(expected) == len(REQUESTS)
    assert set(on_disk) == {"vectors.sqlite3", "words.sqlite3"}
    groups = [tmp_path / f"group{number // sharing}" for number in range(processes)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        asked = [
            threads.submit(ask, group / f"process{number}", together=True)
            for number, group in enumerate(groups)
        ]
        for replies in asked:
            assert replies.result() == expected
    for group in set(groups):
        assert stored(group / "cache") == on_disk
