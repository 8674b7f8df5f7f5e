"""`connect`: the gateway in the list of a program that uses MCP servers."""

import dataclasses
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from tooldrawer import config as configuration
from tooldrawer.cli.output import notice, show
from tooldrawer.clients.connection import OUR_NAME, Plan, connecting, undoing
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import Client, Place, client_named
from tooldrawer.clients.launch import Launch, launch_of_this_program
from tooldrawer.clients.served import served_by
from tooldrawer.config.loading import FILE_NAME
from tooldrawer.errors import ConfigError
from tooldrawer.upstream.spec import UpstreamSpec

_SCHEMES = ("http://", "https://")
_FILLED = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)")
_ABOUT_CODEX = (
    "`codex exec` refuses every tool that may change something unless a person is there: to let it "
    'call tools through the gateway, add default_tools_approval_mode = "approve" to the entry. '
    "What tooldrawer itself asks about is asked all the same."
)


def connect(
    client: Annotated[
        str,
        typer.Argument(
            help="claude-desktop, claude-code, cursor, vscode, codex, gemini or opencode."
        ),
    ],
    http: Annotated[
        str | None,
        typer.Option("--http", help="The address of a running gateway, instead of a command."),
    ] = None,
    place: Annotated[
        str | None,
        typer.Option("--place", help="Whose list: user, project, or local (Claude Code)."),
    ] = None,
    scope: Annotated[
        str | None, typer.Option("--scope", help="The scope that this client is given.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="What the gateway serves; by default as it is found here."),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What the client calls it.")] = OUR_NAME,
    replace: Annotated[  # noqa: FBT002  typer's way to write a flag
        bool,
        typer.Option("--replace", help="Take the servers out of the list that the gateway serves."),
    ] = False,
    dry_run: Annotated[  # noqa: FBT002
        bool, typer.Option("--dry-run", help="Show what would change.")
    ] = False,
    undo: Annotated[  # noqa: FBT002
        bool, typer.Option("--undo", help="Take the last change back.")
    ] = False,
) -> None:
    """Put the gateway into a client's own list of servers."""
    found, folders = client_named(client), Folders.of_this_machine()
    where = found.place(place)
    if undo:
        _carry_out(undoing(found, where, folders, name=name), is_dry=dry_run)
        return
    launch = _launch(found, http, scope, config)
    served = _served(where, folders, config) if replace else []
    plan = connecting(found, where, folders, launch, name=name, served=served)
    if replace and not plan.removed:
        notice(_nothing_replaced(found))
    _carry_out(plan, is_dry=dry_run)
    if found.name == "codex":
        notice(_ABOUT_CODEX)


def _launch(client: Client, http: str | None, scope: str | None, config: Path | None) -> Launch:
    if http is None:
        file = (config or configuration.find(lists=True)).absolute()
        _mention_mistakes(file, scope)
        arguments = ["serve", "--config", str(file), *(["--scope", scope] if scope else [])]
        return dataclasses.replace(launch_of_this_program(arguments), variables=_variables(file))
    if not client.has_http:
        raise ConfigError(
            f"{client.title} starts its servers and cannot be given an address in its file; "
            "leave --http out."
        )
    if not http.startswith(_SCHEMES):
        raise ConfigError(f"--http is {http!r}, expected an address that begins with http://.")
    address = http.rstrip("/")
    if scope is not None and not address.endswith("/mcp"):
        raise ConfigError(f"--http is {http!r}; with --scope it has to end in /mcp.")
    return Launch(url=http if scope is None else f"{address}/{quote(scope, safe='')}")


def _variables(file: Path) -> tuple[str, ...]:
    """The names of what is filled in from the environment, in the order of the file."""
    found: list[str] = []
    for source in configuration.sources(file):
        if source.is_file():
            text = source.read_text(encoding="utf-8", errors="replace")
            found += _FILLED.findall(text)
    return tuple(dict.fromkeys(found))


def _mention_mistakes(file: Path, scope: str | None) -> None:
    """The client's own environment may be another, so a mistake is told and no more."""
    try:
        found = configuration.gather(file)
    except ConfigError as error:
        count = f"{len(error.mistakes)} mistakes" if len(error.mistakes) > 1 else "a mistake"
        notice(f"{file} has {count}; see `tooldrawer config check {file}`.")
        return
    for spec in found.disabled:
        reason = spec.problem.reason if spec.problem else ""
        notice(f"{spec.name} would not start: {reason}; see `tooldrawer config check {file}`.")
    if scope is not None and scope not in found.scopes:
        known = ", ".join(sorted(found.scopes)) or "none"
        raise ConfigError(f"There is no scope named {scope!r}; configured are: {known}.")


def _served(place: Place, folders: Folders, config: Path | None) -> list[UpstreamSpec]:
    file = (config or configuration.find(lists=True)).absolute()
    return served_by(file, without=place.file(folders), folders=folders)


def _nothing_replaced(client: Client) -> str:
    return (
        f"No server of {client.title} is served by tooldrawer yet; take them over first with "
        f"`tooldrawer import --from {client.name} --write {FILE_NAME}`."
    )


def _carry_out(plan: Plan, *, is_dry: bool) -> None:
    if not plan.is_needed:
        show(f"{plan.path} is right already; nothing to change.")
        return
    show(plan.shown)
    if is_dry:
        show("Nothing was written.")
        return
    backup = plan.carry_out()
    if plan.backup is not None and plan.after is None:
        show(f"{plan.path} was made by this and is removed again.")
    elif plan.backup is not None:
        show(f"{plan.path} is as it was." if backup is None else _partly(plan, backup))
    else:
        kept = f"as it was it is in {backup}" if plan.before is not None else "it is new"
        show(f"{plan.path} is written; {kept}. Take it back with --undo.")


def _partly(plan: Plan, backup: Path) -> str:
    return (
        f"{plan.path} was changed by others too, so only its servers are as they were; "
        f"the whole file from then is {backup}."
    )
