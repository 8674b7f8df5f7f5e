"""Which conversation to go on with."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import time

import anyio.to_thread

from tooldrawer.agent.conversations import Info
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.keyboard import next_line
from tooldrawer.cli.output import show, table, tell
from tooldrawer.cli.running import spoken
from tooldrawer.cli.station import Station
from tooldrawer.cli.width import cut
from tooldrawer.errors import ConfigError
from tooldrawer.wire.message import Answered, Message, Said

_MOST = 10
_MOST_READ = 200
_LAST = 4
_SHORT = 72


@dataclass(frozen=True, slots=True, kw_only=True)
class Resuming:
    """What a person said about it."""

    wanted: str = ""
    """An id, or a part of one."""
    chosen: bool = False
    """They want to go on with some earlier one."""
    last: bool = False
    """They want the last one of this folder."""

    async def find(self, station: Station) -> Info | None:
        """The conversation that is meant; None is a new one.

        Raises:
            ToolDrawerError: There is no such conversation, or nobody said which.
        """
        if not (self.chosen or self.last):
            return None
        if station.store is None:
            raise ConfigError(
                "Conversations are not kept here (agent.store), so there is none to go on with."
            )
        if self.wanted:
            return await named(station, self.wanted)
        found = await recent(station)
        if not found:
            raise ConfigError(
                "No conversation was kept in this folder so far. Begin one without --continue or "
                "--resume."
            )
        return found[0] if self.last else await _choice(station, found)


async def _choice(station: Station, found: Sequence[Info]) -> Info:
    show_conversations(found)
    if not sys.stdin.isatty():
        raise ConfigError("Say which one: --resume and its id.")
    sys.stderr.write("Which one? Its id, or Enter for the latest: ")
    sys.stderr.flush()
    answer = (await next_line(sys.stdin)).strip()
    return await named(station, answer or found[0].id)


async def recent(station: Station) -> list[Info]:
    """The conversations of this folder and scope, the latest first."""
    assert station.store is not None, "the caller looked"
    look = partial(station.store.recent, _MOST_READ, cwd=str(station.plan.workplace.root))
    found = await anyio.to_thread.run_sync(look)
    return [info for info in found if info.scope == station.plan.scope_label][:_MOST]


async def named(station: Station, beginning: str) -> Info:
    """The conversation of that id.

    Raises:
        ToolDrawerError: There is none, or what was said in it is of another scope.
    """
    assert station.store is not None, "the caller looked"
    info = await anyio.to_thread.run_sync(station.store.find, beginning)
    if info.scope != station.plan.scope_label:
        raise ConfigError(
            f"The conversation {info.id} had {_scope(info.scope)}, this one would have "
            f"{_scope(station.plan.scope_label)}. Start with the same --scope and --toolsets."
        )
    return info


def _scope(label: str) -> str:
    return f"the scope {label!r}" if label else "no scope"


def show_conversations(found: Sequence[Info]) -> None:
    """A table to choose from."""
    rows = [
        (info.id, info.title, f"{spoken(time() - info.last)} ago", f"{info.turns:,}")
        for info in found
    ]
    table(("id", "begins with", "last", "messages"), rows, numbers=2)


def deleted(info: Info) -> str:
    """What is said of a conversation that is no more."""
    return f"Deleted {info.id}{f': {info.title}' if info.title else '.'}"


def show_last(station: Station, info: Info) -> None:
    """Where a conversation stands: its last messages in short."""
    said = [line for each in station.agent.conversation.messages if (line := _in_short(each))]
    tell(f"Going on with {info.id}, {counted(info.turns, 'message')} of yours so far:")
    for line in said[-_LAST:]:
        show(f"  {line}")


def _in_short(message: Message) -> str:
    match message:
        case Said():
            return f"you:   {_first(message.text)}"
        case Answered() if message.text.strip():
            return f"model: {_first(message.text)}"
        case _:
            return ""


def _first(text: str) -> str:
    return cut(" ".join(text[: 10 * _SHORT].split()), _SHORT)
