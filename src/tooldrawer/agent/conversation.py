"""One conversation: what is in the prompt, and its copy on disk."""

import sqlite3
from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread

from tooldrawer.errors import ToolDrawerError
from tooldrawer.wire.message import Message, Summary


class Keeper(Protocol):
    """Where messages are kept; called in a worker thread."""

    def append(self, conversation: str, message: Message) -> None:
        """Keep one more message."""
        ...

    def compacted(self, conversation: str, summary: Summary, *, replaces: int) -> None:
        """The first `replaces` messages of the live part now stand in `summary`."""
        ...


class Conversation:
    """The messages that a model is sent. Nothing in it is rewritten but by a summary."""

    def __init__(
        self,
        name: str = "",
        *,
        messages: Iterable[Message] = (),
        keeper: Keeper | None = None,
        noticed: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self.name = name
        self.messages: list[Message] = list(messages)
        self._keeper = keeper
        self._noticed = noticed

    async def keep(self, message: Message) -> None:
        """Add `message`; it is on disk when this returns, also when the task was cancelled."""
        self.messages.append(message)
        if self._keeper is not None:
            await self._write(partial(self._keeper.append, self.name, message))

    async def compact(self, summary: Summary, *, replaces: int) -> None:
        """Put `summary` in the place of the first messages."""
        self.messages[:replaces] = [summary]
        if self._keeper is not None:
            write = partial(self._keeper.compacted, self.name, summary, replaces=replaces)
            await self._write(write)

    async def _write(self, write: Callable[[], None]) -> None:
        try:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(write)
        except (OSError, sqlite3.Error, ToolDrawerError) as error:
            # A full disk must not end a conversation; it goes on unkept, and says so once.
            self._keeper = None
            self._noticed(f"The conversation is not kept from here on: {error}")
