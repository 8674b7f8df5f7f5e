"""A model whose doings are counted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tooldrawer.activity import (
    ApprovalAnswered,
    ApprovalAsked,
    CallFinished,
    CallRefused,
    CallStarted,
    Described,
    Event,
    Searched,
)
from tooldrawer.activity.quality import Figures, Quality


@dataclass
class Model:
    """Does what a model does, a second for each thing, and has it counted."""

    quality: Quality = field(default_factory=lambda: Quality(clock=lambda: 0.0))
    now: float = 0.0
    session: str = "one"

    def tell(self, event: Callable[..., Event], *, after: float = 1.0, **what: object) -> None:
        self.now += after
        self.quality.write(event(at=self.now, session=self.session, scope="", **what))

    def search(
        self, *hits: str, after: float = 1.0, duration: float = 0.002, tokens: int = 100
    ) -> None:
        self.tell(
            Searched, after=after, query="q", hits=hits, reply_tokens=tokens, duration=duration
        )

    def describe(self, tool: str) -> None:
        self.tell(Described, tool=tool, reply_tokens=40, duration=0.001)

    def start(self, tool: str) -> None:
        self.tell(CallStarted, tool=tool, toolset="s", arguments={}, argument_tokens=1)

    def call(self, tool: str, *repairs: str, duration: float = 0.2, is_error: bool = False) -> None:
        self.start(tool)
        self.tell(
            CallFinished,
            tool=tool,
            duration=duration,
            result_tokens=1,
            repairs=repairs,
            is_error=is_error,
        )

    def refused(self, tool: str | None) -> None:
        self.tell(CallRefused, tool=tool, reason="no", duration=0.0)

    def answered(self, tool: str, answer: str) -> None:
        self.tell(ApprovalAsked, tool=tool, question="?")
        self.tell(ApprovalAnswered, tool=tool, answer=answer, duration=3.0)

    @property
    def figures(self) -> Figures:
        return self.quality.snapshot()


def of(*sessions: str, quality: Quality) -> list[Model]:
    return [Model(quality=quality, session=name) for name in sessions]


def some(counts: Mapping[str, int]) -> dict[str, int]:
    """What is not zero."""
    return {key: count for key, count in counts.items() if count}
