"""What a person may choose for an agent, on the command line."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from tooldrawer.config import Config
from tooldrawer.patterns import server_namings
from tooldrawer.scope import Scope

ModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Its name; else the configuration's or TOOLDRAWER_MODEL."),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", help="Of an endpoint: Ollama, vLLM, LM Studio, a proxy."),
]
WireOption = Annotated[
    Literal["chat", "responses", "anthropic"] | None,
    typer.Option("--wire", help="Whose words it speaks, when its name does not tell."),
]
ContextOption = Annotated[
    int | None,
    typer.Option("--context-length", min=1, help="Of the model, in tokens, when it is not known."),
]
BridgeOption = Annotated[
    Literal["auto", "native", "portable"] | None,
    typer.Option("--bridge", help="Whether the provider's own deferral is used."),
]
ToolsetsOption = Annotated[
    str | None,
    typer.Option(
        "--toolsets",
        help="Only these, by comma; the agent's own tools are the toolset core.",
    ),
]
YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Say yes to everything that a person would be asked.")
]
ReadOnlyOption = Annotated[
    bool, typer.Option("--read-only", help="Run nothing that may change something.")
]
AllowDirOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--allow-dir",
        exists=True,
        file_okay=False,
        help="A folder besides this one to work in; may be given again.",
    ),
]
NoStoreOption = Annotated[
    bool, typer.Option("--no-store", help="Do not keep the conversation on disk.")
]
TurnsOption = Annotated[
    int | None, typer.Option("--max-turns", min=1, help="Requests to the model for one task.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What was chosen; None and empty where nothing was."""

    model: str | None = None
    base_url: str | None = None
    wire: Literal["chat", "responses", "anthropic"] | None = None
    context_length: int | None = None
    bridge: Literal["auto", "native", "portable"] | None = None
    config: Path | None = None
    scope: str | None = None
    toolsets: tuple[str, ...] | None = None
    yes: bool = False
    read_only: bool = False
    allow_dirs: tuple[Path, ...] = ()
    store: bool = True
    max_turns: int | None = None

    def within(self, config: Config) -> Config:
        """The configuration without the servers that the scope does not admit: none is started."""
        outer = config.scopes.get(self.scope, Scope()) if self.scope else Scope()
        inner = Scope() if self.toolsets is None else Scope(toolsets=self.toolsets)
        scope = inner.within(outer)
        namings = server_namings(
            (server.toolset for server in config.servers), template=config.name_template
        )
        servers = tuple(
            server
            for server in config.servers
            if scope.can_admit(server.toolset, namings[server.toolset])
        )
        return replace(config, servers=servers)


def split(names: str | None) -> tuple[str, ...] | None:
    """Names by comma; None when nothing was said."""
    if names is None:
        return None
    return tuple(name for part in names.split(",") if (name := part.strip()))
