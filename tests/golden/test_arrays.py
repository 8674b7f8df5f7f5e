"""The same settings and tools give the same bytes: today, tomorrow, and in every process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from tests.golden.catalogs import NAMES, SHAPES, Name, Shape, assembly, file, written
from tests.requirements import requirement
from tooldrawer.tool import Json

ROOT = Path(__file__).parents[2]
PRINT_ALL = """
import sys
from tests.golden.catalogs import NAMES, SHAPES, written
for name in NAMES:
    for shape in SHAPES:
        sys.stdout.buffer.write(written(name, shape) + b"\\n")
"""


@requirement("CACHE-1")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_an_array_has_the_bytes_that_were_written_down(name: Name, shape: Shape) -> None:
    assert written(name, shape) == file(name, shape).read_bytes(), (
        "If the bytes were meant to change: python -m tests.golden.write"
    )


def test_the_three_catalogs_show_what_they_are_for() -> None:
    small, mixed, large = (assembly(name) for name in NAMES)
    assert not small.active
    assert mixed.active
    assert set(mixed.why_direct) == {"core", "pinned"}
    assert large.active
    assert large.direct == ()
    assert "more." in large.listing
    assert "more." not in mixed.listing


@requirement("BR-2")
@pytest.mark.parametrize("shape", SHAPES)
def test_the_bridges_of_two_catalogs_differ_in_the_listing_only(shape: Shape) -> None:
    bridges: list[str] = []
    for name in ("mixed", "large"):
        found = assembly(name)
        rows = cast("list[Json]", json.loads(file(name, shape).read_bytes())[-3:])
        text = json.dumps(rows, ensure_ascii=False)
        assert found.listing in text
        bridges.append(text.replace(found.listing, ""))
    assert bridges[0] == bridges[1]


@requirement("CACHE-1")
def test_processes_with_other_hashes_give_the_same_bytes() -> None:
    outputs = [_printed(hash_seed) for hash_seed in ("0", "1")]
    assert outputs[0] == outputs[1]
    here = b"".join(written(name, shape) + b"\n" for name in NAMES for shape in SHAPES)
    assert outputs[0] == here


def _printed(hash_seed: str) -> bytes:
    """What another process makes of the same catalogs."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    ended = subprocess.run(
        [sys.executable, "-c", PRINT_ALL],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return ended.stdout
