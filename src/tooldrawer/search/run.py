"""Run a search from an event loop, and report its failures to the model."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

import anyio.to_thread

from tooldrawer.catalog import Catalog
from tooldrawer.errors import ToolDrawerError, ToolFailed
from tooldrawer.search.engine import SearchEngine
from tooldrawer.search.index import Hit

_log = logging.getLogger("tooldrawer.search")


async def run_search(engine: SearchEngine, catalog: Catalog, query: str, limit: int) -> list[Hit]:
    """Search at once when the index is ready, otherwise in a thread.

    A cancelled search returns immediately; what its thread still builds serves the next one.
    """
    search = partial(engine.search, catalog, query, limit)
    if engine.is_ready(catalog):
        return search()
    return await anyio.to_thread.run_sync(search, abandon_on_cancel=True)


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
