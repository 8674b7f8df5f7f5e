"""Who answers: anything that takes a request and gives one answer."""

from collections.abc import Callable
from typing import Protocol

from tooldrawer.agent.spec import ModelSpec
from tooldrawer.wire.message import Answered, Request


class Model(Protocol):
    """A model that can be asked, again and again, in one task at a time or in several."""

    @property
    def spec(self) -> ModelSpec:
        """Which model it is, and what is known about it."""
        ...

    async def answer(self, request: Request, said: Callable[[str], None]) -> Answered:
        """One answer; `said` gets each piece of its text as it comes.

        Raises:
            ModelFailed: There is none. `AnswerCut` when a part of it had come.
        """
        ...
