"""Code of the user's around a call: observe it, change it, retry it, replace it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.exception_groups import single_cause

Next = Callable[[ToolCall], Awaitable[ToolResult]]
"""The rest of the way: further hooks, schema, guardrails, approval, the tool."""


class Hook(Protocol):
    """Code around a call. It sees the real tool's name, also when the call came over the bridge."""

    async def __call__(self, call: ToolCall, proceed: Next) -> ToolResult:
        """`await proceed(call)` runs the rest; not calling it skips the tool.

        Arguments are frozen: `proceed(call.with_arguments({...}))` changes them, before the schema,
        the guardrails and a person see them.
        """
        ...


def chain(hooks: Sequence[Hook], run: Next) -> Next:
    """Wrap `run` in `hooks`, the first outermost."""
    for hook in reversed(hooks):
        run = _around(hook, run)
    return run


def _around(hook: Hook, proceed: Next) -> Next:
    async def run(call: ToolCall) -> ToolResult:
        try:
            return await hook(call, proceed)
        except ExceptionGroup as group:
            # A task group around `proceed` hides the refusal or failure that came out of it.
            raise single_cause(group) from None

    return run
