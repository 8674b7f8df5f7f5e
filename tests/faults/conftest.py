from pathlib import Path
from uuid import uuid4

import pytest

from tests.faults.place import Place


@pytest.fixture
def anyio_backend() -> str:
    """The gateway is a process of its own, so it does not matter what runs here."""
    return "asyncio"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place with one healthy server."""
    place = Place(tmp_path, uuid4().hex)
    place.plain("well")
    return place
