"""Results that were cut stay readable for a while, within the memory that there is for them."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes import ScriptedToolset
from tests.requirements import requirement
from tooldrawer import Drawer, Session, Tool, ToolCall, ToolResult
from tooldrawer.dispatch import Rests, ResultMemory
from tooldrawer.dispatch.limits import how_to_read_on

pytestmark = pytest.mark.anyio
MILLION = 1_000_000
LONG = "x" * (5 * MILLION)
HOW = how_to_read_on()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def drawer_of(text: str) -> Drawer:
    async def tell(tool: Tool, call: ToolCall) -> ToolResult:
        return ToolResult.of_text(text)

    return Drawer([ScriptedToolset("desk", [Tool(name="tell")], tell)])


async def can_read_on(session: Session) -> bool:
    given = {"name": "read_rest", "arguments": {"id": "rest-1", "offset": 100_000}}
    return not (await session.call("tool_call", given)).is_error


@requirement("GW-2")
async def test_more_sessions_give_a_principal_no_more_memory() -> None:
    drawer = drawer_of(LONG)
    bob = drawer.session(principal="bob")
    await bob.call("tell")
    sessions = [drawer.session(principal="ann") for _ in range(10)]
    for session in sessions:
        await session.call("tell")
    assert [await can_read_on(each) for each in sessions] == [False] * 4 + [True] * 6
    assert await can_read_on(bob)


@requirement("DSP-8")
async def test_the_end_of_an_enormous_result_is_not_kept_and_the_model_is_told() -> None:
    session = drawer_of(LONG + "y" * 1234).session()
    await session.call("tell")
    given = {"name": "read_rest", "arguments": {"id": "rest-1", "offset": 5 * MILLION - 10}}
    end = await session.call("tool_call", given)
    assert end.text == (
        "x" * 10 + "\n[1,234 more characters were not kept. Ask the tool for less.]"
    )


def kept(memory: ResultMemory, principal: str, *texts: str) -> list[Rests]:
    """Rests, each of one text."""
    found: list[Rests] = []
    for text in texts:
        found.append(Rests(memory, principal))
        found[-1].shortened(ToolResult.of_text(text), most=10, how_to_read_on=HOW)
    return found


def readable(rests: list[Rests]) -> list[bool]:
    read = (each.read("rest-1", 0, most=10, how_to_read_on=HOW) for each in rests)
    return [not each.is_error for each in read]


@requirement("GW-2")
def test_the_principal_with_most_gives_way_when_all_memory_is_used() -> None:
    memory = ResultMemory(max_principal_bytes=60_000, max_bytes=80_000)
    ann = kept(memory, "ann", *["a" * 10_000] * 5)
    bob = kept(memory, "bob", *["b" * 10_000] * 4)
    assert (readable(ann), readable(bob)) == ([False, False, True, True, True], [True] * 4)


def test_a_result_beyond_all_memory_is_still_answered() -> None:
    rests = Rests(ResultMemory(max_principal_bytes=1_000))
    cut = rests.shortened(ToolResult.of_text("a" * 10_000), most=10, how_to_read_on=HOW)
    assert cut.text.startswith("a" * 10 + "\n")
    assert readable([rests]) == [False]


def test_sessions_in_several_threads_share_the_memory() -> None:
    memory = ResultMemory(max_principal_bytes=0)  # every text goes at once

    def keep_many(principal: str) -> None:
        for _ in range(2_000):
            kept(memory, principal, "x" * 500)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            for done in [threads.submit(keep_many, "ann") for _ in range(8)]:
                done.result()
    finally:
        sys.setswitchinterval(before)
