"""Asking a person, about one exact call."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from tooldrawer.dispatch.grants import Grantee
from tooldrawer.tool import JsonObject, Tool


class Answer(StrEnum):
    """What a person said."""

    NO = "no"
    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """The question, with the real tool, its toolset and the exact arguments that will run."""

    question: str
    tool: Tool
    arguments: JsonObject
    """Frozen: what the person sees is what runs."""
    session: str
    about: tuple[str, ...] = ("",)
    """What "session" and "always" hold for, beside the tool."""
    grantee: Grantee = field(default_factory=Grantee)
    """Whom they hold for."""

    @property
    def toolset(self) -> str:
        """Where the tool comes from."""
        return self.tool.source


class NobodyToAsk(EOFError):
    """Nobody said yes here and now, but `how` tells the model what happens next.

    The model reads it: it must not hold a command or setting with which a model could approve.
    """

    def __init__(self, how: str, *, why: str = "nobody to ask") -> None:
        super().__init__(how)
        self.how = how
        self.why = why


class Approver(Protocol):
    """Puts one question to a person. It may be asked several at once."""

    async def __call__(self, request: ApprovalRequest) -> Answer:
        """What the person said.

        Raises:
            EOFError: No person is there; a `NobodyToAsk` tells the model what happens next.
        """
        ...
