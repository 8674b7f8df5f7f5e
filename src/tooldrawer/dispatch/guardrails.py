"""Rules that may stop a call. They judge; they cannot change it."""

import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from threading import Lock
from time import monotonic
from typing import Any, Literal, get_args

from tooldrawer.call import ToolCall
from tooldrawer.option_checks import (
    PATTERNS,
    SECONDS,
    freeze_lists,
    one_of,
    require_fields,
    require_values,
    whole_number,
)
from tooldrawer.patterns import tool_matches
from tooldrawer.tool import Tool

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Allow:
    """Nothing to object."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Stop, and tell the model why and what it can do instead."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Let a person decide."""

    question: str
    about: str = ""
    """What "session" and "always" hold for, beside the tool: who lets it write files has not let it
    write those that programs obey. Nothing is whatever it does otherwise."""


Verdict = Allow | Deny | Ask
"""What a guardrail answers."""
Guardrail = Callable[[Tool, ToolCall], Verdict | Awaitable[Verdict]]
"""A rule, plain or async, over the real tool and the arguments that would run."""


async def judge(
    guardrails: Sequence[Guardrail], tool: Tool, call: ToolCall
) -> Deny | tuple[Ask, ...]:
    """The strictest verdict: a denial, else all that a person must allow, which may be nothing.

    A guardrail that breaks denies.
    """
    verdicts = [await _judged(guardrail, tool, call) for guardrail in guardrails]
    denied = next((verdict for verdict in verdicts if isinstance(verdict, Deny)), None)
    return denied or tuple(verdict for verdict in verdicts if isinstance(verdict, Ask))


async def _judged(guardrail: Guardrail, tool: Tool, call: ToolCall) -> Verdict:
    try:
        verdict = guardrail(tool, call)
        verdict = await verdict if isawaitable(verdict) else verdict
    except Exception:  # the boundary to a rule that anyone may have written: fail closed
        _logger.exception("The guardrail %r failed; the call is denied.", guardrail)
    else:
        if _is_verdict(verdict):
            return verdict
        _logger.error("The guardrail %r gave no verdict; the call is denied.", guardrail)
    return Deny("A safety rule could not be checked. Tell the user; do not try again.")


def _is_verdict(value: object) -> bool:
    return isinstance(value, Verdict)


Decision = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Allow, ask or deny by tool pattern, then by annotation.

    Of the patterns the strictest that fits wins. A tool that no pattern names is judged by what it
    may do; annotations of untrusted servers never loosen that.

    Raises:
        ConfigError: A field has a value that it cannot have.
    """

    allow: Sequence[str] = ()
    ask: Sequence[str] = ()
    deny: Sequence[str] = ()
    destructive: Decision = "allow"
    """Tools that may destroy something."""
    writing: Decision = "allow"
    """Tools that are not read-only."""

    def __post_init__(self) -> None:
        freeze_lists(self, "allow", "ask", "deny")
        decision = one_of(get_args(Decision))
        require_fields(
            self,
            allow=PATTERNS,
            ask=PATTERNS,
            deny=PATTERNS,
            destructive=decision,
            writing=decision,
        )

    def __call__(self, tool: Tool, call: ToolCall) -> Verdict:
        """Judge one call."""
        if tool_matches(tool, self.deny, forbids=True):
            return Deny(f"{tool.name!r} is not allowed here. Find another way, or tell the user.")
        if tool_matches(tool, self.ask, forbids=True):
            return Ask(f"Run {tool.name}?")
        if tool_matches(tool, self.allow):
            return Allow()
        choices = [self.destructive] if tool.destructive else []
        choices += [] if tool.read_only else [self.writing]
        if "deny" in choices:
            return Deny(
                f"{tool.name!r} may change or destroy something, which is not allowed here. "
                "Use a tool that only reads, or tell the user."
            )
        return Ask(f"{tool.name} may change something. Run it?") if "ask" in choices else Allow()


def read_only(tool: Tool, call: ToolCall) -> Verdict:
    """Nothing runs that a trusted source did not declare read-only."""
    del call
    if tool.read_only:
        return Allow()
    return Deny(
        f"{tool.name!r} may change something, and this session only reads. "
        "Use a tool that only reads, or tell the user what you would have changed."
    )


_MOST_SESSIONS = 1000
"""A gateway sees new sessions for ever; those that have been quiet for longest are forgotten."""


def _forget(sessions: dict[Any, Any]) -> None:
    while len(sessions) > _MOST_SESSIONS:
        del sessions[next(iter(sessions))]


class RateLimit:
    """At most `calls` in any `seconds`, for each principal; for each session where there is none.

    A client may begin as many sessions as it likes.
    """

    def __init__(
        self, *, calls: int, seconds: float, clock: Callable[[], float] = monotonic
    ) -> None:
        require_values("RateLimit", calls=(calls, whole_number(1)), seconds=(seconds, SECONDS))
        self._calls, self._seconds, self._clock = calls, seconds, clock
        self._lock = Lock()
        self._made: dict[tuple[str, str], deque[float]] = {}

    def __call__(self, tool: Tool, call: ToolCall) -> Verdict:
        """Count one call, unless it is one too many."""
        del tool
        with self._lock:
            now = self._clock()
            caller = (call.principal, "" if call.principal else call.session)
            made = self._made.pop(caller, None) or deque()
            self._made[caller] = made
            _forget(self._made)
            while made and made[0] <= now - self._seconds:
                made.popleft()
            if len(made) >= self._calls:
                wait = max(made[0] + self._seconds - now, 0)
                return Deny(
                    f"More than {self._calls} calls in {self._seconds:g} s. "
                    f"Wait {wait:.0f} s, or do something that needs no tool."
                )
            made.append(now)
            return Allow()


class RepeatGuard:
    """Stops the same call with the same arguments when it comes too often in a row."""

    def __init__(self, *, most: int) -> None:
        require_values("RepeatGuard", most=(most, whole_number(1)))
        self._most = most
        self._lock = Lock()
        self._last: dict[str, tuple[str, int]] = {}

    def __call__(self, tool: Tool, call: ToolCall) -> Verdict:
        """Count one call of the session's current row."""
        if not call.has_conversation:
            return Allow()  # what looks like a row may be the calls of several clients
        key = json.dumps([tool.fingerprint, call.arguments], sort_keys=True, default=str)
        with self._lock:
            last, times = self._last.pop(call.session, ("", 0))
            times = times + 1 if key == last else 1
            self._last[call.session] = (key, times)
            _forget(self._last)
        if times <= self._most:
            return Allow()
        return Deny(
            f"{tool.name!r} was called {times} times in a row with the same arguments. "
            "The answer is already above: use it, change the arguments, or tell the user."
        )
