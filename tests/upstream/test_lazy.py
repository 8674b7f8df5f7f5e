"""Servers that are started by their first call."""

import threading
from pathlib import Path

import anyio
import pytest

from tests.upstream.fakes import LONG, SERVERS, Running, alive, eventually, pids, plain, running
from tooldrawer.activity import UpstreamChanged, UpstreamDown, UpstreamUp
from tooldrawer.errors import ToolFailed
from tooldrawer.upstream.manifest import Manifest, Manifests
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.upstream import Upstream

pytestmark = pytest.mark.anyio


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    return tmp_path / "starts"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "manifests"


def _lazy(starts: Path, *options: str) -> UpstreamSpec:
    return plain("--starts", str(starts), *options, lazy=True)


def _only(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


async def test_an_unknown_one_is_started_once_to_learn_its_tools(
    starts: Path, folder: Path
) -> None:
    async with running(_lazy(starts), folder=folder) as server:
        await server.until(lambda: server.upstream.status.state == "idle")
        await eventually(lambda: not any(map(alive, pids(starts))))
        assert len(pids(starts)) == 1
        assert server.upstream.is_known
        (up,) = server.happened(UpstreamUp)
        assert up.note == "started once, to learn its tools"
        assert server.happened(UpstreamDown) == []


async def test_a_known_one_is_started_by_a_call(starts: Path, folder: Path) -> None:
    async with running(_lazy(starts), folder=folder) as server:
        await server.until(lambda: server.upstream.status.state == "idle")
    known = pids(starts)
    async with running(_lazy(starts), folder=folder) as server:
        assert server.upstream.status.state == "idle"
        assert server.upstream.tools()
        assert server.events == []
        assert pids(starts) == known
        assert (await server.call("echo", {"a": 1})).structured == {"a": 1}
        assert len(pids(starts)) == 2
        (up,) = server.happened(UpstreamUp)
        assert up.note == "started by a call"
        assert server.upstream.status.state == "up"


async def test_one_that_died_waits_for_the_next_call(starts: Path, folder: Path) -> None:
    async with running(_lazy(starts), folder=folder) as server:
        await server.until(lambda: server.upstream.status.state == "idle")
        with pytest.raises(ToolFailed, match="stopped during the call"):
            await server.call("die")
        await server.until(lambda: server.upstream.status.state == "idle")
        assert "I am dying" in server.upstream.status.error
        assert len(pids(starts)) == 2
        assert (await server.call("echo")).structured == {}
        assert len(pids(starts)) == 3


async def test_one_that_lists_other_tools_than_it_did_says_so(starts: Path, folder: Path) -> None:
    script = folder.parent / "server.py"
    spec = UpstreamSpec(
        name="plain",
        command=plain().command,
        args=(str(script), "--starts", str(starts)),
        lazy=True,
    )
    source = (SERVERS / "plain.py").read_text(encoding="utf-8")
    script.write_text(source, encoding="utf-8")
    async with running(spec, folder=folder) as server:
        await server.until(lambda: server.upstream.status.state == "idle")
    script.write_text(source.replace("tool_echo", "tool_resound"), encoding="utf-8")
    async with running(spec, folder=folder) as server:
        before = server.upstream.tools()
        await server.call("listings")
        (changed,) = server.happened(UpstreamChanged)
        assert (changed.added, changed.removed, changed.changed) == (1, 1, 0)
        assert server.upstream.tools() is not before


async def test_a_manifest_holds_no_secret_and_is_for_this_user_only(folder: Path) -> None:
    spec = plain(env={"KEY": "hush-hush"}, headers={"Authorization": "Bearer hush-hush"})
    async with running(spec, folder=folder):
        pass
    file = _only(folder)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "hush" not in file.read_text(encoding="utf-8") + file.name
    others = (plain(env={"KEY": "other"}), plain(cwd="/"), plain("--modern"))
    for other in others:
        assert not Running(other, folder=folder, pace=Pace()).upstream.is_known


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"tools": 5}', b"\xff", b"[" * 100_000])
async def test_an_unreadable_manifest_is_none(folder: Path, content: bytes) -> None:
    async with running(plain(), folder=folder):
        pass
    file = _only(folder)
    file.write_bytes(content)
    assert not Running(plain(), folder=folder, pace=Pace()).upstream.is_known


async def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    async with running(plain(), folder=blocked / "manifests") as server:
        assert server.upstream.status.state == "up"


class SlowManifests(Manifests):
    """Takes its time to write."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.is_writing, self.go_on = threading.Event(), threading.Event()

    def save(self, spec: UpstreamSpec, manifest: Manifest) -> None:
        self.is_writing.set()
        self.go_on.wait(LONG)
        super().save(spec, manifest)


async def test_a_call_that_comes_while_the_tools_are_learnt_keeps_the_server(
    starts: Path, folder: Path
) -> None:
    manifests, answers = SlowManifests(folder), list[object]()
    upstream = Upstream(_lazy(starts), emit=lambda event: None, manifests=manifests)
    async with anyio.create_task_group() as group:

        async def call() -> None:
            answers.append(await upstream.request("tools/call", {"name": "echo"}))
            group.cancel_scope.cancel()

        group.start_soon(upstream.serve)
        await eventually(manifests.is_writing.is_set)
        group.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        manifests.go_on.set()
    assert len(answers) == 1
    assert len(pids(starts)) == 1
