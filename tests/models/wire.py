"""What the server asks of a wire."""

from typing import Protocol

from tests.models.request import JsonObject, Options, Request, Seen
from tests.models.script import Fail, Turn
from tests.models.stream import Reply
from tests.models.usage import Usage


class Wire(Protocol):
    """One provider's words for the same turn."""

    name: str

    def read(self, request: Request, options: Options) -> Seen:
        """What a model sees, or Refused."""
        ...

    def answer(self, turn: Turn, seen: Seen, usage: Usage, number: int) -> Reply:
        """The turn, whole and as events."""
        ...

    def fail(self, fail: Fail) -> JsonObject:
        """The body of an error."""
        ...

    def fail_event(self, fail: Fail) -> bytes:
        """An error in the middle of a stream."""
        ...
