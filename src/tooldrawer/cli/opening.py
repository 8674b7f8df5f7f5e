"""Which tools a command works on: recorded lists, or the real thing."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from tooldrawer import config as configuration
from tooldrawer.cli.absent_servers import AbsentServer, find_absent, hush_disabled, tell_absent
from tooldrawer.cli.output import notice
from tooldrawer.config import Config
from tooldrawer.dispatch import Approver
from tooldrawer.drawer import Drawer
from tooldrawer.errors import ConfigError
from tooldrawer.patterns import server_namings
from tooldrawer.recorded import StaticToolset
from tooldrawer.tool import UPSTREAM_PREFIX

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
    absent: tuple[AbsentServer, ...] = ()
    """Servers of the scope whose tools are not known."""


def opened(
    catalog: Path | None,
    config: Path | None,
    *,
    scope: str | None = None,
    approver: Approver | None = None,
    live: bool = False,
    tells_absent: bool = True,
) -> Opened:
    """The drawer that the options ask for.

    Servers are looked at and left again, unless it is to be `live`: then whoever asked connects
    them. Without `tells_absent` servers that are not there are left to the caller.

    Raises:
        ConfigError: There is no configuration for these options, or it is wrong.
        CatalogFileError: The recorded list cannot be read.
    """
    absent: tuple[AbsentServer, ...] = ()
    if catalog is None:
        hush_disabled()
        if config is None:
            _check_found()
        drawer = Drawer.from_config(config, approver=approver)
        for note in drawer.config.notes:
            notice(note)
        if drawer.config.servers and not live:
            absent = admit_absent(drawer, scope, anyio.run(_look_at_servers, drawer))
            if tells_absent:
                tell_absent(absent)
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
    return Opened(drawer, scope, absent)


def _check_found() -> None:
    """Return when there is a configuration.

    Raises:
        ConfigError: There is none; it names the option with which these commands need none.
    """
    try:
        configuration.find()
    except ConfigError as error:
        raise ConfigError(f"{error} Or name recorded tool lists with --catalog.") from error


def admit_absent(
    drawer: Drawer, scope: str | None, absent: tuple[AbsentServer, ...]
) -> tuple[AbsentServer, ...]:
    """Leave out servers that a scope does not let its client know of."""
    if scope is None or scope not in drawer.config.scopes:
        return absent
    names = (f"{UPSTREAM_PREFIX}{spec.name}" for spec in drawer.config.servers)
    namings = server_namings(names, template=drawer.config.name_template)
    admits = drawer.config.scopes[scope].may_name
    toolsets = {each: f"{UPSTREAM_PREFIX}{each.name}" for each in absent}
    return tuple(each for each, name in toolsets.items() if admits(name, namings.get(name)))


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


async def _look_at_servers(drawer: Drawer) -> tuple[AbsentServer, ...]:
    """Put what each server offers, now or when it last ran, into the registry."""
    async with drawer.connected(lazy=True) as pool:
        absent = await settled(pool)
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
    return absent


async def settled(pool: "Pool") -> tuple[AbsentServer, ...]:
    """Wait until each server is there or has failed; return those that did."""
    await pool.settled(_PATIENCE)
    return find_absent(pool.upstreams, waited_s=_PATIENCE)
