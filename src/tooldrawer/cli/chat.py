"""`chat`: an agent in the terminal."""

from functools import partial
from typing import Annotated

import anyio
import typer

from tooldrawer.cli.agent_options import (
    AllowDirOption,
    BaseUrlOption,
    BridgeOption,
    Choices,
    ContextOption,
    ModelOption,
    NoStoreOption,
    ReadOnlyOption,
    ToolsetsOption,
    TurnsOption,
    WireOption,
    YesOption,
    split,
)
from tooldrawer.cli.opening import ConfigOption, ScopeOption
from tooldrawer.cli.resuming import Resuming
from tooldrawer.errors import ConfigError


def chat(
    *,
    conversation: Annotated[
        str | None,
        typer.Argument(help="After --resume: its id, or the letters that it begins or ends with."),
    ] = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    wire: WireOption = None,
    context_length: ContextOption = None,
    bridge: BridgeOption = None,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    toolsets: ToolsetsOption = None,
    yes: YesOption = False,
    read_only: ReadOnlyOption = False,
    allow_dir: AllowDirOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an earlier conversation.")
    ] = False,
    last: Annotated[
        bool, typer.Option("--continue", "-c", help="Go on with the last one of this folder.")
    ] = False,
    no_store: NoStoreOption = False,
    max_turns: TurnsOption = None,
) -> None:
    """Talk to an agent that has your tools and its own."""
    if conversation is not None and not resume:
        raise ConfigError(
            f"{conversation!r} is not a valid option. Write messages after the start or pipe them "
            "in; to go on with a conversation, say --resume before its id."
        )
    if (resume or last) and no_store:
        raise ConfigError("--no-store keeps no conversation, so there is none to go on with.")
    choices = Choices(
        model=model,
        base_url=base_url,
        wire=wire,
        context_length=context_length,
        bridge=bridge,
        config=config,
        scope=scope,
        toolsets=split(toolsets),
        yes=yes,
        read_only=read_only,
        allow_dirs=tuple(allow_dir or ()),
        store=not no_store,
        max_turns=max_turns,
    )
    try:  # imported here: `prompt_toolkit` is optional, and the help works without it
        from tooldrawer.cli.conversing import converse  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "prompt_toolkit":
            raise
        raise ConfigError(
            "The packages of the agent are not installed: pip install 'tooldrawer[agent]'"
        ) from error
    resuming = Resuming(wanted=conversation or "", chosen=resume, last=last)
    raise typer.Exit(anyio.run(partial(converse, choices, resuming)))
