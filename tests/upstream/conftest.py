import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.upstream.fakes import LONG, SERVERS


@contextmanager
def http_process(folder: Path, *options: str) -> "Generator[tuple[str, subprocess.Popen[bytes]]]":
    port = folder / "port"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.upstream.servers.sdk", "--port", str(port), *options],
        env=dict(os.environ),
        cwd=SERVERS.parents[2],
    )
    try:
        limit = time.monotonic() + LONG
        while not port.exists():
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port.read_text(encoding='utf-8')}/mcp", process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def http_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that speaks both eras, to whoever has the key."""
    with http_process(tmp_path_factory.mktemp("http")) as (url, _):
        yield url


@pytest.fixture(scope="session")
def old_http_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same, without 2026-07-28."""
    with http_process(tmp_path_factory.mktemp("old_http"), "--handshake") as (url, _):
        yield url
