"""One file, many writers: no change is lost, none is half written, and no damage is hidden."""

import json
import logging
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from tooldrawer.errors import ConfigError
from tooldrawer.json_store import JsonStore, StoreFormat
from tooldrawer.private_files import open_private, replace_private

WRITE = """
import json, sys
from pathlib import Path
from tooldrawer.json_store import JsonStore, StoreFormat

store = JsonStore(Path(sys.argv[1]), StoreFormat(
    parse=json.loads, serialize=lambda value: value, empty=[], damage="{path}: {reason}"))
number = 0
while number < int(sys.argv[3]):
    with store.locked() as value:
        store.write([*value, f"{sys.argv[2]} {number}"])
    print(number, flush=True)
    number += 1
"""


def parse(content: bytes) -> list[str]:
    found = cast("object", json.loads(content))
    if not isinstance(found, list):
        raise ValueError("expected a list")  # noqa: TRY004  what a damaged file raises
    return [str(each) for each in cast("list[object]", found)]


def store_in(path: Path) -> JsonStore[list[str]]:
    return JsonStore(
        path,
        StoreFormat(
            parse=parse, serialize=lambda value: [*value], empty=[], damage="{path} broke."
        ),
    )


def writer(path: Path, name: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITE, str(path), name, str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data" / "list.json"
    writers = [writer(path, name, 25) for name in ("a", "b", "c", "d")]
    for each in writers:
        each.communicate(timeout=120)
    assert [each.returncode for each in writers] == [0] * 4
    assert sorted(store_in(path).value) == sorted(
        f"{name} {number}" for name in ("a", "b", "c", "d") for number in range(25)
    )
    assert sorted(each.name for each in path.parent.iterdir()) == ["list.json", "list.json.lock"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_what_was_acknowledged_survives_a_kill_and_the_lock_does_not(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    for name in ("a", "b", "c"):
        process = writer(path, name, 1_000_000)
        assert process.stdout is not None
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate(timeout=60)
        written = 5 + rest.count("\n")
        found = store_in(path).read()
        assert {f"{name} {number}" for number in range(written)} <= set(found)
    with store_in(path).locked() as value:
        assert len(value) >= 15


def test_the_file_and_its_folder_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "list.json"
    store = store_in(path)
    with store.locked():
        store.write(["one"])
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == {"list.json": 0o600, "list.json.lock": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_everyone_could_read_becomes_private(tmp_path: Path) -> None:
    for mode, expected in ((0o644, 0o600), (0o666, 0o600), (0o640, 0o640), (0o400, 0o400)):
        path = tmp_path / f"{mode:o}"
        path.touch()
        path.chmod(mode)
        os.close(open_private(path, os.O_RDONLY))
        assert stat.S_IMODE(path.stat().st_mode) == expected
    old = tmp_path / "644"
    old.chmod(0o644)
    replace_private(old, b"new")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_reported_once_and_never_overwritten(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(content)
    store = store_in(path)
    with caplog.at_level(logging.WARNING):
        assert [store.value, store.value] == [[], []]
    assert caplog.messages == [f"{path} broke."]
    with pytest.raises(ConfigError, match="broke"), store.locked():
        pytest.fail("the block was entered")
    assert path.read_bytes() == content


def test_a_change_of_another_process_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    store = store_in(path)
    assert store.value == []
    assert not store.exists
    writer(path, "a", 1).communicate(timeout=60)
    assert store.value == ["a 0"]
    path.unlink()
    assert store.value == []
