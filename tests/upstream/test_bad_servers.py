"""Servers that do everything wrong. Nothing of it leaves the supervisor."""

import logging
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.upstream.fakes import alive, eventually, no_pause, pids, plain, running
from tooldrawer.activity import UpstreamDown, UpstreamUp
from tooldrawer.errors import ToolFailed
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = pytest.mark.anyio


async def test_a_server_that_exits_at_once_says_how_and_what_it_wrote() -> None:
    async with running(plain("--exit", "3")) as server:
        error = server.upstream.status.error
        assert error.startswith("The server 'plain' cannot be reached: ")
        assert "ended with exit code 3" in error
        assert "there is no licence" in error
        assert [event.error for event in server.happened(UpstreamDown)] == [error]
        assert server.upstream.status.state == "connecting"


async def test_a_server_that_exits_in_the_handshake_says_so() -> None:
    async with running(plain("--exit-in-handshake")) as server:
        assert "exit code 3; it last wrote: cannot read my key" in server.upstream.status.error


async def test_a_mute_server_is_given_up_and_stopped(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    spec = plain("--mute", "--starts", str(file), start_timeout=0.5)
    async with running(spec) as server:
        assert server.upstream.status.error == (
            "The server 'plain' cannot be reached: it did not list its tools within 0.5 s."
        )
        assert server.upstream.status.starts == 1
        assert not any(map(alive, pids(file)))


async def test_ten_thousand_lines_of_noise_are_read_over(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    async with running(plain("--noise", "10000")) as server:
        assert server.upstream.status.state == "up"
        assert (await server.call("echo", {"a": 1})).structured == {"a": 1}
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


async def test_noise_is_quoted_when_the_server_does_not_work() -> None:
    async with running(plain("--noise", "3", "--exit", "1")) as server:
        error = server.upstream.status.error
        assert "3 lines on its stdout are no messages; the first is 'loading 0 {'" in error


async def test_a_list_that_is_no_list_is_an_error() -> None:
    async with running(plain("--strange-list")) as server:
        assert "no list of tools" in server.upstream.status.error
        assert not server.upstream.is_known


async def test_a_strange_handshake_is_good_enough() -> None:
    async with running(plain("--strange-handshake")) as server:
        assert server.upstream.status.state == "up"
        assert server.upstream.capabilities == {"tools": True}
        assert server.upstream.instructions == ""


async def test_a_server_that_dies_of_the_question_for_its_version_is_greeted_otherwise() -> None:
    async with running(plain("--dies-of-discover")) as server:
        assert server.upstream.status.state == "up"
        assert server.upstream.protocol == "2025-11-25"
        assert server.upstream.status.starts == 2
        assert server.happened(UpstreamDown) == []


async def test_a_server_that_dies_of_that_question_comes_back_after_an_outage(
    tmp_path: Path,
) -> None:
    dies, is_well = plain("--dies-of-discover"), tmp_path / "is_well"
    command = f'test -e "{is_well}" || exit 3; exec "$0" "$@"'
    spec = replace(dies, command="sh", args=("-c", command, dies.command, *dies.args))
    async with running(spec, pace=Pace(first=0.01, most=0.01)) as server:
        for outage in range(2):
            starts = server.upstream.status.starts
            await eventually(lambda s=starts: server.upstream.status.starts > s + 3)
            is_well.touch()
            await server.until(lambda: server.upstream.status.state == "up")
            assert (await server.call("echo")).is_error is False
            if not outage:
                is_well.unlink()
                with pytest.raises(ToolFailed):
                    await server.call("die")


async def test_a_server_that_is_deaf_to_that_question_is_greeted_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tooldrawer.upstream.negotiation._PATIENCE", 0.2)
    async with running(plain("--deaf-to-discover")) as server:
        assert server.upstream.status.state == "up"
        assert server.upstream.status.starts == 1


async def test_a_command_that_is_not_there_is_named() -> None:
    spec = UpstreamSpec(name="notes", command="no-such-command-anywhere")
    async with running(spec) as server:
        assert server.upstream.status.state == "down"
        assert server.upstream.status.error == (
            "The server 'notes' cannot be started: its command 'no-such-command-anywhere' was not "
            "found. Install it, or correct the command or the PATH."
        )


async def test_a_command_that_may_not_be_run_is_named(tmp_path: Path) -> None:
    file = tmp_path / "server"
    file.write_text("#!/bin/sh\n", encoding="utf-8")
    async with running(UpstreamSpec(name="notes", command=str(file))) as server:
        assert "may not be run. Make it executable" in server.upstream.status.error
    file.write_bytes(b"\x00\x01")
    file.chmod(0o755)
    async with running(UpstreamSpec(name="notes", command=str(file))) as server:
        assert "cannot be run: Exec format error." in server.upstream.status.error
    async with running(UpstreamSpec(name="notes", command="a\0b")) as server:
        assert "cannot be run: embedded null byte." in server.upstream.status.error


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with running(plain(cwd=str(tmp_path / "nowhere"))) as server:
        assert server.upstream.status.error == (
            f"The server 'plain' cannot be started: its folder {str(tmp_path / 'nowhere')!r} does "
            "not exist. Correct its cwd."
        )


async def test_five_failures_in_a_row_make_calls_fail_at_once() -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await no_pause(seconds) if len(pauses) < 5 else await anyio.sleep_forever()

    pace = Pace(sleep=pause, random=lambda: 1.0, clock=lambda: 0.0)
    async with running(plain("--exit", "3"), pace=pace) as server:
        await eventually(lambda: len(pauses) == 5)
        assert server.upstream.status.state == "down"
        with pytest.raises(ToolFailed) as caught:
            await server.upstream.request("tools/list", {})
        assert "'plain' is down, so the call was not made." in str(caught.value)
        assert "ended with exit code 3" in str(caught.value)
        assert "It is tried again" in str(caught.value)
        assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]
        # The same complaint five times is one piece of news, though process ids differ.
        assert len(server.happened(UpstreamDown)) == 1


async def test_a_call_shortens_a_long_pause(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    target = plain().args[2]

    async def pause(seconds: float) -> None:
        await anyio.sleep_forever() if seconds > 5 else await no_pause(seconds)

    spec = UpstreamSpec(name="late", command=sys.executable, args=(str(script),))
    async with running(spec, pace=Pace(sleep=pause, random=lambda: 1.0)) as server:
        await server.until(lambda: server.upstream.status.state == "down")
        script.write_text(
            f"import runpy; runpy.run_path({target!r}, run_name='__main__')", encoding="utf-8"
        )
        with pytest.raises(ToolFailed, match="tried again right now"):
            await server.upstream.request("tools/list", {})
        await server.until(lambda: server.upstream.status.state == "up")
        (up,) = server.happened(UpstreamUp)
        assert up.note == "after 5 failed attempts"


async def test_a_call_waits_for_a_server_that_is_starting() -> None:
    async with running(plain("--exit", "3", timeout=0.2), pace=Pace(first=60.0)) as server:
        with pytest.raises(ToolFailed, match=r"was not ready within 0\.2 s, so the call was not"):
            await server.upstream.request("tools/list", {})


async def test_a_server_that_is_killed_is_seen_and_started_again(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    async with running(plain("--starts", str(file))) as server:
        os.kill(pids(file)[0], signal.SIGKILL)
        await server.until(lambda: len(server.happened(UpstreamUp)) == 2)
        (down,) = server.happened(UpstreamDown)
        assert down.error.startswith("The server 'plain' stopped: it closed the connection; it was")
        assert "SIGKILL" in down.error
        assert server.upstream.status.error == ""
