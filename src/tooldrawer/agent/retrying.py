"""A model that is asked again when its endpoint was busy, and says so."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from tooldrawer.agent.model import Model
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import AnswerCut, ModelFailed, ModelOverloaded, ModelUnreachable
from tooldrawer.wire.message import Answered, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how long."""

    overloaded: int = 5
    """Requests in all while the endpoint is busy."""
    unreachable: int = 2
    """Requests in all while nothing answers: each may last as long as the timeout."""
    first: float = 1.0
    """Seconds of the first wait; each is twice the one before."""
    longest: float = 60.0
    """Seconds of the longest wait. An endpoint that asks for more is not waited for."""


class Retrying:
    """A `Model` around a model.

    Once a piece of the answer was said it is never asked again: the person would read it twice.
    """

    def __init__(
        self,
        model: Model,
        waiting: Callable[[float, ModelFailed], None],
        *,
        patience: Patience | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`waiting` is told of each wait: the seconds, and what happened."""
        self._model = model
        self._waiting = waiting
        self._patience = patience or Patience()
        self._sleep = sleep
        self._chance = chance

    @property
    def spec(self) -> ModelSpec:
        """Which model it is."""
        return self._model.spec

    async def answer(self, request: Request, said: Callable[[str], None]) -> Answered:
        """One answer, be it from a later try.

        Raises:
            ModelFailed: There is none, and no more try is worth it.
        """
        pieces: list[str] = []

        def heard(text: str) -> None:
            pieces.append(text)
            said(text)

        tried = 0
        while True:
            tried += 1
            try:
                return await self._model.answer(request, heard)
            except (ModelOverloaded, ModelUnreachable) as failure:
                if pieces:
                    raise AnswerCut(
                        f"The answer broke off. {failure}", text="".join(pieces)
                    ) from failure
                wait = self._wait(tried, failure)
                if wait is None:
                    raise
                self._waiting(wait, failure)
            await self._sleep(wait)

    def _wait(self, tried: int, failure: ModelOverloaded | ModelUnreachable) -> float | None:
        """Seconds until the next try; None when there is none."""
        patience = self._patience
        asked = failure.retry_after if isinstance(failure, ModelOverloaded) else None
        most = patience.overloaded if isinstance(failure, ModelOverloaded) else patience.unreachable
        if tried >= most:
            return None
        if asked:  # not when it is 0, or a moment that is past: many would come back at once
            return asked if asked <= patience.longest else None
        # Between half and all of it, so that many clients do not come back at one moment.
        return min(patience.first * 2 ** (tried - 1), patience.longest) * (1 + self._chance()) / 2
