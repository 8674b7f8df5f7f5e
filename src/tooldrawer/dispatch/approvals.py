"""Asking a person, about one exact call."""

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Protocol, cast

from platformdirs import user_data_path

from tooldrawer.tool import JsonObject, Tool

_logger = logging.getLogger(__name__)


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

    @property
    def toolset(self) -> str:
        """Where the tool comes from."""
        return self.tool.source


class NobodyToAsk(EOFError):
    """Nobody said yes here and now, but `how` tells the model how a person can approve."""

    def __init__(self, how: str, *, why: str = "nobody to ask") -> None:
        super().__init__(how)
        self.how = how
        self.why = why


class Approver(Protocol):
    """Puts one question to a person. It may be asked several at once."""

    async def __call__(self, request: ApprovalRequest) -> Answer:
        """What the person said.

        Raises:
            EOFError: Nobody is there to ask; a `NobodyToAsk` says what a person can do.
        """
        ...


def grant(tool: Tool, about: str) -> str:
    """What is remembered of a yes: the tool, and what it was asked about."""
    return f"{tool.fingerprint} {about}" if about else tool.fingerprint


class Grants:
    """The answers "always", by the tool's fingerprint: a tool that changes is asked about again.

    Kept in a file of the user's, which is read again when another process changed it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or user_data_path("tooldrawer", appauthor=False) / "grants.json"
        self._lock = Lock()
        self._known: dict[str, str] = {}
        self._seen: tuple[int, int] | None = None

    def __contains__(self, tool: object) -> bool:
        return isinstance(tool, Tool) and self.holds(tool)

    def holds(self, tool: Tool, about: str = "") -> bool:
        """Whether `tool` was granted as it is now, for what an `Ask` is `about`."""
        with self._lock:
            self._refresh()
            return grant(tool, about) in self._known

    def add(self, tool: Tool, about: Sequence[str] = ("",)) -> None:
        """Remember `tool` as it is now, for all that a person was asked about."""
        with self._lock:
            self._refresh()
            self._known |= {grant(tool, each): tool.name for each in about}
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft = self._path.with_name(f"{self._path.name}.new")
            draft.write_text(json.dumps(self._known, indent=1, sort_keys=True), encoding="utf-8")
            draft.replace(self._path)
            self._seen = self._stamp()

    def names(self) -> Collection[str]:
        """The tools granted, by name."""
        with self._lock:
            self._refresh()
            return sorted(set(self._known.values()))

    def _refresh(self) -> None:
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen, self._known = stamp, {}
        if stamp is None:
            return
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            self._known = {str(key): str(name) for key, name in cast("JsonObject", found).items()}
        except (OSError, ValueError, AttributeError):
            # Unreadable grants are no grants: the person is asked again.
            _logger.exception(
                "The grants in %s cannot be read; everything is asked again.", self._path
            )

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size
