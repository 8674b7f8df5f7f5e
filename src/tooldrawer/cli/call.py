"""Running a tool by hand: `call`."""

import json as json_text
import sys
from functools import partial
from typing import Annotated, cast

import anyio
import typer

from tooldrawer.cli.look import named
from tooldrawer.cli.opening import CatalogOption, ConfigOption, JsonOption, ScopeOption, opened
from tooldrawer.cli.output import notice, show, show_json
from tooldrawer.dispatch import TerminalApprover
from tooldrawer.errors import ConfigError
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
    place = opened(catalog, config, scope=scope, approver=approver)
    session = place.drawer.session(scope=place.scope)
    snapshot = place.drawer.registry.snapshot()
    tool = named(place.drawer.parts.catalogs.derive(snapshot, session.scope), name)
    try:
        result = anyio.run(partial(session.call, tool.name, arguments))
    finally:
        place.drawer.close()
    if json:
        show_json(result.mcp())
    elif result.is_error:
        notice(result.text)
    else:
        show(result.text)
    if result.is_error:
        raise typer.Exit(2)


def _arguments(text: str) -> JsonObject:
    try:
        value = cast("Json", json_text.loads(text.strip() or "{}"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--args is not JSON ({error}); write it as {_EXAMPLE}.") from error
    if not isinstance(value, dict):
        raise ConfigError(f"--args is JSON, but not an object; write it as {_EXAMPLE}.")
    return cast("JsonObject", value)
