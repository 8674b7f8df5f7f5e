"""From a question to a yes or a no: what was granted before, else a person, else no."""

import logging
from collections.abc import Callable, Sequence
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
    Grants,
    NobodyToAsk,
    grant,
)
from tooldrawer.dispatch.guardrails import Ask
from tooldrawer.errors import CallDenied
from tooldrawer.tool import Tool

_logger = logging.getLogger(__name__)
_NOBODY = "nobody to ask"
_HOW_TO_GRANT = (
    "A person can grant it where an approver asks them, or by changing `approvals` in the "
    "configuration. Tell the user."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """What came of a question."""

    answer: Answer = Answer.NO
    why: str = "no"
    """For a no: who or what said it."""
    how: str = _HOW_TO_GRANT
    """For a no that no person said: how one can say yes."""


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
        granted: set[str],
    ) -> None:
        """Return when the call may run: a person allows, at once, all that they did not before.

        Raises:
            CallDenied: A person said no, did not answer in time, or there is nobody to ask.
        """
        # Several calls of one tool in a turn: the answer "session" to the first holds for the rest.
        key = (call.session, tool.fingerprint)
        lock = self._asking.get(key)
        if lock is None:
            lock = self._asking[key] = anyio.Lock()
        async with lock:
            left = self._left(asks, tool, granted)
            if not left:
                return
            question = " ".join(ask.question for ask in left)
            request = ApprovalRequest(
                question=question, tool=tool, arguments=call.arguments, session=call.session
            )
            started = perf_counter()
            self._emit(ApprovalAsked(**stamp(), tool=tool.name, question=question))
            reply = await self._answer(request)
            spent = perf_counter() - started
            said = reply.answer.value if reply.answer is not Answer.NO else reply.why
            self._emit(ApprovalAnswered(**stamp(), tool=tool.name, answer=said, duration=spent))
            await self._remember(reply.answer, tool, left, granted)
        if reply.answer is Answer.NO:
            raise CallDenied(_refusal(tool, reply))

    def _left(self, asks: Sequence[Ask], tool: Tool, granted: set[str]) -> tuple[Ask, ...]:
        """Those that nobody has allowed yet; of two about the same, the first."""
        first = {ask.about: ask for ask in reversed(asks)}
        return tuple(
            ask
            for ask in asks
            if ask is first[ask.about]
            and grant(tool, ask.about) not in granted
            and not self._grants.holds(tool, ask.about)
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

    async def _remember(
        self, answer: Answer, tool: Tool, asks: Sequence[Ask], granted: set[str]
    ) -> None:
        about = tuple(ask.about for ask in asks)
        if answer in (Answer.SESSION, Answer.ALWAYS):
            granted.update(grant(tool, each) for each in about)
        if answer is Answer.ALWAYS:
            try:
                await anyio.to_thread.run_sync(self._grants.add, tool, about)
            except OSError:
                _logger.exception("The grant for %r could not be kept on disk.", tool.name)


def _refusal(tool: Tool, reply: _Reply) -> str:
    if reply.why == "no":
        return (
            f"A person was asked and said no to {tool.name!r}. "
            "Do not try it again; find another way, or ask the user."
        )
    return f"{tool.name!r} needs a person's approval ({reply.why}), so it was not run. {reply.how}"
