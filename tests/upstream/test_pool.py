"""Many servers at once."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.upstream.fakes import LONG, Client, alive, eventually, pids, plain
from tooldrawer import Config, Drawer
from tooldrawer.call import ToolCall
from tooldrawer.errors import ToolFailed
from tooldrawer.upstream.behind import BEHIND
from tooldrawer.upstream.pool import Pool
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.upstream import Upstream

pytestmark = pytest.mark.anyio


def _make(spec: UpstreamSpec) -> Upstream:
    return Upstream(spec, emit=lambda event: None)


async def _call(upstream: Upstream, name: str) -> str:
    tool = next(tool for tool in upstream.tools() if tool.local_name == name)
    return (await upstream.run(tool, ToolCall(name=tool.name))).text


async def test_one_that_hangs_or_breaks_keeps_nobody_waiting(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    specs = [
        plain("--mute", "--starts", str(file), name="mute"),
        plain("--exit", "1", name="broken"),
        plain("--starts", str(file), name="good"),
        plain("--modern", "--starts", str(file), name="modern"),
        plain(name="off", enabled=False),
    ]
    async with Pool(_make, specs) as pool:
        names = [upstream.spec.name for upstream in pool.upstreams]
        assert names == ["mute", "broken", "good", "modern"]
        with anyio.fail_after(LONG):
            for upstream in pool.upstreams[1:]:
                await upstream.settled()
        assert [u.status.state for u in pool.upstreams[2:]] == ["up", "up"]
        assert await _call(pool.upstreams[2], "listings") == "1"
        await pool.settled(0.01)
        await eventually(lambda: len(pids(file)) == 3)
    assert not any(map(alive, pids(file)))


async def test_a_new_configuration_leaves_what_is_the_same_running(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    a, b, c = (plain("--starts", str(file), name=name) for name in "abc")
    async with Pool(_make, [a, b]) as pool:
        with anyio.fail_after(LONG):
            await pool.settled(LONG)
        kept, old = pool.upstreams
        assert pool.apply([a, b]) == ((), ())
        changed = replace(b, timeout=5.0)
        removed, added = pool.apply([c, a, changed])
        assert removed == ("mcp-b",)
        assert [upstream.name for upstream in added] == ["mcp-c", "mcp-b"]
        assert pool.upstreams[1] is kept
        await pool.settled(LONG)
        assert all(upstream.status.state == "up" for upstream in pool.upstreams)
        with pytest.raises(ToolFailed, match="is being stopped"):
            await _call(old, "listings")
        await eventually(lambda: sum(map(alive, pids(file))) == 3)
    assert not any(map(alive, pids(file)))


async def test_a_server_that_is_taken_away_finishes_its_calls_first() -> None:
    client, answers = Client(), list[str]()
    async with Pool(_make, [plain()], drain=LONG) as pool:
        await pool.settled(LONG)
        (upstream,) = pool.upstreams
        async with anyio.create_task_group() as group:

            async def call() -> None:
                BEHIND.set(client)
                tool = next(t for t in upstream.tools() if t.local_name == "big")
                wanted = ToolCall(name=tool.name, arguments={"bytes": 3_000_000})
                answers.append((await upstream.run(tool, wanted)).text)

            group.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            pool.apply([])
        assert [len(answer) for answer in answers] == [3_000_000]


async def test_calls_that_do_not_end_are_broken_off_when_all_is_stopped() -> None:
    client, failures = Client(), list[str]()
    async with anyio.create_task_group() as group, Pool(_make, [plain()], drain=0.05) as pool:
        await pool.settled(LONG)

        async def call() -> None:
            BEHIND.set(client)
            try:
                await _call(pool.upstreams[0], "hang")
            except ToolFailed as error:
                failures.append(str(error))

        group.start_soon(call)
        with anyio.fail_after(LONG):
            await client.heard.wait()
    assert "stopped during the call" in failures[0]


async def test_a_cancelled_pool_stops_its_servers(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    async with anyio.create_task_group() as group:
        pool = Pool(_make, [plain("--starts", str(file), name=name) for name in "ab"])
        await group.start(pool.run)
        await pool.settled(LONG)
        assert len(pids(file)) == 2
        group.cancel_scope.cancel()
    assert not any(map(alive, pids(file)))


@pytest.mark.parametrize("raised", [ValueError("mine"), TimeoutError(), SystemExit(3)], ids=repr)
async def test_an_exception_in_the_block_of_a_connected_drawer_leaves_it_as_itself(
    raised: BaseException,
) -> None:
    drawer = Drawer(config=Config(servers=(plain(),)))

    async def use() -> None:
        async with drawer.connected():
            assert len(drawer.registry.snapshot().toolsets) == 1
            raise raised

    with pytest.raises(type(raised)) as caught:
        await use()
    assert caught.value is raised
    assert not drawer.registry.snapshot().toolsets
