"""`watch`: the live activity of a running gateway."""

import sys
import time
from typing import Annotated

import typer

from tooldrawer.activity.sinks import from_json
from tooldrawer.cli.feed import Feed
from tooldrawer.cli.opening import JsonOption
from tooldrawer.cli.output import harmless, notice, show
from tooldrawer.cli.running import PidOption, gateway


def watch(
    session: Annotated[
        str | None, typer.Option("--session", help="Show only this session.")
    ] = None,
    last: Annotated[int, typer.Option(min=0, help="Number of recent events to show first.")] = 20,
    pid: PidOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Show each search, call and result of a running gateway until it stops."""
    chosen = gateway(pid)
    notice(f"Watching the gateway {chosen.card.pid}; press Ctrl-C to stop.")
    feed = Feed()
    for text in chosen.events(last=last, session=session):
        row = text if json else _format_row(feed, text)
        if row:
            # One event, one line: text from a server cannot start a second one.
            show(harmless(row, keep=""))
            sys.stdout.flush()
    notice(f"The gateway {chosen.card.pid} stopped.")


def _format_row(feed: Feed, text: str) -> str | None:
    """Return the line to print; None for an unknown event of a later version or a repetition."""
    event = from_json(text)
    line = None if event is None else feed.format_event(event)
    if event is None or line is None:
        return None
    return f"{time.strftime('%H:%M:%S', time.localtime(event.at))} {line}"
