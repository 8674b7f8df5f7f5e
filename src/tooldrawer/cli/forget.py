"""`forget`: delete conversations of the agent."""

from typing import Annotated

import typer

from tooldrawer.agent.conversations import Conversations
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.output import show, tell
from tooldrawer.cli.resuming import deleted, show_conversations
from tooldrawer.errors import ConfigError

_MOST = 20


def forget(
    conversations: Annotated[
        list[str] | None,
        typer.Argument(help="Their ids, or the letters that each begins or ends with."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Delete every one.")] = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Delete conversations of `chat` and `run`; without an id, list the latest."""
    store = Conversations()
    if everything and conversations:
        raise ConfigError("--all deletes every conversation; leave out the ids, or --all.")
    if everything:
        tell(f"Deleted {counted(len(store.forget()), 'conversation')}, subagents' included.")
        tell(
            "The model's notes (memory.md) and the lines that you typed (history) are not "
            f"conversations; they stay in {store.path.parent}."
        )
    elif conversations:
        # All are looked for before one is deleted: a mistake deletes nothing.
        for info in [store.find(wanted) for wanted in conversations]:
            store.forget(info.id)
            tell(deleted(info))
    elif found := store.recent(_MOST):
        show_conversations(found)
        tell("Delete one with `tooldrawer forget` and its id, all with `tooldrawer forget --all`.")
    else:
        show("No conversation is kept.")
