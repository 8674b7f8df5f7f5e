"""The commands; each is a thin call into the library."""

from importlib.metadata import version
from typing import Annotated

import typer

from tooldrawer.cli import bench, check, demo, token
from tooldrawer.cli.approve import approve, deny
from tooldrawer.cli.call import call
from tooldrawer.cli.chat import chat
from tooldrawer.cli.connect import connect
from tooldrawer.cli.forget import forget
from tooldrawer.cli.importing import import_servers
from tooldrawer.cli.look import describe, explain, find, tools
from tooldrawer.cli.output import show
from tooldrawer.cli.run import run
from tooldrawer.cli.serve import serve
from tooldrawer.cli.status import status
from tooldrawer.cli.trust import trust
from tooldrawer.cli.watch import watch

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: the boxes show `<bool>` for every flag
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serve)
app.command()(chat)
app.command()(run)
app.command()(forget)
app.command()(find)
app.command()(tools)
app.command()(describe)
app.command()(call)
app.command()(explain)
app.command()(status)
app.command()(watch)
app.command()(approve)
app.command()(deny)
app.command(name="import")(import_servers)
app.command()(connect)
app.command()(trust)
app.add_typer(check.app, name="config")
app.command(name="demo")(demo.demo)
app.add_typer(bench.app, name="bench")
app.add_typer(token.app, name="token")


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
