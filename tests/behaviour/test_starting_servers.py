"""The first requests of a session, while its MCP servers are still starting."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.gateway.rig import LONG, Document, document, goods, let_in, placed, shelf, tool, write
from tests.requirements import requirement
from tooldrawer import Assembly, Drawer, Scope, Session, ToolResult
from tooldrawer.upstream.upstream import Upstream

pytestmark = pytest.mark.anyio

CUT = "mcp_late_cut"
SEARCH = ("tool_search", {"query": "tree"})
Connect = Callable[..., AbstractAsyncContextManager[Drawer]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The server `late` answers when this is there."""
    return tmp_path / "gate"


@pytest.fixture
def late(tmp_path: Path, gate: Path) -> Document:
    """A server that is not there at once."""
    return shelf(goods(tmp_path / "late.json", tool("cut", "Cut a tree")), "--hold", str(gate))


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    """Start servers as a program does that uses the library, and wait at most so many seconds."""

    @asynccontextmanager
    async def connected(wait_s: float, **servers: Document) -> AsyncGenerator[Drawer]:
        settings = document(
            servers,
            search={"enabled": "auto", "search": "lexical"},
            gateway={"first_search_wait": wait_s},
        )
        with placed(tmp_path), anyio.fail_after(LONG):
            drawer = Drawer.from_config(write(tmp_path / "tooldrawer.yaml", settings))
            async with drawer.connected():
                yield drawer

    return connected


def names(assembly: Assembly) -> list[str]:
    return [each.name for each in assembly.tools]


async def test_the_first_array_searches_and_calls_wait_for_servers_that_are_starting(
    connect: Connect, late: Document, gate: Path
) -> None:
    arrays: list[Assembly] = []
    results: list[ToolResult] = []

    async def get_array(session: Session) -> None:
        arrays.append(await session.tools())

    async def call_tools(session: Session) -> None:
        calls = [(CUT, None), SEARCH, ("tool_describe", {"name": CUT})]
        results.extend(await session.call_all(calls))

    async with connect(600, late=late) as drawer, anyio.create_task_group() as tasks:
        tasks.start_soon(get_array, drawer.session())
        tasks.start_soon(call_tools, drawer.session())
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        assert not arrays
        assert not results
        let_in(gate)
    assert names(arrays[0]) == [CUT]
    called, searched, described = results
    assert '"tool": "cut"' in called.text
    assert json.loads(searched.text)["matches"][0]["name"] == CUT
    assert json.loads(described.text)["name"] == CUT


@requirement("SEARCH-9")
async def test_after_the_wait_the_model_gets_the_bridge_and_is_not_told_to_give_up(
    connect: Connect, late: Document, gate: Path
) -> None:
    async with connect(0, late=late) as drawer:
        session = drawer.session()
        early = await session.tools()
        reply = json.loads((await session.call(*SEARCH)).text)
        refused = await session.call(CUT)
        let_in(gate)
        for upstream in drawer.registry:
            assert isinstance(upstream, Upstream)
            await upstream.settled()
        complete = await session.tools()
        found = json.loads((await session.call(*SEARCH)).text)
    assert names(early) == ["tool_search", "tool_describe", "tool_call"]
    assert early.reason == "the tools of late are not known yet"
    assert reply["note"].startswith("Searched 0 tools of 0 servers. Still starting: late;")
    assert "No tool fits so far" in reply["hint"]
    assert "no tool does this" not in reply["hint"]
    assert refused.is_error
    assert "The server 'late' is not available" in refused.text
    assert "it is still starting" in refused.text
    assert names(complete) == [CUT]
    assert found["matches"][0]["name"] == CUT
    assert "note" not in found


async def test_a_server_that_cannot_start_is_not_waited_for(connect: Connect) -> None:
    async with connect(600, gone={"command": "no-such-program"}) as drawer:
        array = await drawer.session().tools()
    assert array.tools == ()
    assert not array.active


@requirement("SCOPE-2")
async def test_a_server_outside_the_scope_is_not_waited_for(
    connect: Connect, late: Document, tmp_path: Path
) -> None:
    early = shelf(goods(tmp_path / "early.json", tool("plant", "Plant a tree")))
    async with connect(600, early=early, late=late) as drawer:
        only_early = Scope(toolsets=["mcp-early"])
        assert names(await drawer.session(scope=only_early).tools()) == ["mcp_early_plant"]
