"""The calls of one turn run side by side or one after the other; each result has its place."""

from collections.abc import Sequence

import anyio
import anyio.lowlevel
import pytest

from tests.dispatch.parts import events, texts
from tests.fakes import ScriptedToolset
from tests.requirements import requirement
from tooldrawer import (
    Allow,
    Config,
    Deny,
    Drawer,
    FunctionToolset,
    Limits,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
)
from tooldrawer.activity import CallFailed
from tooldrawer.tool import Json

pytestmark = pytest.mark.anyio

MANY = 10_000
NUMBER: dict[str, Json] = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
}


def double(number: int) -> str:
    """Double a number in a thread."""
    return f"double {number * 2}"


async def square(number: int) -> str:
    """Square a number after a while."""
    await anyio.lowlevel.checkpoint()
    return f"square {number**2}"


async def fail(number: int) -> str:
    """Fail."""
    raise RuntimeError(f"number {number} is odd")


async def remote(tool: Tool, call: ToolCall) -> ToolResult:
    await anyio.lowlevel.checkpoint()
    return ToolResult.of_text(f"remote {call.arguments['number']}")


def deny_some(tool: Tool, call: ToolCall) -> Verdict:
    return Deny(f"denied {call.arguments['number']}") if tool.name == "forbidden" else Allow()


def mixed() -> Drawer:
    local = FunctionToolset("local", [double, square, fail])
    server = ScriptedToolset(
        "mcp-server",
        [Tool(name="remote", parameters=NUMBER), Tool(name="forbidden", parameters=NUMBER)],
        remote,
    )
    return Drawer([local, server], guardrails=[deny_some])


def a_call(number: int) -> tuple[ToolCall, str]:
    """One of seven kinds of calls, and the beginning of its answer."""
    name, expected = (
        ("remote", f"remote {number}"),
        ("square", f"square {number**2}"),
        ("double", f"double {number * 2}"),
        ("fail", f"'fail' failed: number {number} is odd"),
        ("forbidden", f"denied {number}"),
        ("missing", "There is no tool of that name."),
        ("square", "'square' was not run: /number: "),
    )[number % 7]
    given: Json = {"number": "not a number" if number % 7 == 6 else number}
    call = ToolCall(name=name, arguments={"number": given["number"]}, id=f"call-{number}")
    if number % 2:
        call = ToolCall(name="tool_call", arguments={"name": name, "arguments": given}, id=call.id)
    return call, expected


def assert_in_place(results: Sequence[ToolResult], expected: Sequence[str]) -> None:
    assert len(results) == len(expected)
    wrong = [
        (number, result.text)
        for number, (result, text) in enumerate(zip(results, expected, strict=True))
        if not result.text.startswith(text)
        or result.call_id != f"call-{number}"
        or result.is_error != (number % 7 > 2)
    ]
    assert wrong == []


@requirement("DSP-7")
@pytest.mark.timeout(900)
async def test_ten_thousand_calls_of_one_turn_each_get_their_own_result() -> None:
    calls, expected = zip(*map(a_call, range(MANY)), strict=True)
    with anyio.fail_after(600):
        results = await mixed().session().call_all(calls, concurrency=64)
    assert_in_place(results, expected)


@requirement("DSP-7")
@pytest.mark.timeout(900)  # the report of ten thousand cancelled calls takes minutes itself
async def test_ten_thousand_calls_at_the_same_moment_each_get_their_own_result() -> None:
    calls, expected = zip(*map(a_call, range(MANY)), strict=True)
    session = mixed().session()
    results: list[ToolResult] = [ToolResult()] * MANY

    async def put(position: int, call: ToolCall) -> None:
        results[position] = await session.call(call.name, call.arguments, call_id=call.id)

    with anyio.fail_after(600):
        async with anyio.create_task_group() as tasks:
            for position, call in enumerate(calls):
                tasks.start_soon(put, position, call)
    assert_in_place(results, expected)


class Crowd:
    """A toolset whose calls all wait until as many of them run as are expected."""

    def __init__(self, expected: int) -> None:
        self.order: list[str] = []
        self.most = 0
        self._running = 0
        self._expected = expected
        self._complete = anyio.Event()
        self.toolset = ScriptedToolset("crowd", [Tool(name="join", parameters={})], self._run)

    async def _run(self, tool: Tool, call: ToolCall) -> ToolResult:
        self._running += 1
        self.most = max(self.most, self._running)
        self.order.append(f"begin {call.id}")
        if self._running >= self._expected:
            self._complete.set()
        await self._complete.wait()
        await anyio.lowlevel.checkpoint()
        self.order.append(f"end {call.id}")
        self._running -= 1
        return ToolResult.of_text(f"result {call.id}")


def joins(count: int) -> list[ToolCall]:
    return [ToolCall(name="join", id=str(number)) for number in range(count)]


@requirement("DSP-7")
@pytest.mark.parametrize("concurrency", [2, 8, 20])
async def test_as_many_run_side_by_side_as_allowed_and_never_more(concurrency: int) -> None:
    crowd = Crowd(concurrency)
    with anyio.fail_after(60):
        session = Drawer([crowd.toolset]).session()
        results = await session.call_all(joins(40), concurrency=concurrency)
    assert crowd.most == concurrency
    assert texts(results) == [f"result {number}" for number in range(40)]


@requirement("DSP-7")
@pytest.mark.parametrize(("configured", "given"), [(1, None), (8, 1)])
async def test_one_at_a_time_means_one_after_the_other(configured: int, given: int | None) -> None:
    crowd = Crowd(1)
    config = Config(limits=Limits(concurrency=configured))
    session = Drawer([crowd.toolset], config=config).session()
    with anyio.fail_after(60):
        await session.call_all(joins(10), concurrency=given)
    expected = [f"{what} {number}" for number in range(10) for what in ("begin", "end")]
    assert crowd.order == expected


@requirement("DSP-7")
async def test_the_settings_say_how_many_run_side_by_side() -> None:
    crowd = Crowd(3)
    session = Drawer([crowd.toolset], config=Config(limits=Limits(concurrency=3))).session()
    with anyio.fail_after(60):
        await session.call_all(joins(9))
    assert crowd.most == 3


@requirement("DSP-7")
async def test_no_calls_give_no_results(drawer: Drawer) -> None:
    assert await drawer.session().call_all([]) == []


def leaves(text: str) -> str:
    """Leave the process."""
    raise SystemExit(text)


def stops(text: str) -> str:
    """Stop an iteration that there is not."""
    raise StopIteration(text)


async def groups(text: str) -> str:
    """Fail twice."""
    raise ExceptionGroup("two", [ValueError(text), KeyError(text)])


async def strays(text: str) -> str:
    """Raise what a cancelled caller raises, though nobody cancelled it."""
    raise anyio.get_cancelled_exc_class()(text)


async def hangs(text: str) -> str:
    """Never end."""
    await anyio.sleep_forever()
    return text


async def nothing(tool: Tool, call: ToolCall) -> ToolResult:
    return None  # pyright: ignore[reportReturnType]


async def nonsense(tool: Tool, call: ToolCall) -> ToolResult:
    return ToolResult(content=("just text",))  # pyright: ignore[reportArgumentType]


BROKEN = ["leaves", "stops", "groups", "strays", "hangs", "nothing", "nonsense"]


def broken() -> Drawer:
    async def fine(text: str) -> str:
        """Do something."""
        await anyio.lowlevel.checkpoint()
        return f"fine {text}"

    toolsets = [
        FunctionToolset("local", [leaves, stops, groups, strays, hangs, fine]),
        ScriptedToolset("one", [Tool(name="nothing")], nothing),
        ScriptedToolset("two", [Tool(name="nonsense")], nonsense),
    ]
    return Drawer(toolsets, config=Config(limits=Limits(call_timeout=2)))


@requirement("DSP-7")
@pytest.mark.parametrize("concurrency", [1, 3, 64])
async def test_a_call_that_breaks_in_any_way_takes_no_other_down(concurrency: int) -> None:
    drawer = broken()
    calls: list[tuple[str, Json]] = []
    for name in BROKEN:
        calls += [("fine", {"text": name}), (name, {"text": "x"})]
    with anyio.fail_after(60):
        results = await drawer.session().call_all(calls, concurrency=concurrency)
    assert texts(results[0::2]) == [f"fine {name}" for name in BROKEN]
    assert [result.is_error for result in results] == [False, True] * len(BROKEN)
    assert all(name in result.text for name, result in zip(BROKEN, results[1::2], strict=True))
    assert sorted(event.tool for event in events(drawer, CallFailed)) == sorted(BROKEN)


@requirement("DSP-7")
async def test_each_call_of_a_turn_passes_the_guardrails_on_its_own() -> None:
    judged: list[Json] = []

    def even_only(tool: Tool, call: ToolCall) -> Verdict:
        number = call.arguments["number"]
        judged.append(number)
        return Allow() if isinstance(number, int) and number % 2 == 0 else Deny("odd")

    local = FunctionToolset("local", [square])
    session = Drawer([local], guardrails=[even_only]).session()
    calls: list[tuple[str, Json]] = [("square", {"number": number}) for number in range(6)]
    results = await session.call_all(calls, concurrency=6)
    assert texts(results) == ["square 0", "odd", "square 4", "odd", "square 16", "odd"]
    assert sorted(map(str, judged)) == [str(number) for number in range(6)]
