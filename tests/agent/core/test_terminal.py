"""Commands run for real, within their time, and nothing of them is left behind."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.agent.core.disk import eventually, text
from tests.requirements import requirement
from tooldrawer import Session, ToolResult

pytestmark = pytest.mark.anyio


async def run(session: Session, command: str, **more: str | int) -> ToolResult:
    with anyio.fail_after(60):
        return await session.call("terminal", {"command": command, **more})


async def gone(pid: int) -> None:
    """Wait until a process has ended; a dead one that nobody collected has."""
    await eventually(lambda: not is_running(pid))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()
    return stat.rpartition(")")[2].split()[0] != "Z"


async def number(path: Path) -> int:
    """The number in a file, when it is there."""
    await eventually(lambda: path.exists() and text(path).endswith("\n"))
    return int(text(path))


async def test_output_and_errors_come_back_in_order_with_the_exit_code(session: Session) -> None:
    result = await run(session, "echo one; echo two >&2; echo three; exit 3")
    assert result.text == "one\ntwo\nthree\n[exit code 3]"
    assert not result.is_error


async def test_a_command_runs_in_the_working_directory_or_in_a_folder_inside_it(
    session: Session, project: Path
) -> None:
    (project / "inner").mkdir()
    assert (await run(session, "pwd")).text == f"{project}\n[exit code 0]"
    assert (await run(session, "pwd", cwd="inner")).text == f"{project}/inner\n[exit code 0]"


async def test_a_command_finds_its_input_closed_and_no_terminal(session: Session) -> None:
    result = await run(session, "cat; tty; read -r line || echo nothing to read")
    assert result.text == "not a tty\nnothing to read\n[exit code 0]"


async def test_a_command_ended_by_a_signal_says_which(session: Session) -> None:
    assert (await run(session, "kill -SEGV $$")).text == "[ended by SIGSEGV]"


async def test_a_command_that_does_not_exist_is_told_by_the_shell(session: Session) -> None:
    result = await run(session, "no-such-command-here")
    assert "not found" in result.text
    assert result.text.endswith("[exit code 127]")


async def test_output_that_is_no_text_is_replaced(session: Session) -> None:
    result = await run(session, r"printf 'a\377b\000c'")
    assert result.text == "a\ufffdb\ufffdc\n[exit code 0]"


async def test_of_much_output_the_beginning_and_the_end_are_kept(session: Session) -> None:
    result = await run(session, "echo first; seq 1 200000; echo last")
    assert result.text.startswith("first\n1\n2\n")
    assert result.text.endswith("\n200000\nlast\n[exit code 0]")
    assert "bytes left out" in result.text
    assert len(result.text) < 25_000


async def test_a_cut_through_a_character_shows_no_rubbish(session: Session) -> None:
    result = await run(session, "printf x; yes €€€ | head -20000 | tr -d '\\n'")
    assert "bytes left out" in result.text
    assert "\ufffd" not in result.text


@requirement("DSP-8")
async def test_output_without_end_is_stopped_at_the_time_limit_and_shown_in_part(
    session: Session,
) -> None:
    result = await run(session, "yes", timeout=3)
    assert result.is_error
    assert result.text.startswith("y\ny\n")
    assert "stopped at the time limit of 3 s" in result.text
    assert len(result.text) < 25_000


@requirement("DSP-8")
async def test_the_time_limit_ends_everything_that_a_command_started(
    session: Session, project: Path
) -> None:
    result = await run(
        session, "echo begun; (trap '' TERM; echo $BASHPID > pid; sleep 600) & wait", timeout=3
    )
    assert result.text.startswith("begun\n[stopped at the time limit")
    await gone(await number(project / "pid"))


@requirement("DSP-8")
async def test_cancelling_a_call_ends_everything_that_the_command_started(
    session: Session, project: Path
) -> None:
    pids: list[int] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, session, "(echo $BASHPID > inner; sleep 600) & echo $$ > pid; wait")
        pids += [await number(project / name) for name in ("inner", "pid")]
        tasks.cancel_scope.cancel()
    for pid in pids:
        await gone(pid)


AGENT = """
import sys, anyio
from pathlib import Path
from tooldrawer.agent.core import CoreTools, Workplace
from tooldrawer.call import ToolCall

tools = CoreTools(Workplace(root=Path(sys.argv[1])))
call = ToolCall(name="terminal", arguments={"command": "echo $$ > pid; sleep 600"})
anyio.run(tools.run, tools.tools()[0], call)
"""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_command_ends_when_the_agent_is_killed(project: Path) -> None:
    async with await anyio.open_process([sys.executable, "-c", AGENT, str(project)]) as agent:
        pid = await number(project / "pid")
        agent.kill()
    await gone(pid)


async def test_a_command_that_cleans_up_when_asked_to_end_may_do_so(
    session: Session, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooldrawer.agent.core.processes._GRACE", 60)
    result = await run(
        session, "trap 'echo tidy; rm lock; exit' TERM; touch lock; sleep 600 & wait", timeout=3
    )
    assert result.text.startswith("tidy\n")
    assert not (project / "lock").exists()


async def test_what_holds_the_output_of_a_finished_command_is_ended_and_that_is_said(
    session: Session, project: Path
) -> None:
    result = await run(session, "sleep 600 & echo $! > pid; echo started")
    assert result.text.startswith("started\n[exit code 0]\n[what it left running")
    await gone(await number(project / "pid"))


async def test_output_that_was_not_read_yet_is_nobody_left_running(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooldrawer.agent.core.processes._AFTERLIFE", 0)
    assert (await run(session, "echo started")).text == "started\n[exit code 0]"


async def test_what_has_output_of_its_own_goes_on_in_the_background(
    session: Session, project: Path
) -> None:
    result = await run(session, "sleep 600 > log 2>&1 & echo $! > pid; echo started")
    pid = await number(project / "pid")
    try:
        assert result.text == "started\n[exit code 0]"
        assert is_running(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


@requirement("DSP-7")
async def test_several_commands_run_at_the_same_time(session: Session, project: Path) -> None:
    os.mkfifo(project / "pipe")
    with anyio.fail_after(60):
        read, write = await session.call_all(
            [("terminal", {"command": "cat pipe"}), ("terminal", {"command": "echo met > pipe"})]
        )
    assert read.text == "met\n[exit code 0]"
    assert write.text == "[exit code 0]"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"command": "  "}, "There is no command"),
        ({"command": "echo a\0b"}, "cannot be started"),
        ({"command": "true", "timeout": 0}, "/timeout must be from 1 to 3600"),
        ({"command": "true", "timeout": 10**9}, "/timeout must be from 1 to 3600"),
        ({"command": "true", "cwd": "nowhere"}, "There is no folder 'nowhere'"),
        ({"command": "true", "cwd": "file"}, "There is no folder 'file'"),
        ({"command": "true", "cwd": "a\0b"}, "is no usable path"),
        ({"command": "true", "surprise": 1}, "surprise"),
        ({"command": "echo " + "x" * 500_000}, "cannot be started"),
        ({}, "command"),
    ],
)
async def test_a_command_that_cannot_be_run_is_refused_with_the_reason(
    session: Session, project: Path, arguments: dict[str, str | int], complaint: str
) -> None:
    (project / "file").touch()
    result = await session.call("terminal", arguments)
    assert result.is_error
    assert complaint in result.text


async def test_what_the_shell_reads_at_its_start_is_read_once(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = tmp_path / "start.sh"
    start.write_text("cat; echo begun\n", encoding="utf-8")
    monkeypatch.setenv("BASH_ENV", str(start))
    monkeypatch.setenv("BASH_FUNC_hello%%", "() { echo hello; }")
    monkeypatch.setenv("a.b", "dotted")
    result = await run(session, "hello; env | grep -a dotted")
    assert result.text == "begun\nhello\na.b=dotted\n[exit code 0]"


async def test_a_command_is_no_option_of_the_shell(session: Session) -> None:
    assert (await run(session, "--version")).text.endswith("[exit code 127]")
