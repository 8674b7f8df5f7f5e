"""`watch`: what a running gateway does, as it happens."""

import sys
import time
from typing import Annotated

import typer

from tooldrawer.activity.sinks import from_json
from tooldrawer.cli.feed import line
from tooldrawer.cli.opening import JsonOption
from tooldrawer.cli.output import harmless, notice, show
from tooldrawer.cli.running import PidOption, gateway


def watch(
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    last: Annotated[
        int, typer.Option(min=0, help="How many of the last events to begin with.")
    ] = 20,
    pid: PidOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Show each search, call and answer of a gateway that runs, until it stops."""
    chosen = gateway(pid)
    notice(f"Watching the gateway {chosen.card.pid}; Ctrl-C ends it.")
    for text in chosen.events(last=last, session=session):
        shown = text if json else _told(text)
        if shown:
            # One event, one line: whatever a server wrote cannot make a second one.
            show(harmless(shown, keep=""))
            sys.stdout.flush()
    notice(f"The gateway {chosen.card.pid} stopped.")


def _told(text: str) -> str:
    """An event of a later version, which nobody knows here, is nothing."""
    event = from_json(text)
    if event is None:
        return ""
    return f"{time.strftime('%H:%M:%S', time.localtime(event.at))} {line(event)}"
