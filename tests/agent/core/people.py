"""People, subagents and a past for the core tools to talk to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tooldrawer import Answer, ApprovalRequest, ToolResult
from tooldrawer.agent.core import Delegation, Passage


@dataclass
class Yes:
    """Allows everything, once."""

    requests: list[ApprovalRequest] = field(default_factory=list[ApprovalRequest])

    async def __call__(self, request: ApprovalRequest) -> Answer:
        self.requests.append(request)
        return Answer.ONCE


@dataclass
class Somebody:
    """Gives the same answer to every question."""

    answer: str
    asked: list[tuple[str, tuple[str, ...]]] = field(
        default_factory=list[tuple[str, tuple[str, ...]]]
    )

    async def ask(self, question: str, choices: Sequence[str]) -> str:
        self.asked.append((question, tuple(choices)))
        return self.answer


class Nobody:
    """Is not there."""

    async def ask(self, question: str, choices: Sequence[str]) -> str:
        raise EOFError


@dataclass
class Crew:
    """Takes tasks, and says that they are done."""

    taken: list[tuple[str, Delegation]] = field(default_factory=list[tuple[str, Delegation]])

    async def __call__(self, session: str, task: Delegation) -> ToolResult:
        self.taken.append((session, task))
        return ToolResult.of_text(f"done: {task.task}")


@dataclass
class Archive:
    """Finds the passages that hold the query."""

    passages: Sequence[Passage]
    limits: list[int] = field(default_factory=list[int])

    def search(self, query: str, limit: int) -> Sequence[Passage]:
        self.limits.append(limit)
        return [passage for passage in self.passages if query in passage.text][:limit]
