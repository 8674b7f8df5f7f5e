"""How much of what servers log each client of the handshake era wants to see."""

from typing import get_args

from mcp.server.connection import Connection
from mcp_types import LoggingLevel

from tooldrawer.gateway.changes import Context

_LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
"""From the most lines to the fewest."""


class Levels:
    """Says it once for a connection. Servers serve several, so they log what anybody wants."""

    def __init__(self) -> None:
        self._wanted: dict[Connection, LoggingLevel] = {}

    def want(self, ctx: Context, level: LoggingLevel) -> LoggingLevel:
        """Note what this client wants; what servers have to log for all of them."""
        connection = _connection(ctx)
        if connection not in self._wanted:
            connection.exit_stack.callback(self._wanted.pop, connection, None)
        self._wanted[connection] = level
        return min(self._wanted.values(), key=_LEVELS.index)

    def of(self, ctx: Context) -> LoggingLevel | None:
        """What this client wants; `None` when it never said."""
        return self._wanted.get(_connection(ctx))


def reaches(level: object, least: LoggingLevel) -> bool:
    """Whether a line of `level` is one of those that `least` asks for."""
    return level in _LEVELS and _LEVELS.index(level) >= _LEVELS.index(least)


def _connection(ctx: Context) -> Connection:
    # The only thing that lasts as long as the client does, and the SDK hides it.
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage]
