"""Who is behind a call: what a server may show them, or ask them, while its tool runs."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Protocol

from tooldrawer.tool import JsonObject


class EndClient(Protocol):
    """The client whose model made a call. JSON is in MCP's words throughout."""

    @property
    def key(self) -> str:
        """Who it is: the same for all calls of one client, another for another person's."""
        ...

    @property
    def owner(self) -> str:
        """On whose behalf it calls: the same for all clients of one principal."""
        ...

    @property
    def protocol(self) -> str:
        """The version of MCP that its request speaks."""
        ...

    @property
    def capabilities(self) -> JsonObject:
        """What it declared: `elicitation`, `sampling`, `roots`."""
        ...

    @property
    def meta(self) -> JsonObject:
        """Its request's `_meta`, without what belongs to that connection alone."""
        ...

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Show how far the call is."""
        ...

    async def log(self, params: JsonObject) -> None:
        """Show a line that the server logged: the params of `notifications/message`."""
        ...

    async def ask(self, questions: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        """Put questions, `{"method": "elicitation/create", "params": {...}}`, and wait.

        The answers are results in MCP's words, under the questions' keys.

        Raises:
            CannotAsk: The client did not declare that it can answer one of them.
        """
        ...


class CannotAsk(Exception):
    """The client behind a call cannot be asked that."""


BEHIND: ContextVar[EndClient | None] = ContextVar("tooldrawer_behind", default=None)
"""The client behind the call that this task runs; nobody when a program calls."""
