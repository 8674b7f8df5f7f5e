"""What passes through in memory passes through over HTTP."""

from pathlib import Path

import anyio
import pytest

from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    LONG,
    Person,
    called,
    document,
    eventually,
    everything,
    goods,
    log,
    names,
    shelf,
    text,
    tool,
)
from tests.gateway.web import served
from tests.requirements import requirement

pytestmark = pytest.mark.anyio
TOOLS = "notifications/tools/list_changed"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@requirement("DSP-8")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("is_asked", [False, True], ids=["alone", "with a person"])
async def test_a_call_that_is_given_up_is_given_up_by_the_server(
    tmp_path: Path, era: str, *, is_asked: bool
) -> None:
    file, person = goods(tmp_path / "shop.json", tool("hang")), Person() if is_asked else None
    async with served(tmp_path, document({"shop": shelf(file)})) as site:
        await site.settled()
        async with site.visitor(era, person) as client:
            with anyio.fail_after(LONG), anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(called, client, "mcp_shop_hang")
                    await eventually(lambda: "tools/call" in str(log(file)))
                    scope.cancel()
            await eventually(lambda: "notifications/cancelled" in str(log(file)))
            await eventually(lambda: not len(site.gateway.handlers.in_flight))


async def test_progress_and_lines_come_while_the_call_runs(tmp_path: Path) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def show(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with served(tmp_path, document({"new": everything()})) as site:
        await site.settled()
        for era in ERAS:
            person = Person()
            steps.clear()
            async with site.visitor(era, person, log_level="info") as client:
                slow = {"name": "mcp_new_slow", "arguments": {"n": 1}}
                result = await client.call_tool("tool_call", slow, progress_callback=show)
                assert (text(result), steps) == ("done", [(1, 1, "step 1")])
                await called(client, "mcp_new_say")
                await person.until(lambda: len(person.lines) == 2)  # noqa: B023
                assert text(await called(client, "mcp_new_think")) == "thought about Think."


@pytest.mark.parametrize("era", ERAS)
async def test_a_change_is_told(tmp_path: Path, era: str) -> None:
    file, person = goods(tmp_path / "shop.json", tool("a")), Person()
    settings = document({"shop": shelf(file)}, gateway={"mode": "passthrough"})
    async with served(tmp_path, settings) as site:
        await site.settled()
        async with site.visitor(era, person) as client:
            assert names(await client.list_tools()) == ["mcp_shop_a"]
            if era == HANDSHAKE:
                goods(file, tool("a"), tool("b"))
                await person.until(lambda: TOOLS in person.told)
            else:
                async with client.listen(tools_list_changed=True):
                    goods(file, tool("a"), tool("b"))
                    await person.until(lambda: TOOLS in person.told)
            assert names(await client.list_tools()) == ["mcp_shop_a", "mcp_shop_b"]
