"""What a scripted model does: a list of steps, the same for every wire."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from tests.models.request import Seen

# One private character stands for bytes which are no UTF-8 until they leave the server.
BROKEN = "\uf8ff"


@dataclass(frozen=True, slots=True)
class Call:
    """Call a tool; `raw` sends argument text as it is, `name=None` leaves the name out."""

    name: str | None
    arguments: Mapping[str, Any] | None = None
    id: str | None = None
    raw: str | None = None
    blind: bool = False  # a model may call a name that it was not shown

    @property
    def text(self) -> str:
        """The arguments as a model writes them."""
        if self.raw is not None:
            return self.raw
        return json.dumps(self.arguments or {}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Search:
    """Look for tools: natively where the request offers that, else by calling `name`."""

    query: str
    limit: int | None = None
    id: str | None = None
    name: str = "tool_search"

    @property
    def arguments(self) -> dict[str, Any]:
        return {"query": self.query} | ({} if self.limit is None else {"limit": self.limit})


@dataclass(frozen=True, slots=True)
class Huge:
    """Call a tool with about so many bytes of arguments."""

    size: int
    name: str = "huge"
    field: str = "text"
    blind: bool = False


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with text, and be done."""

    text: str
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One whole answer: thoughts, then text, then calls; `truncated` when tokens ran out."""

    text: str = ""
    calls: Sequence[Call | Search | Huge] = ()
    reasoning: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """Refuse the request; with `after` the stream begins and then tells the error."""

    status: int
    message: str = "the script says no"
    type: str | None = None
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the socket after `after` events and a half, or in half of a whole answer."""

    turn: Say | Turn | Call | Search | Huge
    after: int = 3


@dataclass(frozen=True, slots=True)
class Endless:
    """Say the same words until the client goes away, at most `limit` times."""

    text: str = "and then "
    limit: int = 1_000_000


@dataclass(frozen=True, slots=True)
class InvalidUtf8:
    """Say something with bytes in the middle that are no UTF-8."""

    text: str = "caf"


@dataclass(frozen=True, slots=True)
class Hold:
    """Answer nothing until `release` is set, or the client goes away."""

    release: Event
    then: "Step"


Answer = Say | Turn | Call | Search | Huge
Step = Answer | Fail | Cut | Endless | InvalidUtf8 | Hold
Decide = Callable[[Seen], Step]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Do the same step again, `times` times or for ever."""

    step: Step | Decide
    times: int | None = None


class Script:
    """Steps of one conversation, chosen by text in its first user message or by `when`."""

    def __init__(
        self,
        steps: Sequence[Step | Decide | Repeat],
        *,
        first: str | None = None,
        when: Callable[[Seen], bool] | None = None,
    ) -> None:
        self.taken = 0
        self._first = first
        self._when = when
        self._steps = _unrolled(steps)

    def fits(self, seen: Seen) -> bool:
        """Whether this is the script of the conversation."""
        if self._first is not None and self._first not in seen.first_user:
            return False
        return self._when is None or self._when(seen)

    def take(self, seen: Seen) -> Step | None:
        """The next step, or nothing when the script is over."""
        step = next(self._steps, None)
        if step is None:
            return None
        self.taken += 1
        return step(seen) if callable(step) else step


def _unrolled(steps: Sequence[Step | Decide | Repeat]) -> Iterator[Step | Decide]:
    for step in steps:
        if not isinstance(step, Repeat):
            yield step
            continue
        done = 0
        while step.times is None or done < step.times:
            done += 1
            yield step.step


def as_turn(answer: Answer) -> Turn:
    """Any answer as a whole turn."""
    if isinstance(answer, Turn):
        return answer
    if isinstance(answer, Say):
        return Turn(answer.text, reasoning=answer.reasoning)
    return Turn(calls=(answer,))


def as_call(call: Call | Search | Huge) -> Call:
    """What is called when there is no native search."""
    if isinstance(call, Search):
        return Call(call.name, call.arguments, id=call.id)
    if isinstance(call, Huge):
        return Call(call.name, {call.field: "x" * call.size}, blind=call.blind)
    return call
