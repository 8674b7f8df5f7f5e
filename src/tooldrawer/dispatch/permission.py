"""From a question to a yes or a no: what was granted before, else a person, else no."""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from tooldrawer.activity import ApprovalAnswered, ApprovalAsked, Emit, Stamp
from tooldrawer.call import ToolCall
from tooldrawer.dispatch.approvals import (
    Answer,
    ApprovalRequest,
    Approver,
    NobodyToAsk,
)
from tooldrawer.dispatch.grants import Grantee, Grants
from tooldrawer.dispatch.guardrails import Ask
from tooldrawer.errors import CallDenied, ConfigError
from tooldrawer.tool import Tool

_logger = logging.getLogger(__name__)
_NOBODY = "nobody to ask"
# No command and no setting: a model that can run one or write the other must not learn it here.
_NEXT_STEP = "Only a person can approve it. Tell the user, and go on without it."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """What came of a question."""

    answer: Answer = Answer.NO
    why: str = "no"
    """For a no: who or what said it."""
    how: str = _NEXT_STEP
    """For a no that no person said: what the model does next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Whose grants count for a call."""

    grantee: Grantee
    session: set[str]
    """What was granted for the session, which remembers more here."""


class Permission:
    """Obtains a person's yes, and remembers it for as long as they said."""

    def __init__(
        self, *, emit: Emit, approver: Approver | None, grants: Grants, timeout: float
    ) -> None:
        self._emit = emit
        self._approver = approver
        self._grants = grants
        self._timeout = timeout
        self._asking: WeakValueDictionary[tuple[str, str], anyio.Lock] = WeakValueDictionary()

    async def obtain(
        self,
        asks: Sequence[Ask],
        tool: Tool,
        call: ToolCall,
        stamp: Callable[[], Stamp],
        holder: Holder,
    ) -> None:
        """Return when the call may run: a person allows, at once, all that they did not before.

        Raises:
            CallDenied: A person said no, did not answer in time, or there is nobody to ask.
        """
        async with self._turn_to_ask(tool, call):
            left = self._left(asks, tool, holder)
            if not left:
                return
            question = " ".join(ask.question for ask in left)
            request = ApprovalRequest(
                question=question,
                tool=tool,
                arguments=call.arguments,
                session=call.session,
                about=tuple(ask.about for ask in left),
                grantee=holder.grantee,
            )
            started = perf_counter()
            self._emit(ApprovalAsked(**stamp(), tool=tool.name, question=question))
            reply = await self._answer(request)
            spent = perf_counter() - started
            said = reply.answer.value if reply.answer is not Answer.NO else reply.why
            self._emit(ApprovalAnswered(**stamp(), tool=tool.name, answer=said, duration=spent))
            await self._remember(reply.answer, request, holder)
        if reply.answer is Answer.NO:
            raise CallDenied(_refusal(tool, reply))

    def _turn_to_ask(self, tool: Tool, call: ToolCall) -> AbstractAsyncContextManager[object]:
        """One question about a tool at a time, in one conversation.

        Several calls of one tool in a turn: the answer "session" to the first holds for the rest.
        Calls of clients that cannot be told apart must not wait for each other's persons.
        """
        if not call.has_conversation:
            return nullcontext()
        key = (call.session, tool.fingerprint)
        lock = self._asking.get(key)
        if lock is None:
            lock = self._asking[key] = anyio.Lock()
        return lock

    def _left(self, asks: Sequence[Ask], tool: Tool, holder: Holder) -> tuple[Ask, ...]:
        """Those that nobody has allowed yet; of two about the same, the first."""
        first = {ask.about: ask for ask in reversed(asks)}
        return tuple(
            ask
            for ask in asks
            if ask is first[ask.about]
            and _session_key(tool, ask.about) not in holder.session
            and not self._grants.holds(tool, ask.about, holder.grantee)
        )

    async def _answer(self, request: ApprovalRequest) -> _Reply:
        if self._approver is None:
            return _Reply(why=_NOBODY)
        with anyio.move_on_after(self._timeout):
            try:
                return _Reply(answer=Answer(await self._approver(request)))
            except NobodyToAsk as error:
                return _Reply(why=error.why, how=error.how)
            except EOFError:
                return _Reply(why=_NOBODY)
            except Exception:  # the boundary to an approver that anyone may have written
                _logger.exception("The approver failed; that is a no.")
                return _Reply(why="the question could not be put")
        return _Reply(why="no answer in time")

    async def _remember(self, answer: Answer, request: ApprovalRequest, holder: Holder) -> None:
        tool, about = request.tool, request.about
        keys = [_session_key(tool, each) for each in about]
        if answer is Answer.SESSION:
            holder.session.update(keys)
        if answer is Answer.ALWAYS:
            try:
                # Only there, so that a person who takes it back ends it in this session too.
                await anyio.to_thread.run_sync(self._grants.add, tool, about, holder.grantee)
            except (OSError, ConfigError) as error:
                holder.session.update(keys)
                _logger.error(  # noqa: TRY400  a trace says nothing more
                    "The grant for %r holds for this session only: %s", tool.name, error
                )


def _session_key(tool: Tool, about: str) -> str:
    return f"{tool.fingerprint} {about}"


def _refusal(tool: Tool, reply: _Reply) -> str:
    if reply.why == "no":
        return (
            f"A person was asked and said no to {tool.name!r}. "
            "Do not try it again; find another way, or ask the user."
        )
    return f"{tool.name!r} needs a person's approval ({reply.why}), so it was not run. {reply.how}"
