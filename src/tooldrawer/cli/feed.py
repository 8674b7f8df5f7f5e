"""Events as lines for people."""

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


def line(event: Event) -> str:
    """One event in one line; the session first when there is one."""
    return f"{event.session}: {_said(event)}" if event.session else _said(event)


def _said(event: Event) -> str:  # noqa: C901  one branch for each kind, nothing else
    match event:
        case Assembled():
            state = "closed" if event.active else "open"
            return (
                f"assembled, drawer {state}: {event.direct} direct, {event.deferred} deferred, "
                f"{event.array_tokens:,} tokens, {event.saved_tokens:,} saved"
            )
        case Searched():
            found = ", ".join(event.hits) or "nothing"
            return f"searched {event.query!r}: {found} ({event.reply_tokens:,} tokens)"
        case Described():
            return f"described {event.tool} ({event.reply_tokens:,} tokens)"
        case CallStarted():
            return f"{event.tool} started ({event.toolset})"
        case CallFinished():
            repairs = f", repaired {'; '.join(event.repairs)}" if event.repairs else ""
            state = "answered with an error" if event.is_error else "finished"
            said = f": {event.error}" if event.error else ""
            return f"{event.tool} {state} in {event.duration * 1000:.0f} ms{repairs}{said}"
        case CallRefused():
            return f"{event.tool or 'a call'} refused: {event.reason}"
        case CallFailed():
            return f"{event.tool} failed: {event.error}"
        case ApprovalAsked():
            return f"{event.tool} waits for a person: {event.question}"
        case ApprovalAnswered():
            return f"{event.tool}: the answer is {event.answer}"
        case UpstreamUp():
            note = f" ({event.note})" if event.note else ""
            return f"{event.upstream} is up with {event.tools} tools{note}{_dropped(event)}"
        case UpstreamDown():
            return f"{event.upstream} is down: {event.error}"
        case UpstreamChanged():
            counts = f"{event.added} more, {event.removed} less, {event.changed} changed"
            return f"{event.upstream} changed: {counts}{_dropped(event)}"
        case ConfigReloaded():
            return f"{event.path} {'is wrong: ' + event.error if event.error else 'applied'}"
        case _:
            assert_never(event)


def _dropped(event: UpstreamUp | UpstreamChanged) -> str:
    return f"; dropped {'; '.join(event.dropped)}" if event.dropped else ""
