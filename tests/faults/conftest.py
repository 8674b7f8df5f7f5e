import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from tests.faults.place import Place


@pytest.fixture
def anyio_backend() -> str:
    """The gateway is a process of its own, so it does not matter what runs here."""
    return "asyncio"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place with one healthy server. A test that failed leaves no processes either."""
    place = Place(tmp_path, uuid4().hex)
    place.plain("well")
    yield place
    for line in place.left():
        with suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), signal.SIGKILL)
