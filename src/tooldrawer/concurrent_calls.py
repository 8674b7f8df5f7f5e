"""Answer the calls of one turn, several at a time."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.exception_groups import first_cause

Each = Callable[[int, ToolResult], None]
"""Is told of every result when it comes, with the position of its call."""


def ignore_result(_position: int, _result: ToolResult) -> None:
    """The `each` of a host that waits for all results."""


async def answer_calls(
    calls: Sequence[ToolCall],
    answer: Callable[[ToolCall], Awaitable[ToolResult]],
    *,
    concurrency: int,
    each: Each = ignore_result,
) -> list[ToolResult]:
    """The results in the order of the calls; what `each` raises ends the rest, and is raised."""
    results: list[ToolResult] = [ToolResult()] * len(calls)
    waiting = iter(enumerate(calls))

    async def work() -> None:
        for position, call in waiting:
            results[position] = await answer(call)
            each(position, results[position])

    try:
        async with anyio.create_task_group() as tasks:
            for _ in range(min(concurrency, len(calls))):
                tasks.start_soon(work)
    except BaseExceptionGroup as group:
        # Callers expect the error itself; that calls run in tasks is not their concern.
        raise first_cause(group) from None
    return results
