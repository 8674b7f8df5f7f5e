"""What a function returned, as the result of a tool: awaited, collected, written as JSON."""

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AsyncContextDecorator, ContextDecorator, aclosing, closing
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Never, cast

import anyio.to_thread

from tooldrawer.call import ToolResult
from tooldrawer.errors import ToolFailed
from tooldrawer.tool import Json

if TYPE_CHECKING:
    import pydantic

_MAX_ITEMS = 100_000
"""Of a generator: one without an end must not fill the memory."""
_MAX_AWAITS = 8
"""A coroutine may return another one; an awaitable that returns itself must come to an end."""


async def run_function(call: Callable[[], object], *, is_async: bool, name: str) -> ToolResult:
    """Run `call`, a plain one in a worker thread, until its result is there.

    What it returns may be the work itself: a wrapper around an async function returns a coroutine,
    and a generator has not run at all. Both are run here.

    Raises:
        ToolFailed: It returned a context manager, so that its code has not run.
    """
    value = call() if is_async else await _run_in_thread(partial(_collect_returned, call))
    for _ in range(_MAX_AWAITS):
        if not inspect.isawaitable(value):
            break
        value = await value
    if inspect.isasyncgen(value):
        value = await _collect_async(cast("AsyncGenerator[object, None]", value))
    elif inspect.isgenerator(value):
        value = await _run_in_thread(partial(_collect, value))
    _require_run(value, name)
    return _write_result(value)


async def _run_in_thread(work: Callable[[], object]) -> object:
    # In a tuple: trio refuses a coroutine as the result of a thread.
    (value,) = await anyio.to_thread.run_sync(lambda: (work(),), abandon_on_cancel=True)
    return value


def _collect_returned(call: Callable[[], object]) -> object:
    """What `call` returns; the items when that is a generator, in the thread that called it."""
    value = call()
    return _collect(value) if inspect.isgenerator(value) else value


def _collect(items: "Generator[object, Never, object]") -> object:
    with closing(items):
        found = list(islice(items, _MAX_ITEMS + 1))
    return _bound(found)


async def _collect_async(items: "AsyncGenerator[object, None]") -> object:
    found: list[object] = []
    async with aclosing(items):
        async for item in items:
            found.append(item)
            if len(found) > _MAX_ITEMS:
                break
    return _bound(found)


def _bound(found: list[object]) -> object:
    if len(found) <= _MAX_ITEMS:
        return found
    return _write_result(found[:_MAX_ITEMS]).with_note(
        f"[The function was stopped after {_MAX_ITEMS:,} items; the result has those.]"
    )


def _require_run(value: object, name: str) -> None:
    """Refuse what `@contextmanager` gives: the code of the function runs when it is entered."""
    if inspect.isawaitable(value):
        why = f"returned {_MAX_AWAITS} coroutines inside each other, and the last was not awaited"
        advice = "Its author must await them."
    elif isinstance(value, ContextDecorator | AsyncContextDecorator):
        why = f"returned a context manager ({type(value).__name__}), and its code has not run"
        advice = "Its author must offer a function that enters it and returns what is needed."
    else:
        return
    raise ToolFailed(f"{name!r} {why}. {advice} Tell the user; do not try again.")


def _write_result(value: object) -> ToolResult:
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, str) or value is None:
        return ToolResult.of_text(value or "")
    try:
        dumped = _plain_values().dump_python(value, mode="json", fallback=_scalar)
        plain = cast("Json", dumped)
        return ToolResult.of_json(plain, structured=isinstance(plain, Mapping))
    except Exception:  # noqa: BLE001  the boundary to objects of anyone's, which may serialize themselves
        return _represent(value)


def _scalar(value: Any) -> object:
    """The number in a scalar of numpy and its like, which pydantic does not know."""
    number = value.item() if hasattr(value, "dtype") else None
    if type(number) not in (bool, int, float, str):
        raise TypeError(f"{type(value).__name__} is not a scalar")
    return number


def _represent(value: object) -> ToolResult:
    """A result that is not JSON, as Python writes it.

    It is not an error: the function has run, and a model repeats a call that failed.
    """
    try:
        shown = ToolResult.of_text(repr(value))
        how = "is shown as Python writes it"
    except Exception:  # noqa: BLE001  the same boundary; a list of 1,000 levels cannot be shown either
        shown = ToolResult()
        how = "cannot be shown"
    return shown.with_note(
        f"[The function ran. Its result ({type(value).__name__}) is not JSON and {how}. "
        "Do not repeat the call for that reason.]"
    )


@cache
def _plain_values() -> "pydantic.TypeAdapter[object]":
    # 20 ms that `import tooldrawer` need not pay: a gateway in front of servers has no functions.
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter(object)
