"""Running a tool by hand: `call`."""

import json as json_text
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Annotated, cast

import anyio
import typer
from anyio.abc import TaskStatus

from tooldrawer.call import ToolResult
from tooldrawer.cli.absent_servers import AbsentServer, absent_server_of
from tooldrawer.cli.look import named
from tooldrawer.cli.opening import (
    CatalogOption,
    ConfigOption,
    JsonOption,
    Opened,
    ScopeOption,
    admit_absent,
    check_tools,
    opened,
    settled,
)
from tooldrawer.cli.output import notice, show, show_json
from tooldrawer.dispatch import TerminalApprover
from tooldrawer.errors import ConfigError, ToolDrawerError
from tooldrawer.tool import Json, JsonObject

_EXAMPLE = """'{"city": "Oslo", "days": 3}'"""


def call(
    name: Annotated[str, typer.Argument(help="A tool's name, in any notation.")],
    args: Annotated[str, typer.Option("--args", help="Its arguments, as a JSON object.")] = "{}",
    catalog: CatalogOption = None,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Run one tool, with every hook, guardrail and question on its way."""
    arguments = _arguments(args)
    approver = TerminalApprover() if sys.stdin.isatty() else None
    place = opened(catalog, config, scope=scope, approver=approver, live=True)
    try:
        result = anyio.run(partial(_interruptible, partial(_called, place, name, arguments)))
    finally:
        place.drawer.close()
    if result.cause is not None and not result.is_error:
        raise result.cause
    if json:
        show_json(result.mcp())
    elif result.is_error:
        notice(result.text)
    else:
        show(result.text)
    if result.is_error:
        raise typer.Exit(2)


async def _called(place: Opened, name: str, arguments: JsonObject) -> ToolResult:
    """The result of the call; only the server that it needs is started."""
    session = place.drawer.session(scope=place.scope)
    absent: tuple[AbsentServer, ...] = ()
    async with AsyncExitStack() as stack:
        if place.drawer.config.servers:
            pool = await stack.enter_async_context(place.drawer.connected(lazy=True))
            absent = admit_absent(place.drawer, place.scope, await settled(pool))
        try:
            if absent_server_of(name, absent) is None:
                check_tools(place.drawer)
            tool = named(session.catalog, name, absent)
        except ToolDrawerError as error:  # raised in here it would come out as one of a group
            return replace(ToolResult(), cause=error)
        return await session.call(tool.name, arguments)


async def _interruptible(call: Callable[[], Awaitable[ToolResult]]) -> ToolResult:
    """The call's result; Ctrl-C cancels it.

    The signal is received by the event loop. Python's own way, an exception in whatever runs at the
    moment, was lost a few times in a thousand while the loop slept and a tool held its thread.

    Raises:
        KeyboardInterrupt: It was interrupted.
    """
    results: list[ToolResult] = []
    async with anyio.create_task_group() as tasks:

        async def wait_for_interrupt(*, task_status: TaskStatus[None]) -> None:
            with anyio.open_signal_receiver(signal.SIGINT) as signals:
                task_status.started()
                async for _ in signals:
                    tasks.cancel_scope.cancel()

        if sys.platform != "win32":
            await tasks.start(wait_for_interrupt)
        results.append(await call())
        tasks.cancel_scope.cancel()
    if not results:
        raise KeyboardInterrupt
    return results[0]


def _arguments(text: str) -> JsonObject:
    try:
        value = cast("Json", json_text.loads(text.strip() or "{}"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--args is not JSON ({error}); write it as {_EXAMPLE}.") from error
    if not isinstance(value, dict):
        raise ConfigError(f"--args is JSON, but not an object; write it as {_EXAMPLE}.")
    return cast("JsonObject", value)
