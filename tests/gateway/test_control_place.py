"""Where a running gateway can be found: a place that is its user's alone, and left clean."""

import json
import logging
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from tooldrawer import ActivityLog, Grants
from tooldrawer.gateway.control import Control
from tooldrawer.gateway.pending import Pending
from tooldrawer.gateway.runtime import Card, running
from tooldrawer.tool import JsonObject

STATUS: JsonObject = {
    "started": 1000.5, "transport": "stdio", "address": "stdio", "config": "tooldrawer.yaml",
}  # fmt: skip


@pytest.fixture
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def control(folder: Path) -> Control:
    return made(folder)


def made(folder: Path | None) -> Control:
    return Control(
        status=lambda: STATUS,
        activity=ActivityLog(),
        pending=Pending(),
        grants=Grants(),
        folder=folder,
    )


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    """Who may do what with it."""
    return stat.S_IMODE(path.stat().st_mode)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def leave_a_socket(folder: Path) -> None:
    """As a process of our own number that died would."""
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(folder / f"{os.getpid()}.sock"))


async def answers(control: Control) -> bool:
    """Whether somebody takes a connection."""
    assert control.path is not None
    async with await anyio.connect_unix(control.path):
        return True


@pytest.mark.anyio
async def test_only_the_user_can_reach_the_socket(control: Control, folder: Path) -> None:
    async with control:
        pid = os.getpid()
        assert names(folder) == [f"{pid}.json", f"{pid}.sock"]
        assert mode(folder) == 0o700
        assert [mode(folder / name) for name in names(folder)] == [0o600, 0o600]


@pytest.mark.anyio
async def test_a_running_gateway_is_found_by_its_card_and_leaves_nothing_behind(
    control: Control, folder: Path
) -> None:
    assert running(folder) == []
    async with control:
        assert running(folder) == [
            Card(
                pid=os.getpid(),
                started=1000.5,
                transport="stdio",
                address="stdio",
                config="tooldrawer.yaml",
                socket=str(control.path),
            )
        ]
    assert control.path is None
    assert names(folder) == []


@pytest.mark.anyio
async def test_the_card_is_plain_json(control: Control, folder: Path) -> None:
    async with control:
        card = json.loads(text_of(folder / f"{os.getpid()}.json"))
    assert card == {**STATUS, "pid": os.getpid(), "socket": str(folder / f"{os.getpid()}.sock")}


@pytest.mark.anyio
async def test_a_control_that_is_cancelled_leaves_nothing_behind(
    control: Control, folder: Path
) -> None:
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await tasks.start(control.serve)
            assert len(running(folder)) == 1
            tasks.cancel_scope.cancel()
    assert names(folder) == []


@pytest.mark.anyio
async def test_a_gateway_that_is_cancelled_inside_leaves_nothing_behind(
    control: Control, folder: Path
) -> None:
    with anyio.move_on_after(0) as scope:
        async with control:
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert running(folder) == []


@pytest.mark.anyio
async def test_an_error_inside_comes_out_as_it_is_and_leaves_nothing_behind(
    control: Control, folder: Path
) -> None:
    with pytest.raises(LookupError, match="out of milk"):
        async with control:
            raise LookupError("out of milk")
    assert names(folder) == []


DYING = """
import sys
from pathlib import Path
from tooldrawer.gateway.runtime import Place
listener = Place(Path(sys.argv[1])).occupy({"started": 1.0})
print("listening", flush=True)
sys.stdin.read()
"""


@contextmanager
def dying(folder: Path) -> "Generator[subprocess.Popen[bytes]]":
    """A gateway in a process of its own, killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", DYING, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield process
        process.kill()


@pytest.mark.parametrize("name", ["run", "long" * 30], ids=["short", "long"])
def test_what_a_killed_gateway_left_is_removed_by_whoever_looks(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    with dying(folder) as process:
        (card,) = running(folder)
        assert card.pid == process.pid
    socket = Path(card.socket)
    assert socket.exists()
    assert running(folder) == []
    assert names(folder) == []
    assert not socket.exists()
    assert socket.parent == folder or not socket.parent.exists()


@pytest.mark.anyio
async def test_the_socket_that_a_dead_process_of_the_same_number_left_is_replaced(
    control: Control, folder: Path
) -> None:
    leave_a_socket(folder)
    async with control:
        assert await answers(control)


@pytest.mark.anyio
async def test_a_card_that_nobody_can_read_is_passed_over(control: Control, folder: Path) -> None:
    async with control:
        for name, text in {"a": "", "b": "[]", "c": '{"pid": 3}', "d": "\x00"}.items():
            write(folder / f"{name}.json", text)
        assert [card.pid for card in running(folder)] == [os.getpid()]


@pytest.mark.anyio
async def test_a_path_too_long_for_a_socket_gets_a_short_one_and_is_found(tmp_path: Path) -> None:
    deep = tmp_path / ("long" * 30)
    control = made(deep)
    async with control:
        assert control.path is not None
        short = control.path
        assert short.parent != deep
        assert mode(short.parent) == 0o700
        assert await answers(control)
        assert [card.socket for card in running(deep)] == [str(short)]
    assert short.parent.name not in names(short.parent.parent)
    assert names(deep) == []


def others_can_write(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def it_is_a_link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


def it_is_a_file(folder: Path) -> None:
    folder.write_text("in the way", encoding="utf-8")


def it_is_somebody_elses(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    folder.mkdir()
    os.chown(folder, 12345, -1)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "spoil", [others_can_write, it_is_a_link, it_is_a_file, it_is_somebody_elses]
)
async def test_without_a_safe_folder_the_gateway_goes_on_and_the_log_says_why(
    control: Control,
    folder: Path,
    spoil: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    spoil(folder)
    with caplog.at_level(logging.WARNING):
        async with control:
            assert control.path is None
    (record,) = caplog.records
    assert record.getMessage().startswith("This gateway cannot be watched or steered")
    assert str(folder) in record.getMessage()


@pytest.mark.parametrize("spoil", [others_can_write, it_is_a_link, it_is_somebody_elses])
def test_nobody_is_found_in_a_folder_that_others_could_have_filled(
    tmp_path: Path, folder: Path, spoil: Callable[[Path], None]
) -> None:
    with dying(tmp_path / "real"):
        (card,) = (tmp_path / "real").glob("*.json")
        spoil(folder)
        (folder / card.name).write_bytes(card.read_bytes())
        assert running(folder) == []
        assert len(running(tmp_path / "real")) == 1


@pytest.mark.anyio
async def test_a_second_gateway_in_one_process_goes_on_without_a_socket(
    control: Control, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    second = made(folder)
    async with control:
        async with second:
            assert second.path is None
        assert await answers(control)
        assert len(running(folder)) == 1
    assert "another gateway of this process" in caplog.text


@pytest.mark.anyio
async def test_the_folder_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLDRAWER_RUNTIME_DIR", str(tmp_path / "mine"))
    async with made(None) as control:
        assert control.path == tmp_path / "mine" / f"{os.getpid()}.sock"
        assert [card.pid for card in running()] == [os.getpid()]
