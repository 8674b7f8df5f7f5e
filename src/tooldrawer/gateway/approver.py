"""Asking the person behind the client, or leaving the question where a person can find it."""

import secrets
from collections.abc import Mapping

from tooldrawer.dispatch import Answer, ApprovalRequest
from tooldrawer.dispatch.approvals import NobodyToAsk
from tooldrawer.dispatch.terminal import rendered
from tooldrawer.gateway.clients import Caller
from tooldrawer.gateway.pending import Pending
from tooldrawer.gateway.principal import Principal
from tooldrawer.gateway.questions import can_elicit
from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.behind import BEHIND, CannotAsk, EndClient

_ANSWERS: Mapping[Answer, str] = {
    Answer.ONCE: "this call",
    Answer.SESSION: "this tool until the session ends",
    Answer.ALWAYS: "from now on, for as long as the tool does not change",
    Answer.NO: "",
}
"""In the order in which a person sees them, and what they mean."""


class ClientApprover:
    """An approver for whoever is behind the call.

    A client that can, shows the question to its person. Others, and those that close it without
    an answer as headless agents do, leave it pending: a person answers with `tooldrawer approve`,
    and the same call then runs.
    """

    def __init__(self, pending: Pending) -> None:
        self._pending = pending

    async def __call__(self, request: ApprovalRequest) -> Answer:
        """What a person said.

        Raises:
            NobodyToAsk: Nobody could be asked in the conversation.
        """
        client = BEHIND.get()
        principal = client.principal if isinstance(client, Caller) else Principal()
        if (given := self._pending.take(request, principal=principal.identity)) is not None:
            return given
        said = ""
        if client and can_elicit(client.capabilities):
            answer, said = await _elicited(client, request)
            if answer is not None:
                return answer
        entry = self._pending.put(request, principal=principal.identity, scope=principal.scope)
        # Codex declines in a headless run within a millisecond, and nobody was asked: on the wire
        # that looks like a person's no.
        was_declined = said == "decline"
        how = self._pending.instructions(
            entry, ends_with_agent=principal.is_process, was_declined=was_declined
        )
        raise NobodyToAsk(how, why="it was declined") if was_declined else NobodyToAsk(how)


async def _elicited(client: EndClient, request: ApprovalRequest) -> tuple[Answer | None, str]:
    """The answer through the client, and what the client did with the question if there is none."""
    # Nobody can know it before: an answer that was there before the question approves nothing.
    key = f"tooldrawer_approval_{secrets.token_hex(8)}"
    try:
        answers = await client.ask({key: _question(request, _answers_for(client))})
    except CannotAsk:
        return None, ""
    result = answers.get(key) or {}
    action = str(result.get("action"))
    return (_chosen(result.get("content")) if action == "accept" else None), action


def _chosen(content: Json) -> Answer:
    answer = content.get("answer") if isinstance(content, dict) else None
    return Answer(answer) if answer in tuple(Answer) else Answer.NO


def _answers_for(client: EndClient) -> Mapping[Answer, str]:
    """What a person may answer; not "session" where nobody knows what belongs to it."""
    if isinstance(client, Caller) and not client.has_conversation:
        return {answer: text for answer, text in _ANSWERS.items() if answer is not Answer.SESSION}
    return _ANSWERS


def _question(request: ApprovalRequest, answers: Mapping[Answer, str]) -> JsonObject:
    # No mode and a plain enum: clients of 2025-06-18 know neither the one nor titled choices.
    answer: JsonObject = {
        "type": "string",
        "title": "May it run?",
        "description": "; ".join(f"{answer}: {text}" for answer, text in answers.items() if text),
        "enum": [str(answer) for answer in answers],
    }
    return {
        "method": "elicitation/create",
        "params": {
            "message": rendered(request).strip("\n"),
            "requestedSchema": {
                "type": "object",
                "properties": {"answer": answer},
                "required": ["answer"],
            },
        },
    }
