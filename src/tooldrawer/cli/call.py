"""Running a tool by hand: `call`."""

import sys
from functools import partial
from typing import Annotated

import anyio
import typer

from tooldrawer.cli.look import named
from tooldrawer.cli.opening import CatalogOption, ConfigOption, JsonOption, ScopeOption, opened
from tooldrawer.cli.output import notice, show, show_json
from tooldrawer.dispatch import TerminalApprover


def call(
    name: Annotated[str, typer.Argument(help="A tool's name, in any notation.")],
    args: Annotated[str, typer.Option("--args", help="Its arguments, as a JSON object.")] = "{}",
    catalog: CatalogOption = None,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Run one tool, with every hook, guardrail and question on its way."""
    approver = TerminalApprover() if sys.stdin.isatty() else None
    place = opened(catalog, config, scope=scope, approver=approver)
    session = place.drawer.session(scope=place.scope)
    snapshot = place.drawer.registry.snapshot()
    tool = named(place.drawer.parts.catalogs.derive(snapshot, session.scope), name)
    result = anyio.run(partial(session.call, tool.name, args))
    place.drawer.close()
    if json:
        show_json(result.mcp())
    elif result.is_error:
        notice(result.text)
    else:
        show(result.text)
    if result.is_error:
        raise typer.Exit(2)
