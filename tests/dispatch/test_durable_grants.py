"""A grant is on the disk before anyone can read it, and its name before it is acknowledged.

Observed with strace, because a file that was not synced differs only after a loss of power.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.python import CHECKOUT
from tests.packaging.test_no_telemetry import observation_is_possible

_SYSCALLS = "trace=write,fsync,fdatasync,rename,renameat,renameat2"
_TIMEOUT_S = 300
_GRANT = """
import sys
from pathlib import Path
from tooldrawer import Grants, Tool

Grants(Path(sys.argv[1])).add(Tool(name="delete_note", parameters={"type": "object"}))
print("granted", flush=True)
"""
_STEP = re.compile(r"\b(?P<call>write|fsync|fdatasync|rename\w*)\((?P<arguments>.*)\) += \d+$")


def steps_of(trace: Path, folder: Path) -> list[str]:
    """What happened to the files in a folder, in order, and when the program acknowledged it."""
    steps: list[str] = []
    for line in trace.read_text("utf-8", "replace").splitlines():
        found = _STEP.search(line)
        if found is None:
            continue
        call, arguments = found["call"], found["arguments"]
        if 'granted\\n"' in arguments:
            steps.append("acknowledge")
        elif f"<{folder}>" in arguments:
            steps.append(f"{call} folder")
        elif f"{folder}/.grants-" in arguments:
            steps.append(f"{call} draft")
    return steps


@pytest.mark.skipif(not observation_is_possible(), reason="strace is missing or not permitted")
def test_a_grant_is_synced_before_it_is_published_and_its_folder_after(tmp_path: Path) -> None:
    folder, trace = tmp_path.resolve() / "data", tmp_path / "trace"
    file = folder / "grants.json"
    observer = ["strace", "-f", "-qq", "-y", "-e", _SYSCALLS, "-o", str(trace)]
    subprocess.run(
        [*observer, sys.executable, "-c", _GRANT, str(file)],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT)},
        check=True,
        stdout=subprocess.PIPE,
        timeout=_TIMEOUT_S,
    )
    assert b"delete_note" in file.read_bytes()
    assert steps_of(trace, folder) == [
        "write draft",
        "fsync draft",
        "rename draft",
        "fsync folder",
        "acknowledge",
    ]
