"""Run a search from an event loop, and report its failures to the model."""

import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

import anyio
import anyio.from_thread
from anyio.lowlevel import RunVar, current_token

from tooldrawer.catalog import Catalog
from tooldrawer.errors import ToolDrawerError, ToolFailed
from tooldrawer.search.daemon_threads import release_exit, start_daemon_thread
from tooldrawer.search.engine import SearchEngine
from tooldrawer.search.index import Hit

Value = TypeVar("Value")

_MAX_THREADS = 40
_threads: RunVar[anyio.CapacityLimiter] = RunVar("tooldrawer_search_threads")
_log = logging.getLogger("tooldrawer.search")


async def run_search(engine: SearchEngine, catalog: Catalog, query: str, limit: int) -> list[Hit]:
    """Search at once when the index is ready, otherwise in a thread.

    A cancelled search returns immediately; what its thread still builds serves the next one.
    """
    search = partial(engine.search, catalog, query, limit)
    if engine.is_ready(catalog):
        return search()
    return await _run_in_daemon_thread(search)


async def _run_in_daemon_thread(work: Callable[[], Value]) -> Value:
    """Run `work` in a thread that a cancelled caller does not wait for.

    The end of the process waits for its next pause only; for anyio's threads it waits to the end.
    """
    done, token = anyio.Event(), current_token()
    result = Future[Value]()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001  it is raised again where the search waits
            result.set_exception(error)
        with suppress(anyio.RunFinishedError), release_exit():
            anyio.from_thread.run_sync(done.set, token=token)

    async with _limiter():
        start_daemon_thread(run, name="tooldrawer-search")
        await done.wait()
    return result.result()


def _limiter() -> anyio.CapacityLimiter:
    try:
        return _threads.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_MAX_THREADS)
        _threads.set(limiter)
        return limiter


@contextmanager
def search_failures_as_text() -> "Generator[None]":
    """Turn any failure inside a search into one that the model reads; the log has the traceback.

    Raises:
        ToolFailed: The search failed for a reason that is not the model's fault.
    """
    try:
        yield
    except ToolDrawerError:
        raise
    except Exception as error:
        _log.exception("A search failed.")
        # Only the kind of error: its message may hold text that is not meant for this session.
        raise ToolFailed(
            f"The search failed ({type(error).__name__}). Search again with other words, or call a "
            "tool whose name you know."
        ) from error
