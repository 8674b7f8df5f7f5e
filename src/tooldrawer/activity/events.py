"""The closed list of things worth reporting. A tool in it is the real one, never the bridge."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from tooldrawer.tool import JsonObject


class Stamp(TypedDict):
    """When, and in whose session."""

    at: float
    session: str
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What every event says."""

    at: float
    """Seconds since the epoch."""
    session: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled(Happening):
    """A turn's array was put together."""

    active: bool
    direct: int
    deferred: int
    array_tokens: int
    saved_tokens: int
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched(Happening):
    """The model looked for tools."""

    query: str
    hits: tuple[str, ...]
    reply_tokens: int
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Described(Happening):
    """The model read a tool's full schema."""

    tool: str
    reply_tokens: int
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(Happening):
    """A call passed the scope and is on its way through hooks, checks and approval."""

    tool: str
    toolset: str
    arguments: JsonObject
    argument_tokens: int
    call: str = ""
    """The model's id of the call: tells those apart that run at the same time."""
    kind: str = "tool"
    """Or `prompt` or `resource`, which a client of the gateway asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished(Happening):
    """A tool gave its result, a good one or an error of its own."""

    tool: str
    duration: float
    result_tokens: int
    is_error: bool = False
    error: str = ""
    """The beginning of what a tool said about its error."""
    repairs: tuple[str, ...] = ()
    warning: str = ""
    call: str = ""
    """The model's id of the call: tells those apart that run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRefused(Happening):
    """A call was stopped before the tool ran."""

    tool: str | None
    """Nothing when no tool of this session was meant: such a name is nobody's."""
    reason: str
    duration: float
    call: str = ""
    """The model's id of the call: tells those apart that run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed(Happening):
    """A tool broke, was cancelled or ran out of time."""

    tool: str
    error: str
    duration: float
    warning: str = ""
    call: str = ""
    """The model's id of the call: tells those apart that run at the same time."""


CANCELLED = "cancelled"
CANCELLED_RUNNING = "cancelled; it may still be running"
"""The errors of a call that its caller cancelled, with and without the end of the tool's work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(Happening):
    """A person is being asked."""

    tool: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered(Happening):
    """A person answered, or the time for it ran out."""

    tool: str
    answer: str
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamUp(Happening):
    """A server is connected and has listed its tools."""

    upstream: str
    tools: int
    duration: float
    note: str = ""
    """What is worth knowing about this start: that a call made it, or how often it was tried."""
    dropped: tuple[str, ...] = ()
    """Tools that cannot be used, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamDown(Happening):
    """A server cannot be reached."""

    upstream: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamChanged(Happening):
    """A server offers other tools than before."""

    upstream: str
    added: int
    removed: int
    changed: int
    dropped: tuple[str, ...] = ()
    """Tools that cannot be used, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReloaded(Happening):
    """The configuration file changed: it was applied, or it is wrong and the last one stays."""

    path: str
    error: str = ""
    """What of the file is not in force, and why."""
    added: tuple[str, ...] = ()
    """The servers that are new with it."""
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


Event = (
    Assembled
    | Searched
    | Described
    | CallStarted
    | CallFinished
    | CallRefused
    | CallFailed
    | ApprovalAsked
    | ApprovalAnswered
    | UpstreamUp
    | UpstreamDown
    | UpstreamChanged
    | ConfigReloaded
)
Emit = Callable[[Event], None]
