"""`config check`: whether a configuration can be used."""

from pathlib import Path
from typing import Annotated

import typer

from tooldrawer import config as configuration
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.opening import JsonOption
from tooldrawer.cli.output import notice, show, show_json
from tooldrawer.config import Config
from tooldrawer.config.scope_names import unknown_toolsets
from tooldrawer.errors import ConfigError

_WRONG = 2
_NOUNS = {
    "mcp_servers": "MCP server",
    "toolsets": "toolset",
    "scopes": "scope",
    "hooks": "hook",
    "guardrails": "guardrail",
}
app = typer.Typer(no_args_is_help=True, help="The configuration file.")


@app.callback()
def root() -> None:
    """The configuration file."""


@app.command()
def check(
    path: Annotated[
        Path | None, typer.Argument(help="By default tooldrawer.yaml here or yours.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="The same.")] = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Read the configuration and say whether all of it can be used."""
    named = path or config
    file = named or configuration.find()
    found = configuration.gather(file, trust="file" if named else "recorded")
    if unknown := unknown_toolsets(found):
        # Here the file is all there is. A program may add toolsets, so elsewhere it is a note.
        raise ConfigError(*(f"{file}: {sentence}" for sentence in unknown))
    facts = _facts(found)
    for note in found.notes:
        notice(note)
    if json:
        show_json({"file": str(file), **facts, "disabled": _disabled(found)})
    elif not found.server_mistakes:
        shown = [counted(count, _NOUNS[key]) for key, count in facts.items() if count]
        show(f"{file} is valid{': ' if shown else ''}{', '.join(shown)}.")
    else:
        _tell_disabled(found)
    if found.server_mistakes:
        raise typer.Exit(_WRONG)


def _tell_disabled(found: Config) -> None:
    for sentence in found.server_mistakes:
        notice(sentence)
    names = ", ".join(spec.name for spec in found.disabled)
    if names:
        left = len([spec for spec in found.servers if spec.enabled and not spec.problem])
        notice(f"Not started because of this: {names}. Servers that start: {left}.")


def _disabled(found: Config) -> list[dict[str, object]]:
    return [
        {
            "name": spec.name,
            "reason": spec.problem.reason,
            "details": spec.problem.details,
            "variables": spec.problem.variables,
        }
        for spec in found.disabled
        if spec.problem
    ]


def _facts(found: Config) -> dict[str, int]:
    return {
        "mcp_servers": len(found.servers),
        "toolsets": len(found.toolsets),
        "scopes": len(found.scopes),
        "hooks": len(found.hooks),
        "guardrails": len(found.guardrails),
    }
