"""`run`: an agent without a person, for one task."""

import sys
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
from tooldrawer.cli.headless import work
from tooldrawer.cli.opening import ConfigOption, ScopeOption
from tooldrawer.cli.resuming import Resuming
from tooldrawer.errors import ConfigError

_TURNS = 20


def run(
    *,
    task: Annotated[str, typer.Argument(help="What to do; - reads it from standard input.")],
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
        str | None, typer.Option("--resume", help="Go on with a conversation, by its id.")
    ] = None,
    last: Annotated[
        bool, typer.Option("--continue", "-c", help="Go on with the last one of this folder.")
    ] = False,
    no_store: NoStoreOption = False,
    max_turns: TurnsOption = _TURNS,
    json: Annotated[
        bool, typer.Option("--json", help="Print everything that happens, as lines of JSON.")
    ] = False,
) -> None:
    """Have an agent do one task, with nobody to ask.

    The answer is on standard output, what it did on standard error. The exit code is 0 when it
    came to an end, 1 when it did not, 2 when it could not work at all.
    """
    text = sys.stdin.buffer.read().decode(errors="replace") if task == "-" else task
    if not text.strip():
        raise ConfigError("There is no task. Write it after the options, or - to pipe it in.")
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
    resuming = Resuming(wanted=resume or "", chosen=resume is not None, last=last)
    raise typer.Exit(anyio.run(partial(work, choices, resuming, text, json=json)))
