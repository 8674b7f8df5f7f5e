"""The activity as lines of text, one line per event."""

from collections import OrderedDict
from typing import assert_never

from tooldrawer.activity import (
    ApprovalAnswered,
    ApprovalAsked,
    Assembled,
    CallFailed,
    CallFinished,
    CallRefused,
    CallStarted,
    ConfigReloaded,
    Described,
    Event,
    Searched,
    UpstreamChanged,
    UpstreamDown,
    UpstreamUp,
)
from tooldrawer.cli.call_row import in_short

_MAX_SESSIONS = 1_000
"""Sessions whose last assembly is remembered."""


class Feed:
    """Turns events into lines and leaves out an assembly that repeats the previous one."""

    def __init__(self) -> None:
        self._last_assembly: OrderedDict[str, str] = OrderedDict()

    def format_event(self, event: Event) -> str | None:
        """Return the line for `event`, or None if it would repeat an unchanged assembly."""
        text = format_line(event)
        if isinstance(event, Assembled):
            if self._last_assembly.get(event.session) == text:
                return None
            self._last_assembly[event.session] = text
            self._last_assembly.move_to_end(event.session)
            if len(self._last_assembly) > _MAX_SESSIONS:
                self._last_assembly.popitem(last=False)
        return text


def format_line(event: Event) -> str:
    """Return one event as one line: the session first if there is one, line breaks as spaces."""
    text = f"{event.session}: {_describe(event)}" if event.session else _describe(event)
    return " ".join(text.split())


def _describe(event: Event) -> str:  # noqa: C901  one branch for each kind, nothing else
    match event:
        case Assembled():
            state = "active" if event.active else "inactive"
            return (
                f"tool search is {state}: {event.direct} direct, {event.deferred} deferred, "
                f"{event.array_tokens:,} tokens, {event.saved_tokens:,} saved"
            )
        case Searched():
            found = ", ".join(event.hits) or "nothing"
            return f"searched {event.query!r}: {found} ({event.reply_tokens:,} tokens)"
        case Described():
            return f"described {event.tool} ({event.reply_tokens:,} tokens)"
        case CallStarted():
            return f"{event.tool}({in_short(event.arguments)}) started [{event.toolset}]"
        case CallFinished():
            repairs = f", repaired {'; '.join(event.repairs)}" if event.repairs else ""
            state = "returned an error" if event.is_error else "finished"
            error = f": {event.error}" if event.error else ""
            return f"{event.tool} {state} in {event.duration * 1000:.0f} ms{repairs}{error}"
        case CallRefused():
            return f"{event.tool or 'a call'} refused: {event.reason}"
        case CallFailed():
            return f"{event.tool} failed: {event.error}"
        case ApprovalAsked():
            return f"{event.tool} waits for approval: {event.question}"
        case ApprovalAnswered():
            return f"{event.tool} approval answered: {event.answer}"
        case UpstreamUp():
            note = f" ({event.note})" if event.note else ""
            return (
                f"{event.upstream} is up with {event.tools} tools{note}{_describe_dropped(event)}"
            )
        case UpstreamDown():
            return f"{event.upstream} is down: {event.error}"
        case UpstreamChanged():
            counts = f"{event.added} added, {event.removed} removed, {event.changed} changed"
            return f"{event.upstream} changed its tools: {counts}{_describe_dropped(event)}"
        case ConfigReloaded():
            return f"{event.path}{': ' + event.error if event.error else ' applied'}"
        case _:
            assert_never(event)


def _describe_dropped(event: UpstreamUp | UpstreamChanged) -> str:
    return f"; dropped {'; '.join(event.dropped)}" if event.dropped else ""
