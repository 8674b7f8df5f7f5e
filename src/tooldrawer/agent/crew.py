"""The agent that a person talks to, and the subagents that it hands work to."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tooldrawer.agent.agent import Agent, Outcome
from tooldrawer.agent.conversation import Conversation
from tooldrawer.agent.core import Delegation
from tooldrawer.agent.listener import Listener, Nobody
from tooldrawer.agent.model import Model
from tooldrawer.bridge import BridgeNames
from tooldrawer.call import ToolResult
from tooldrawer.errors import InvalidArguments, ModelFailed, ToolFailed
from tooldrawer.ledger import Ledger
from tooldrawer.scope import Scope
from tooldrawer.session import Session

_DELEGATE, _PAST = "delegate_task", "session_search"
_MOST_DEEP = 2
"""A subagent may have one of its own, which may not."""
_MOST = 30
"""Subagents, and theirs, for one task of the lead's: a model that hands on and on would have each
answer multiplied by 128 calls and 20 turns, twice."""

Begin = Callable[[str], Awaitable[Conversation]]
"""Begins the conversation of a subagent, given its parent's name."""
Telling = Callable[[str], Listener]
"""Makes the listener of a subagent, given its session's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    agent: Agent
    depth: int
    lead: Agent


async def _unkept(parent: str) -> Conversation:
    del parent
    return Conversation()


def _nobody(session: str) -> Listener:
    del session
    return Nobody()


class Crew:
    """Builds agents that share a model. Calling it delegates: it is what `delegate_task` needs."""

    def __init__(
        self,
        model: Model,
        *,
        system: str = "",
        names: BridgeNames | None = None,
        begin: Begin = _unkept,
        telling: Telling = _nobody,
        max_turns: int = 50,
        subagent_turns: int = 20,
    ) -> None:
        self._model, self._system, self._names = model, system, names
        self._begin, self._telling = begin, telling
        self._max_turns, self._subagent_turns = max_turns, subagent_turns
        self._members: dict[str, _Member] = {}
        self._begun: Counter[tuple[str, int]] = Counter()
        self.ledgers: list[Ledger] = []
        """Of the subagents that came to an end."""

    def lead(self, session: Session, conversation: Conversation, listener: Listener) -> Agent:
        """The agent that a person talks to."""
        agent = self._agent(session, conversation, listener, self._max_turns)
        self._members[session.name] = _Member(agent=agent, depth=0, lead=agent)
        return agent

    async def __call__(self, session: str, task: Delegation) -> ToolResult:
        """Have a subagent work on `task`, within the scope of the session that asks.

        Raises:
            InvalidArguments: Work cannot be handed on from there.
            ToolFailed: The subagent came to no result.
        """
        parent = self._members.get(session)
        if parent is None or parent.depth >= _MOST_DEEP:
            raise InvalidArguments("A subagent of a subagent does its work itself. Go on alone.")
        self._count(parent.lead)
        depth = parent.depth + 1
        child = parent.agent.session.child(_scope(task, is_last=depth == _MOST_DEEP))
        turns = min(task.max_turns or self._subagent_turns, self._subagent_turns)
        conversation = await self._begin(parent.agent.conversation.name)
        agent = self._agent(child, conversation, self._telling(child.name), turns)
        child.native = parent.agent.session.native  # an endpoint that refused it refuses it again
        self._members[child.name] = _Member(agent=agent, depth=depth, lead=parent.lead)
        try:
            async with child:
                return _told(await agent.run(_brief(task)))
        except ModelFailed as error:
            raise ToolFailed(f"The subagent could not go on: {error}") from error
        finally:
            del self._members[child.name]
            self.ledgers.append(child.ledger)

    def _count(self, lead: Agent) -> None:
        task = lead.session.name, lead.tasks
        if self._begun[task] >= _MOST:
            raise InvalidArguments(
                f"{_MOST} subagents have worked on this task. Do the rest yourself, or tell the "
                "user what is left."
            )
        self._begun[task] += 1

    def _agent(
        self, session: Session, conversation: Conversation, listener: Listener, max_turns: int
    ) -> Agent:
        return Agent(
            model=self._model,
            session=session,
            conversation=conversation,
            system=self._system,
            listener=listener,
            names=self._names,
            max_turns=max_turns,
        )


def _scope(task: Delegation, *, is_last: bool) -> Scope:
    """What the subagent asks for; the session that asks bounds it."""
    denied = (_DELEGATE,) if is_last else ()
    if task.toolsets is None:
        return Scope(deny=denied)
    # Earlier conversations have the names of tools that a narrower scope must not learn of.
    return Scope(toolsets=task.toolsets, deny=(*denied, _PAST))


def _brief(task: Delegation) -> str:
    return f"{task.task}\n\n{task.context}" if task.context else task.task


def _told(outcome: Outcome) -> ToolResult:
    if outcome.is_success:
        return ToolResult.of_text(outcome.text)
    why = {
        "turns": f"it had no turns left after {outcome.turns}",
        "length": "its answer was longer than the model may write",
        "silent": "it ended without a word",
        "done": "",
    }[outcome.ending]
    said = f" Its last words: {outcome.text}" if outcome.text else ""
    return ToolResult.of_text(f"The subagent did not finish: {why}.{said}", is_error=True)
