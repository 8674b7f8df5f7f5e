"""A file that may be half-written changes nothing until it is known to be complete."""

import os
import sys
from itertools import count
from pathlib import Path

import pytest

from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset, Grants
from tooldrawer.activity import ConfigReloaded

pytestmark = [pytest.mark.anyio, requirement("CFG-2")]

WHOLE = """\
mcp_servers:
  clock:
    command: clockd
  tide:
    command: tided
approvals:
  deny: [delete_note]
  ask: [add_note]
"""
WITHOUT_RULES = WHOLE[: WHOLE.index("approvals:")]
LIST = """\
{"mcpServers": {"moon": {"command": "moond"}}}
// {"mcpServers": {}}
"""
_FUTURE_NS = count(1_900_000_000_000_000_000, 1_000_000_000)
_WAIT_S = 5.0


class Clock:
    """Shows what a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tooldrawer.yaml"


@pytest.fixture
def drawer(path: Path, desk: FunctionToolset, grants: Grants, clock: Clock) -> Drawer:
    write(path, WHOLE)
    return Drawer.from_config(path, toolsets=[desk], grants=grants, clock=clock, trust="all")


def write(path: Path, text: str, *, written: float | None = None) -> None:
    """Write a file with a date; without one, in the future and later than the one before."""
    path.write_text(text, encoding="utf-8")
    stamp = next(_FUTURE_NS) if written is None else int(written * 1e9)
    os.utime(path, ns=(stamp, stamp))


def reports(drawer: Drawer) -> list[str]:
    return [event.error for event in drawer.activity if isinstance(event, ConfigReloaded)]


def line_ends() -> list[int]:
    """Where the file can be cut behind its first server, so that the rest is valid."""
    start = WHOLE.index("  tide:")
    return [at for at in range(start, len(WHOLE)) if WHOLE[at - 1] == "\n"]


@pytest.mark.parametrize("at", line_ends())
async def test_a_file_cut_off_at_the_end_of_a_line_is_reported_and_changes_nothing(
    drawer: Drawer, path: Path, at: int, ran: list[str]
) -> None:
    before = drawer.config
    write(path, WHOLE[:at])
    refused = await drawer.session().call("delete_note", {"title": "a"})
    assert refused.is_error
    assert ran == []
    assert drawer.config is before
    (error,) = reports(drawer)
    assert error.startswith(f"The settings from before stay in force: {path}: has lost its end")
    assert drawer.mistake == error


async def test_a_file_whose_end_was_deleted_is_applied_when_it_stayed_so_for_some_seconds(
    drawer: Drawer, path: Path, clock: Clock
) -> None:
    write(path, WITHOUT_RULES)
    await drawer.refresh()
    clock.now += _WAIT_S - 0.1
    await drawer.refresh()
    assert (await drawer.session().call("delete_note", {"title": "a"})).is_error
    assert len(reports(drawer)) == 1
    clock.now += 0.1
    result = await drawer.session().call("delete_note", {"title": "a"})
    assert not result.is_error
    assert drawer.mistake == ""
    assert len(reports(drawer)) == 2


async def test_a_file_that_goes_on_being_written_is_waited_for_again(
    drawer: Drawer, path: Path, clock: Clock
) -> None:
    before = drawer.config
    for at in line_ends():
        write(path, WHOLE[:at])
        await drawer.refresh()
        clock.now += _WAIT_S - 0.1
    assert drawer.config is before
    write(path, WHOLE)
    await drawer.refresh()
    assert drawer.mistake == ""


async def test_a_file_whose_end_was_deleted_long_ago_is_applied_at_once(
    drawer: Drawer, path: Path, clock: Clock
) -> None:
    write(path, WITHOUT_RULES, written=clock.now - _WAIT_S)
    await drawer.refresh()
    assert reports(drawer) == [""]


async def test_a_file_that_lost_only_empty_lines_is_applied_at_once(
    drawer: Drawer, path: Path
) -> None:
    write(path, WHOLE + "\n\n")
    await drawer.refresh()
    write(path, WHOLE)
    await drawer.refresh()
    assert reports(drawer) == ["", ""]


async def test_a_server_list_beside_the_file_that_lost_its_end_is_waited_for(
    drawer: Drawer, path: Path, clock: Clock
) -> None:
    beside = path.with_name(".mcp.json")
    write(beside, LIST)
    await drawer.refresh()
    assert [server.name for server in drawer.config.servers] == ["clock", "tide", "moon"]
    write(beside, LIST[: LIST.index("//")])
    write(path, WITHOUT_RULES)
    await drawer.refresh()
    assert f"{path}: has lost its end" in drawer.mistake
    write(path, WHOLE)
    await drawer.refresh()
    assert f"{beside}: has lost its end" in drawer.mistake
    clock.now += _WAIT_S
    await drawer.refresh()
    assert drawer.mistake == ""


@pytest.mark.parametrize("name", ["tooldrawer.yaml", ".mcp.json"])
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing tells who has a file open")
async def test_a_file_that_is_open_for_writing_is_read_when_it_is_closed(
    drawer: Drawer, path: Path, clock: Clock, name: str, ran: list[str]
) -> None:
    beside = path.with_name(".mcp.json")
    write(beside, LIST)
    await drawer.refresh()
    file = path.with_name(name)
    text = {path: WHOLE.replace("tided", "tidal"), beside: LIST.replace("moond", "lunad")}[file]
    half = text.index("approvals:") if file == path else text.index("//")
    before = drawer.config
    with file.open("w", encoding="utf-8") as writer:
        writer.write(text[:half])
        writer.flush()
        for _ in range(3):
            assert (await drawer.session().call("delete_note", {"title": "a"})).is_error
            clock.now += 100
        assert f"{file}: a program has it open for writing" in drawer.mistake
        assert len(reports(drawer)) == 2
        assert drawer.config is before
        writer.write(text[half:])
    await drawer.refresh()
    assert drawer.mistake == ""
    commands = {server.name: server.command for server in drawer.config.servers}
    assert commands["tide" if file == path else "moon"] in text
    assert drawer.config is not before
    assert ran == []
