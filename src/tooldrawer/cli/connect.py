"""`connect`: the gateway in the list of a program that uses MCP servers."""

import os
import shlex
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, cast

import typer

from tooldrawer import config as configuration
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.connect_launch import (
    HttpOptions,
    config_file,
    describe_refused_token,
    launch_command,
    launch_http,
    scope_of,
    without_stored,
)
from tooldrawer.cli.gateway_trial import Trial, start_of, try_gateway
from tooldrawer.cli.output import notice, show
from tooldrawer.cli.waiting_line import WaitingLine
from tooldrawer.clients.connection import (
    OUR_NAME,
    Plan,
    ServedEntry,
    connecting,
    served_entries,
    undoing,
    unserved_entries,
)
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import Client, Place, client_named
from tooldrawer.clients.launch import Launch
from tooldrawer.clients.replacement import Replacement, own_name, plan_replacement
from tooldrawer.clients.scoped_entries import divide_by_scope
from tooldrawer.clients.served import served_by
from tooldrawer.config.loading import FILE_NAME
from tooldrawer.config.secret_file import SecretFile
from tooldrawer.config.variables import known_variables
from tooldrawer.errors import ConfigError
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.spec import UpstreamSpec

_APPROVAL = "default_tools_approval_mode"
_ABOUT_CODEX = (
    "`codex exec` refuses every call of a tool that may change something, and the gateway's "
    "tool_call is one, whatever it calls. To let it run without a person, connect again with "
    "--approve-tools: Codex then asks about none of the gateway's tools. What tooldrawer itself "
    "asks about is asked all the same."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """The client's list that is changed."""

    client: Client
    place: Place
    folders: Folders
    name: str

    def plan(self, launch: Launch, removed: list[str] | None = None) -> Plan:
        return connecting(
            self.client, self.place, self.folders, launch, name=self.name, removed=removed or ()
        )

    def start(self, plan: Plan) -> UpstreamSpec:
        """How the client will start the gateway, or call it."""
        return start_of(self.client, self.name, plan.entry, plan.path)


def connect(
    client: Annotated[
        str,
        typer.Argument(
            help="claude-desktop, claude-code, cursor, vscode, codex, gemini or opencode."
        ),
    ],
    *,
    http: Annotated[
        str | None,
        typer.Option("--http", help="The address of a running gateway, instead of a command."),
    ] = None,
    token_env: Annotated[
        str,
        typer.Option("--token-env", help="With --http: the variable that has the client's token."),
    ] = "",
    new_token: Annotated[
        bool,
        typer.Option("--new-token", help="With --http: make a token and write it into the file."),
    ] = False,
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
    replace_servers: Annotated[
        bool,
        typer.Option("--replace", help="Take the servers out of the list that the gateway serves."),
    ] = False,
    save_variables: Annotated[
        bool,
        typer.Option(
            "--save-variables",
            help="Store variables that are set here and that the client does not pass on.",
        ),
    ] = False,
    approve_tools: Annotated[
        bool,
        typer.Option(
            "--approve-tools",
            help="Codex: call the gateway's tools without asking; `codex exec` needs it.",
        ),
    ] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Start the gateway once before writing.")
    ] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last change back.")] = False,
) -> None:
    """Put the gateway into a client's own list of servers."""
    found, folders = client_named(client), Folders.of_this_machine()
    target = _Target(client=found, place=found.place(place), folders=folders, name=name)
    if undo:
        _carry_out(undoing(found, target.place, folders, name=name), is_dry=dry_run)
        return
    if http is None and (token_env or new_token):
        option = "--token-env" if token_env else "--new-token"
        raise ConfigError(f"{option} is for a gateway at an address; add --http, or leave it out.")
    if approve_tools and found.name != "codex":
        raise ConfigError(f"--approve-tools is for Codex; {found.title} has settings of its own.")
    with ExitStack() as stack:
        if http is None:
            launch = launch_command(config, scope)
        else:
            options = HttpOptions(address=http, token_variable=token_env, is_new_token=new_token)
            launch = launch_http(found, target.place, options, scope, stack)
        launch = replace(launch, approves_tools=approve_tools)
        entries = _replaceable(target, config, scope_of(launch, scope)) if replace_servers else []
        plan = target.plan(launch)
        if entries or plan.is_needed:
            known = known_variables(target.start(plan).env)
            replacement = plan_replacement(entries, known)
            saved = _unpassed(launch, known) if save_variables else {}
            _store(stack, {**saved, **replacement.values})
            plan = _checked(target, without_stored(launch), replacement, is_checked=check)
        _carry_out(plan, is_dry=dry_run, undo=_undo_command(target))
        if not dry_run:
            stack.pop_all()  # what was prepared stays
    if found.name == "codex" and _APPROVAL not in cast("JsonObject", plan.entry):
        notice(_ABOUT_CODEX)


def _checked(
    target: _Target, launch: Launch, replacement: Replacement, *, is_checked: bool
) -> Plan:
    """The change to make, once the gateway came up.

    Raises:
        ConfigError: It did not, so nothing is changed.
    """
    title, everything = target.client.title, [one.name for one in replacement.entries]
    if not is_checked:
        return target.plan(launch, everything)
    if sys.platform == "win32":
        notice("On Windows the gateway is not started for a check.")
        return target.plan(launch, everything)
    if not launch.url:
        show(f"Starting the gateway once, as {title} will.")
    with WaitingLine() as line:
        trial = try_gateway(target.start(target.plan(launch)), line.update)
    if trial.problem:
        verb = "call" if launch.url else "start"
        raise ConfigError(
            f"The gateway does not come up as {title} would {verb} it, so nothing was changed. "
            f"{trial.problem}{describe_refused_token(launch, trial.problem)}"
        )
    _tell_servers(trial, launch, target)
    removed = replacement.removed({one.name for one in trial.servers or () if one.is_up})
    _tell_kept(trial, replacement, removed, title)
    return target.plan(launch, removed)


def _tell_servers(trial: Trial, launch: Launch, target: _Target) -> None:
    if trial.servers is None:
        show("The gateway answers.")
        return
    if not trial.servers:
        show(f"The gateway answers, and lists {counted(trial.tools, 'tool')}.")
        return
    up = len(trial.servers) - len(trial.down)
    show(f"The gateway answers; {up} of {len(trial.servers)} servers are up.")
    for one in trial.down:
        notice(f"{one.name} is down behind the gateway: {one.reason}")
    if trial.down and not launch.url:
        known = known_variables(target.start(target.plan(launch)).env)
        if names := ", ".join(_unpassed(launch, known)):
            notice(
                f"{target.client.title} does not pass {names} on, though it is set here: store it "
                "for the gateway with --save-variables."
            )


def _tell_kept(trial: Trial, replacement: Replacement, removed: list[str], title: str) -> None:
    """Say which servers stay in the client's list though the gateway serves them."""
    if trial.servers is None and replacement.entries:
        reason = "its servers cannot be seen from here"
    else:
        reason = "it is down behind the gateway"
    kept = {one.name: reason for one in replacement.entries if one.name not in removed}
    for name, why in {**replacement.kept, **kept}.items():
        notice(f"{name} stays in the list of {title}: {why}.")


def _unpassed(launch: Launch, known: dict[str, str]) -> dict[str, str]:
    """Variables that the configuration needs, that are set here, and that the client lacks."""
    own = {name: os.environ.get(name, "") for name in launch.variables}
    return {name: text for name, text in own.items() if text and not known.get(name)}


def _store(stack: ExitStack, values: dict[str, str]) -> None:
    """Store values for the gateway; they go again when the block fails."""
    secrets = SecretFile()
    added = secrets.add(values)
    stack.callback(secrets.remove, added)
    if added:
        show(f"Stored in {secrets.path}, which only you can read: {', '.join(added)}.")


def _replaceable(target: _Target, config: Path | None, scope: str) -> list[ServedEntry]:
    """The servers of the client's list that the gateway gives to this client, too."""
    file, place, folders = config_file(config), target.place, target.folders
    served = served_by(file, without=place.file(folders), folders=folders)
    entries = served_entries(target.client, place, folders, served, name=target.name)
    if not entries:
        notice(_nothing_replaced(target.client))
    others = unserved_entries(target.client, place, folders, entries, name=target.name)
    for name, why in others.items():
        end = "" if why.endswith("?") else "."
        notice(f"{name} stays in the list of {target.client.title}: {why}{end}")
    if not scope or not entries:
        return entries
    settings, title = configuration.gather(file), target.client.title
    if scope not in settings.scopes:
        notice(f"The scope {scope!r} is not in {file}, so all servers stay in the list of {title}.")
        return []
    names = [own_name(spec) for spec in served]
    template = settings.name_template
    divided = divide_by_scope(entries, settings.scopes[scope], names, template=template)
    for name in divided.others:
        notice(f"{name} stays in the list of {title}: the scope {scope!r} does not admit it.")
    if divided.in_part:
        notice(
            f"The scope {scope!r} may keep some tools from {title} that it has now, of: "
            f"{', '.join(divided.in_part)}."
        )
    return list(divided.admitted)


def _nothing_replaced(client: Client) -> str:
    return (
        f"No server of {client.title} is served by tooldrawer yet; take them over first with "
        f"`tooldrawer import --from {client.name} --write {FILE_NAME}`."
    )


def _undo_command(target: _Target) -> str:
    """Return the command that takes back what this one wrote."""
    usual = target.client.place(None)
    place = "" if target.place == usual else f" --place {target.place.where}"
    name = "" if target.name == OUR_NAME else f" --name {shlex.quote(target.name)}"
    return f"tooldrawer connect {target.client.name}{place}{name} --undo"


def _carry_out(plan: Plan, *, is_dry: bool, undo: str = "") -> None:
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
        kept = f"the file from before is {backup}" if plan.before is not None else "it is new"
        show(f"{plan.path} is written; {kept}. Take it back with `{undo}`.")


def _partly(plan: Plan, backup: Path) -> str:
    return (
        f"{plan.path} was changed by something else too, so only its list of servers was put "
        f"back; the whole file from before is {backup}."
    )
