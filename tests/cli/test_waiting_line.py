"""What `connect` shows while servers start: one line."""

import fcntl
import os
import struct
import termios
from pathlib import Path

import pytest

from tooldrawer.cli.waiting_line import WaitingLine


def wait_for_two() -> None:
    with WaitingLine() as line:
        line.update(["clock", "moon"])
        line.update(["moon"])


def test_in_a_pipe_it_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    wait_for_two()
    assert capsys.readouterr().out == "Waiting for clock, moon.\n"


def test_nothing_is_printed_when_nothing_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    with WaitingLine():
        pass
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("columns", "first"), [(80, "Waiting for clock, moon."), (20, "Waiting for clock,…")]
)
def test_on_a_terminal_it_is_one_line_that_changes(
    monkeypatch: pytest.MonkeyPatch, columns: int, first: str
) -> None:
    watcher, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    monkeypatch.setenv("TERM", "xterm")
    try:
        with Path(os.ttyname(terminal)).open("w", encoding="utf-8") as stream:
            monkeypatch.setattr("sys.stdout", stream)
            wait_for_two()
            shown = os.read(watcher, 4096).decode()
    finally:
        os.close(terminal)
        os.close(watcher)
    clear = "\r\x1b[2K"
    assert shown == f"{clear}{first}{clear}Waiting for moon.{clear}"


def test_a_terminal_that_cannot_clear_a_line_gets_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watcher, terminal = os.openpty()
    monkeypatch.setenv("TERM", "dumb")
    try:
        with Path(os.ttyname(terminal)).open("w", encoding="utf-8") as stream:
            monkeypatch.setattr("sys.stdout", stream)
            wait_for_two()
            shown = os.read(watcher, 4096).decode()
    finally:
        os.close(terminal)
        os.close(watcher)
    assert shown == "Waiting for clock, moon.\r\n"
