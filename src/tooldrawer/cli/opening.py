"""Which tools a command works on: recorded lists, or the real thing."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from tooldrawer import config as configuration
from tooldrawer.cli.output import notice
from tooldrawer.config import Config
from tooldrawer.dispatch import Approver
from tooldrawer.drawer import Drawer
from tooldrawer.errors import ConfigError
from tooldrawer.recorded import StaticToolset

if TYPE_CHECKING:
    from tooldrawer.upstream.pool import Pool

_PATIENCE = 30.0
"""Seconds that a command waits for servers whose tools it does not know."""

CatalogOption = Annotated[
    Path | None,
    typer.Option("--catalog", help="A recorded tools/list answer, or a folder of them."),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="A configuration; by default tooldrawer.yaml here or yours."),
]
ScopeOption = Annotated[
    str | None, typer.Option("--scope", help="A scope of the configuration, by name.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True, slots=True)
class Opened:
    """A drawer, and the scope to look at it with."""

    drawer: Drawer
    scope: str | None


def opened(
    catalog: Path | None,
    config: Path | None,
    *,
    scope: str | None = None,
    approver: Approver | None = None,
    live: bool = False,
) -> Opened:
    """The drawer that the options ask for.

    Servers are looked at and left again, unless it is to be `live`: then whoever asked connects
    them.

    Raises:
        ConfigError: There is no configuration for these options, or it is wrong.
        CatalogFileError: The recorded list cannot be read.
    """
    if catalog is None:
        drawer = Drawer.from_config(config, approver=approver)
        for note in drawer.config.notes:
            notice(note)
        if drawer.config.servers and not live:
            anyio.run(_look_at_servers, drawer)
    elif scope is not None and config is None:
        raise ConfigError(
            f"--scope {scope} names a scope of a configuration; say which one with --config."
        )
    else:
        settings = Config() if config is None else configuration.load(config)
        recorded = StaticToolset.load_all(catalog, template=settings.name_template)
        drawer = Drawer(recorded, config=settings, approver=approver)
    if not live:
        check_tools(drawer)
    return Opened(drawer, scope)


def check_tools(drawer: Drawer) -> None:
    """Return when there are any tools.

    Raises:
        ConfigError: There are none.
    """
    if not drawer.registry.snapshot().tools:
        raise ConfigError(
            "There are no tools here; name recorded lists with --catalog, put servers under "
            "`mcp_servers` in the configuration, or Python toolsets under `toolsets`."
        )


async def _look_at_servers(drawer: Drawer) -> None:
    """Put what each server offers, now or when it last ran, into the registry."""
    async with drawer.connected(lazy=True) as pool:
        await settled(pool)
        seen = [
            StaticToolset(
                upstream.spec.name,
                [tool.raw for tool in upstream.tools()],
                template=drawer.config.name_template,
            )
            for upstream in pool.upstreams
        ]
    for toolset in seen:
        drawer.registry.add(toolset)


async def settled(pool: "Pool") -> None:
    """Wait until each server is there or has failed, and say which did."""
    await pool.settled(_PATIENCE)
    for upstream in pool.upstreams:
        if not upstream.is_known and not upstream.spec.problem:  # that was said at the start
            error = upstream.status.error or f"it did not answer within {_PATIENCE:g} s"
            notice(f"{upstream.spec.name} is not there: {error}")
