"""How servers are started and stopped. None is ever left behind."""

import gc
import os
import signal
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.upstream.fakes import LONG, alive, eventually, pids, plain, running, structured
from tooldrawer.upstream.process import environment
from tooldrawer.upstream.process import running as process
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = pytest.mark.anyio


async def test_a_server_gets_few_variables_and_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("SHELL", "() { :; }")
    async with running(plain(env={"KEY": "value", "HOME": "/elsewhere"})) as server:
        found = structured(await server.call("environment"))
    assert "GITHUB_TOKEN" not in found
    assert "SHELL" not in found
    assert (found["KEY"], found["HOME"], found["PATH"]) == (
        "value",
        "/elsewhere",
        os.environ["PATH"],
    )


@pytest.mark.parametrize(("own", "given"), [("", "1"), ("1", "2"), ("2", "3"), ("many", "1")])
def test_a_server_knows_how_many_gateways_are_above_it(own: str, given: str) -> None:
    assert environment(plain(), {"TOOLDRAWER_DEPTH": own})["TOOLDRAWER_DEPTH"] == given


async def test_a_server_runs_in_its_folder(tmp_path: Path) -> None:
    spec = UpstreamSpec(name="pwd", command=sys.executable, args=("-c", _PWD), cwd=str(tmp_path))
    async with process(spec) as found:
        await eventually(lambda: str(tmp_path) in found.last_words)


_PWD = "import os, sys; sys.stderr.write(os.getcwd()); sys.stderr.flush(); sys.stdin.read()"


async def test_only_the_last_lines_of_stderr_are_kept() -> None:
    script = "import sys; [sys.stderr.write(f'{n} ' + 'x' * 9000 + chr(10)) for n in range(3000)]"
    spec = UpstreamSpec(name="chatty", command=sys.executable, args=("-c", script))
    async with process(spec) as found:
        await eventually(lambda: "2999" in found.last_words)
        assert len(found.last_words) < 3000


async def test_a_polite_server_ends_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pids"
    # So long before it would get a signal that the test itself would be over.
    monkeypatch.setattr("tooldrawer.upstream.process._GRACE", 600.0)
    with anyio.fail_after(LONG):
        async with running(plain("--starts", str(file))):
            (pid,) = pids(file)
            assert alive(pid)
    assert not alive(pid)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # it takes seconds
async def test_a_server_that_ignores_everything_is_killed_with_its_children(
    tmp_path: Path,
) -> None:
    file = tmp_path / "pids"
    async with running(plain("--stubborn", "--starts", str(file))):
        await eventually(lambda: len(pids(file)) == 2)
        assert all(map(alive, pids(file)))
    assert not any(map(alive, pids(file)))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # it takes seconds
async def test_children_of_a_server_that_died_are_ended(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    async with running(plain("--stubborn", "--starts", str(file))) as server:
        await eventually(lambda: len(pids(file)) == 2)
        leader, child = pids(file)
        os.kill(leader, signal.SIGKILL)
        # The child still holds the pipes, so that there is no end of file to see.
        await server.until(lambda: server.upstream.status.starts == 2)
        assert not alive(child)


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 5, 8, 13, 21])
async def test_cancelling_in_the_middle_of_starting_leaves_nothing(
    tmp_path: Path, rounds: int
) -> None:
    file, started = tmp_path / "pids", list[int]()
    async with anyio.create_task_group() as group:
        spec = plain("--starts", str(file))

        async def serve() -> None:
            async with process(spec) as found:
                started.append(found.pid)
                await anyio.sleep_forever()

        group.start_soon(serve)
        for _ in range(rounds):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert not any(map(alive, started))
    assert not any(map(alive, pids(file)))


async def test_no_descriptor_is_left_open() -> None:
    async with running(plain()):
        pass
    gc.collect()  # what earlier tests forgot to close
    before = _open()
    for _ in range(3):
        async with running(plain()):
            pass
    async with running(UpstreamSpec(name="none", command="no-such-command-anywhere")):
        pass
    assert _open() <= before


def _open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
