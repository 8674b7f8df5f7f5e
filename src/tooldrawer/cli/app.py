"""The commands; each is a thin call into the library, imported when it is used."""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from tooldrawer.cli.output import show

COMMANDS = {
    "serve": ("serve:serve", "Serve all your MCP servers as one."),
    "chat": ("chat:chat", "Talk to an agent that has your tools and its own."),
    "run": ("run:run", "Have an agent do one task, with nobody to ask."),
    "forget": (
        "forget:forget",
        "Delete conversations of `chat` and `run`; without an id, list the latest.",
    ),
    "find": ("look:find", "Find tools by what they do."),
    "tools": ("look:tools", "Show all tools by toolset, with what their schemas cost."),
    "describe": ("look:describe", "Show one tool: its signature, description and schema."),
    "call": ("call:call", "Run one tool, with every hook, guardrail and question on its way."),
    "explain": (
        "look:explain",
        "Explain why tool search is active or inactive, and what the model would see.",
    ),
    "status": (
        "status:status",
        "Show the gateways that run, their servers and what the drawer saves.",
    ),
    "watch": (
        "watch:watch",
        "Show each search, call and result of a running gateway until it stops.",
    ),
    "approve": (
        "approve:approve",
        "Show the calls that wait for a person, or let one run; for a person at a terminal.",
    ),
    "deny": ("approve:deny", "Refuse a call that waits for a person."),
    "import": (
        "importing:import_servers",
        "Find the MCP servers of other programs, and take them over.",
    ),
    "connect": ("connect:connect", "Put the gateway into a client's own list of servers."),
    "trust": (
        "trust:trust",
        "Show what the configuration of this folder starts and changes, and trust it.",
    ),
    "demo": (
        "demo:demo",
        "Show the drawer at work: 80 local tools, and a scripted model that uses some.",
    ),
    "config": ("check:app", "The configuration file."),
    "bench": ("bench:app", "Measure speed, memory, prompt cost and what searches find."),
    "token": (
        "token:app",
        "Tokens for the gateway over HTTP: each opens one scope, or the whole drawer.",
    ),
}
"""Where each command is in this package, and its line in the help.

The help shows these lines because importing every command takes longer than most commands run.
"""


class LazyCommand(TyperCommand):
    """A command in the table: imports the command of its name to parse and run it."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Parse the arguments as the command itself does; its context runs it."""
        return load_command(str(self.name)).make_context(*args, **extra)


def load_command(name: str) -> Any:
    """Import a command of the table and build its parser."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"tooldrawer.cli.{module}"), attribute)
    parent = _create_app()
    parent.callback()(_do_nothing)  # with a callback even a single command has a group
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name)
    else:
        parent.command(name=name)(found)
    group = get_command(parent)
    assert isinstance(group, TyperGroup)
    return group.commands[name]


def _create_app() -> typer.Typer:
    return typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: the boxes show `<bool>` for every flag
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _do_nothing() -> None:
    pass


app = _create_app()
for _name, (_, _summary) in COMMANDS.items():
    app.command(name=_name, help=_summary, cls=LazyCommand)(_do_nothing)


def _show_version(wanted: bool) -> None:  # noqa: FBT001  typer's way to hand over a flag
    if wanted:
        show(f"tooldrawer {version('tooldrawer')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show it.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Every tool in the drawer, only the right ones on the bench."""
