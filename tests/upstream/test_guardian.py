"""Servers are ended also when the process that started them is killed without warning."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are waited for as on Linux"),
]

DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
from tooldrawer.upstream.guardian import GUARDIAN
server = subprocess.Popen([sys.executable, "-c", {deaf!r}], start_new_session=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
GUARDIAN.watch(server.pid)
if {released}:
    GUARDIAN.release(server.pid)
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(60)
"""


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


async def _ended(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        with anyio.fail_after(60):
            await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _killed_parent(*, released: bool) -> int:
    """The process that a killed parent left behind."""
    script = PARENT.format(deaf=DEAF, released=released)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    return pid


async def test_a_deaf_server_of_a_killed_process_is_ended() -> None:
    pid = _killed_parent(released=False)
    assert _lives(pid)
    await _ended(pid)


async def test_a_server_that_was_released_is_left_alone() -> None:
    pid = _killed_parent(released=True)
    guarded = _killed_parent(released=False)
    try:
        await _ended(guarded)
        assert _lives(pid)
    finally:
        os.killpg(pid, signal.SIGKILL)
