"""A process that ends while threads search or make vectors ends cleanly."""

import subprocess
import sys
from threading import Event

import pytest

from tests.packaging.python import CHECKOUT
from tests.requirements import requirement
from tooldrawer.search.daemon_threads import DaemonThreads

COMMON = """
from collections.abc import Sequence
from threading import Event

import anyio
import anyio.to_thread
import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from tests.search.embedders import Bag
from tests.search.town import TOWN
from tooldrawer import Catalog, SearchEngine
from tooldrawer.search.run import run_search

WORDS = [f"word{number}" for number in range(2_000)]
is_inside = Event()


def stay_in_cpp_code() -> None:
    # Some tenths of a second without Python's lock: when the process ends meanwhile, Python ends
    # the thread as soon as it needs the lock again, inside C++ code.
    is_inside.set()
    process.cdist(WORDS, WORDS, scorer=OSA.distance)
"""
VECTORS = f"""{COMMON}

class Slow(Bag):
    batch = 1

    def tools(self, texts):
        stay_in_cpp_code()
        return super().tools(texts)


SearchEngine(embedder=Slow, cache=None, patience=0).search(Catalog(TOWN), "send a letter")
is_inside.wait()
"""
SEARCH = f"""{COMMON}

class Slow(Bag):
    def queries(self, texts):
        stay_in_cpp_code()
        return super().queries(texts)


async def main():
    engine = SearchEngine(embedder=Slow, cache=None, patience=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_search, engine, Catalog(TOWN), "send a letter", 5)
        await anyio.to_thread.run_sync(is_inside.wait)
        tasks.cancel_scope.cancel()


anyio.run(main)
"""


@requirement("SEARCH-8")
@pytest.mark.parametrize("script", [VECTORS, SEARCH], ids=["vectors", "cancelled search"])
def test_a_process_that_ends_while_a_thread_works_exits_with_zero(script: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_exit_stops_a_thread_between_two_pieces_of_work_and_waits_until_it_has() -> None:
    threads = DaemonThreads(max_exit_wait_s=600)
    is_inside, is_over = Event(), Event()

    def work() -> None:
        try:
            while True:
                is_inside.set()
                threads.check_exit()
        finally:
            is_over.set()

    threads.start(work, name="working")
    is_inside.wait()
    threads.close()
    assert is_over.is_set()


def test_the_exit_does_not_wait_for_a_thread_that_waits_for_the_network() -> None:
    threads = DaemonThreads(max_exit_wait_s=600)
    is_inside, is_over, answer, went_on = Event(), Event(), Event(), Event()

    def work() -> None:
        try:
            with threads.release_exit():
                is_inside.set()
                answer.wait()
            went_on.set()
        finally:
            is_over.set()

    threads.start(work, name="waiting")
    is_inside.wait()
    threads.close()
    answer.set()
    is_over.wait()
    assert not went_on.is_set()


def test_no_thread_starts_while_the_process_ends() -> None:
    threads = DaemonThreads()
    threads.close()
    with pytest.raises(RuntimeError, match="ending"):
        threads.start(lambda: None, name="late")
