"""Which tools a command works on: recorded lists, or the real thing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tooldrawer import config as configuration
from tooldrawer.cli.output import notice
from tooldrawer.config import Config
from tooldrawer.dispatch import Approver
from tooldrawer.drawer import Drawer
from tooldrawer.errors import ConfigError
from tooldrawer.recorded import StaticToolset

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
) -> Opened:
    """The drawer that the options ask for.

    Raises:
        ConfigError: There is no configuration for these options, or it is wrong.
        CatalogFileError: The recorded list cannot be read.
    """
    if catalog is None:
        drawer = Drawer.from_config(config, approver=approver)
        _mention_servers(drawer.config)
    elif scope is not None and config is None:
        raise ConfigError(
            f"--scope {scope} names a scope of a configuration; say which one with --config."
        )
    else:
        settings = Config() if config is None else configuration.load(config)
        recorded = StaticToolset.load_all(catalog, template=settings.name_template)
        drawer = Drawer(recorded, config=settings, approver=approver)
    if not drawer.registry.snapshot().tools:
        raise ConfigError(
            "There are no tools here; name recorded lists with --catalog, "
            "or put Python toolsets under `toolsets` in the configuration."
        )
    return Opened(drawer, scope)


def _mention_servers(config: Config) -> None:
    if config.servers:
        names = ", ".join(server.name for server in config.servers)
        notice(f"Not searched: this version does not start MCP servers yet ({names}).")
