"""Approvals that wait for a person outside the conversation."""

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

from tooldrawer.dispatch import Answer, ApprovalRequest
from tooldrawer.tool import JsonObject

_LETTERS = "bcdfghjkmnpqrstvwxz23456789"
"""For ids that are read out and typed: nothing that looks alike, and no vowels to make words of."""
_ID_LENGTH = 4
_MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One call that waits for a person's word. It has secrets in it as the call has."""

    id: str
    tool: str
    toolset: str
    question: str
    arguments: JsonObject
    """Exactly what will run."""
    session: str
    principal: str
    scope: str
    asked_at: float
    """Seconds since the epoch."""
    expires_at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """What makes a call the same call: who makes it, the tool as it is, the arguments."""

    principal: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    waiting: Waiting
    request: ApprovalRequest
    deadline: float
    answer: Answer | None = None


class Pending:
    """Keeps questions until a person answers them, and the answers until the call is made again.

    For one event loop. A question and an answer are forgotten after `lifetime` seconds each; a
    principal that has more than `keep` loses its oldest.
    """

    def __init__(
        self,
        *,
        keep: int = 100,
        lifetime: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keep = keep
        self._lifetime = lifetime
        self._clock = clock
        self._entries: dict[_Call, _Entry] = {}

    def put(self, request: ApprovalRequest, *, principal: str, scope: str) -> Waiting:
        """The question about this call: the one that waits already, with new time, or a new one."""
        self._forget()
        call, now = _call(request, principal), time.time()
        known = self._entries.get(call)
        if known is not None:
            waiting = replace(known.waiting, expires_at=now + self._lifetime)
            self._entries[call] = replace(known, waiting=waiting, deadline=self._deadline())
            return waiting
        self._make_room(principal)
        waiting = Waiting(
            id=self._new_id(),
            tool=request.tool.name,
            toolset=request.toolset,
            question=request.question,
            arguments=request.arguments,
            session=request.session,
            principal=principal,
            scope=scope,
            asked_at=now,
            expires_at=now + self._lifetime,
        )
        self._entries[call] = _Entry(waiting=waiting, request=request, deadline=self._deadline())
        return waiting

    def take(self, request: ApprovalRequest, *, principal: str) -> Answer | None:
        """What a person said to this same call, told once; nothing while nobody answered."""
        self._forget()
        call = _call(request, principal)
        known = self._entries.get(call)
        if known is None or known.answer is None:
            return None
        del self._entries[call]
        return known.answer

    def answer(self, id: str, answer: Answer) -> Waiting | None:  # noqa: A002  it is called so
        """Keep a person's word, in place of an earlier one; nothing when no such call waits."""
        self._forget()
        for call, known in self._entries.items():
            if known.waiting.id == _normalize(id):
                waiting = replace(known.waiting, expires_at=time.time() + self._lifetime)
                self._entries[call] = replace(
                    known, waiting=waiting, deadline=self._deadline(), answer=answer
                )
                return waiting
        return None

    def find(self, id: str) -> ApprovalRequest | None:  # noqa: A002  as above
        """What was asked about the call of this id; nothing when no such call waits."""
        self._forget()
        found = (known for known in self._entries.values() if known.waiting.id == _normalize(id))
        return next((known.request for known in found), None)

    def settle(self, id: str) -> None:  # noqa: A002  as above
        """Forget a question whose answer is kept elsewhere."""
        for call, known in tuple(self._entries.items()):
            if known.waiting.id == _normalize(id):
                del self._entries[call]

    def waiting(self) -> tuple[Waiting, ...]:
        """The questions that nobody answered yet, oldest first."""
        self._forget()
        return tuple(known.waiting for known in self._entries.values() if known.answer is None)

    def instructions(
        self, entry: Waiting, *, ends_with_agent: bool = False, was_declined: bool = False
    ) -> str:
        """For the model: what happens next, without a command with which it could approve.

        `ends_with_agent` is a gateway that its client started, and that ends with it.
        """
        left = _spoken(max(entry.expires_at - time.time(), 0.0))
        how_long = f"while this agent runs, up to {left}" if ends_with_agent else f"for {left}"
        tell = "Tell the user"
        if was_declined:
            tell = "If the user declined it, do not try again; if they were not asked, tell them"
        return (
            f"A person must approve it. {tell} that the call waits for their approval in "
            f"tooldrawer, {how_long}; when they have approved it, make the same call again."
        )

    def _deadline(self) -> float:
        return self._clock() + self._lifetime

    def _forget(self) -> None:
        now = self._clock()
        over = [call for call, known in self._entries.items() if known.deadline <= now]
        for call in over:
            del self._entries[call]

    def _make_room(self, principal: str) -> None:
        own = [call for call in self._entries if call.principal == principal]
        for call in own[: max(len(own) + 1 - self._keep, 0)]:
            del self._entries[call]

    def _new_id(self) -> str:
        taken = {known.waiting.id for known in self._entries.values()}
        while True:
            made = "".join(secrets.choice(_LETTERS) for _ in range(_ID_LENGTH))
            if made not in taken:
                return made


def _call(request: ApprovalRequest, principal: str) -> _Call:
    # No `default`: two arguments that only look alike as text must never share an approval.
    text = json.dumps(request.arguments, sort_keys=True, separators=(",", ":"))
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    return _Call(principal=principal, tool=request.tool.fingerprint, arguments=digest)


def _normalize(typed: str) -> str:
    return typed.strip().lower()


def _spoken(seconds: float) -> str:
    if seconds < _MINUTE:
        count, unit = round(seconds), "second"
    else:
        count, unit = round(seconds / _MINUTE), "minute"
    return f"{count} {unit}{'' if count == 1 else 's'}"
