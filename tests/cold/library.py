"""A host of the library that makes all requests in one turn, and prints the replies."""

import json
import sys
from pathlib import Path

import anyio

from tests.cold.patience import wait_for_vectors
from tests.cold.requests import REQUESTS
from tests.cold.thread_switches import switch_threads_often
from tooldrawer import Drawer


async def answer_requests(concurrency: int) -> list[str]:
    """Make all requests, so many at a time."""
    session = Drawer.from_config(Path("tooldrawer.yaml")).session()
    results = await session.call_all(REQUESTS, concurrency=concurrency)
    return [result.text for result in results]


if __name__ == "__main__":
    wait_for_vectors()
    switch_threads_often()
    sys.stdout.write(json.dumps(anyio.run(answer_requests, int(sys.argv[1]))))
