"""What happened, as values: anyone may report, nobody waits for a listener."""

from tooldrawer.activity.events import (
    CANCELLED,
    CANCELLED_RUNNING,
    ApprovalAnswered,
    ApprovalAsked,
    Assembled,
    CallFailed,
    CallFinished,
    CallRefused,
    CallStarted,
    ConfigReloaded,
    Described,
    Emit,
    Event,
    Searched,
    Stamp,
    UpstreamChanged,
    UpstreamDown,
    UpstreamUp,
)
from tooldrawer.activity.log import ActivityLog
from tooldrawer.activity.masking import MASK, Masker, names_secret
from tooldrawer.activity.sinks import JsonLines, Sink

__all__ = [
    "CANCELLED",
    "CANCELLED_RUNNING",
    "ActivityLog",
    "ApprovalAnswered",
    "ApprovalAsked",
    "Assembled",
    "CallFailed",
    "CallFinished",
    "CallRefused",
    "CallStarted",
    "ConfigReloaded",
    "Described",
    "Emit",
    "Event",
    "JsonLines",
    "MASK",
    "Masker",
    "Searched",
    "Sink",
    "Stamp",
    "UpstreamChanged",
    "UpstreamDown",
    "UpstreamUp",
    "names_secret",
]
