"""Why a server cannot be reached."""

from tooldrawer.errors import ToolDrawerError


class Unreachable(ToolDrawerError):
    """There is no connection: a whole sentence, or its end after `it`. Stays in the supervisor."""

    def __init__(
        self,
        message: str,
        *,
        is_final: bool = False,
        is_gone: bool = False,
        dislikes_discover: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_final = is_final
        """Whether trying again soon is no use: somebody has to change something first."""
        self.is_gone = is_gone
        """Whether it was the server that ended it; else how its process ended is our doing."""
        self.dislikes_discover = dislikes_discover
        """Whether the next attempt should begin with the handshake."""
