"""How well searching works in the wild, counted from what happened. No name leaves it."""

from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from time import time

from tooldrawer.activity.events import (
    CANCELLED,
    CANCELLED_RUNNING,
    ApprovalAnswered,
    ApprovalAsked,
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

RANKS = ("1", "2", "3", "4-5", "6-10", "11+")
"""Where in a search reply the called tool was."""
AGAIN = "again"
"""Called before in the session, and not found anew since."""
NOT_SEARCHED = "not searched"
"""In no search reply of the session."""
ANSWERS = (
    "once",
    "session",
    "always",
    "no",
    "nobody to ask",
    "no answer in time",
    "the question could not be put",
)
"""What comes of asking a person, in the words of the events."""
_OTHER = "other"
_YES = ANSWERS[:3]
_LAST_RANKS = (1, 2, 3, 5, 10)
_SEARCH_BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_CALL_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_MOST_NAMES = 100
"""Of tools that are remembered of a session, of each kind: twice what one reply may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How often a measure was within each bound; the last count is what was beyond them all."""

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float
    """The sum of all that was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Shares between 0 and 1; nothing where there is nothing to divide by."""

    searched_again: float | None
    """Searches that came after another one of the session, without a call in between."""
    never_called: float | None
    """Episodes in which no tool that was found was called."""
    described_first: float | None
    """First calls of a tool by a session which read its full schema before."""
    repaired: float | None
    """Finished calls whose arguments had to be repaired."""
    refused: float | None
    """Calls that were stopped before the tool ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was counted so far. No tool and no session is named in it."""

    searches: int
    searches_again: int
    searches_empty: int
    """That found nothing."""
    search_reply_tokens: int
    search_seconds: Histogram
    episodes: Mapping[str, int]
    """Searches up to a call, by outcome: "called", or "not called" one of the tools found."""
    describes: int
    describe_reply_tokens: int
    calls: Mapping[str, int]
    """By outcome: "ok", "error", "refused", "failed", "cancelled"."""
    call_seconds: Histogram
    """Of calls that reached their tool."""
    ranks: Mapping[str, int]
    """Calls by where the tool was in the last search reply that had it: RANKS, AGAIN, NOT_SEARCHED.
    """
    first_calls: int
    """Calls of a tool that the session had not called before."""
    first_calls_described: int
    repaired: int
    refusals: Mapping[str, int]
    """By kind: "no tool" was meant, "approval" was not given, or a "check" said no."""
    approvals_asked: int
    approvals: Mapping[str, int]
    """By answer."""
    upstreams: Mapping[str, Mapping[str, int]]
    """By server: how often it came "up", went "down", or "changed" its tools."""
    reloads: Mapping[str, int]
    """Of the configuration: "applied", or "wrong"."""
    rates: Rates


@dataclass(slots=True)
class _Measure:
    bounds: tuple[float, ...]
    counts: list[int] = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def histogram(self) -> Histogram:
        return Histogram(bounds=self.bounds, counts=tuple(self.counts), total=self.total)


class _Names(dict[str, tuple[int, int]]):
    """The last names of tools, each with a turn and a rank."""

    def keep(self, name: str, turn: int = 0, rank: int = 0) -> None:
        old = self.pop(name, None)
        # Several replies of one turn count as one: the best place is what the model saw first.
        best = min(rank, old[1]) if old and old[0] == turn else rank
        self[name] = (turn, best)
        if len(self) > _MOST_NAMES:
            del self[next(iter(self))]


@dataclass(slots=True)
class _Trail:
    """What is remembered of one session."""

    at: float
    searched_at: float | None = None
    turn: int = 0
    has_called: bool = False
    """Since the last search."""
    episode: _Names | None = None
    """The tools found since the last call; nothing when one of them was called."""
    found: _Names = field(default_factory=_Names)
    """Tools in search replies that were not called since."""
    described: _Names = field(default_factory=_Names)
    called: _Names = field(default_factory=_Names)
    denied: _Names = field(default_factory=_Names)
    """Tools that a person was asked about and that were not approved, until the refusal comes."""


class Quality:
    """Counts events, as a sink does. Safe to read from another thread while it counts.

    A search episode begins with the first search after a call, and is settled when one of the tools
    found is called; or else with the first search after another call, or when the session was idle
    for `idle` seconds or is no longer among the last `sessions` ones.

    Searches that begin within `same_turn` seconds of the last one's reply are one turn of a model
    which asked for several things at once: none reads a reply and asks again so fast.
    """

    def __init__(
        self,
        *,
        sessions: int = 1000,
        idle: float = 1800.0,
        same_turn: float = 0.1,
        clock: Callable[[], float] = time,
    ) -> None:
        self._most_sessions = sessions
        self._idle = idle
        self._same_turn = same_turn
        self._clock = clock
        self._lock = Lock()
        self._trails: OrderedDict[str, _Trail] = OrderedDict()
        self._counts: Counter[str] = Counter()
        self._episodes = _zeros("called", "not called")
        self._calls = _zeros("ok", "error", "refused", "failed", "cancelled")
        self._ranks = _zeros(*RANKS, AGAIN, NOT_SEARCHED)
        self._refusals = _zeros("no tool", "approval", "check")
        self._approvals = _zeros(*ANSWERS, _OTHER)
        self._upstreams: dict[str, Counter[str]] = {}
        self._reloads = _zeros("applied", "wrong")
        self._search_seconds = _Measure(_SEARCH_BOUNDS)
        self._call_seconds = _Measure(_CALL_BOUNDS)

    def write(self, event: Event) -> None:
        """Count one event."""
        with self._lock:
            self._settle_idle(event.at)
            match event:
                case Searched() | Described() | CallStarted():
                    self._asked(event)
                case CallFinished() | CallFailed() | CallRefused():
                    self._ended(event)
                case ApprovalAsked() | ApprovalAnswered():
                    self._approval(event)
                case UpstreamUp() | UpstreamDown() | UpstreamChanged():
                    self._upstream(event)
                case ConfigReloaded():
                    self._reloads["wrong" if event.error else "applied"] += 1
                case _:  # an assembly has no part in it
                    pass

    def snapshot(self) -> Figures:
        """The figures as they are now."""
        with self._lock:
            self._settle_idle(self._clock())
            counts = self._counts
            return Figures(
                searches=counts["searches"],
                searches_again=counts["searches again"],
                searches_empty=counts["searches empty"],
                search_reply_tokens=counts["search tokens"],
                search_seconds=self._search_seconds.histogram(),
                episodes=dict(self._episodes),
                describes=counts["describes"],
                describe_reply_tokens=counts["describe tokens"],
                calls=dict(self._calls),
                call_seconds=self._call_seconds.histogram(),
                ranks=dict(self._ranks),
                first_calls=counts["first calls"],
                first_calls_described=counts["first calls described"],
                repaired=counts["repaired"],
                refusals=dict(self._refusals),
                approvals_asked=counts["approvals asked"],
                approvals=dict(self._approvals),
                upstreams={name: dict(counts) for name, counts in self._upstreams.items()},
                reloads=dict(self._reloads),
                rates=self._rates(),
            )

    def _rates(self) -> Rates:
        counts, calls = self._counts, self._calls
        return Rates(
            searched_again=_share(counts["searches again"], counts["searches"]),
            never_called=_share(self._episodes["not called"], self._episodes.total()),
            described_first=_share(counts["first calls described"], counts["first calls"]),
            repaired=_share(counts["repaired"], calls["ok"] + calls["error"]),
            refused=_share(calls["refused"], calls.total()),
        )

    def _asked(self, event: Searched | Described | CallStarted) -> None:
        trail = self._trail(event)
        match event:
            case Searched():
                self._searched(event, trail)
            case Described():
                self._counts["describes"] += 1
                self._counts["describe tokens"] += event.reply_tokens
                trail.described.keep(event.tool)
            case CallStarted():
                self._called(event.tool, trail)

    def _searched(self, event: Searched, trail: _Trail) -> None:
        self._counts["searches"] += 1
        self._counts["search tokens"] += event.reply_tokens
        self._counts["searches empty"] += not event.hits
        self._search_seconds.add(event.duration)
        if trail.searched_at is None or trail.has_called:
            self._settle(trail)
            trail.episode = _Names()
            trail.turn += 1
        elif event.at - event.duration - trail.searched_at >= self._same_turn:
            self._counts["searches again"] += 1
            trail.turn += 1
        trail.searched_at, trail.has_called = event.at, False
        for rank, name in enumerate(event.hits, start=1):
            trail.found.keep(name, trail.turn, rank)
            if trail.episode is not None:
                trail.episode.keep(name)

    def _called(self, tool: str, trail: _Trail) -> None:
        trail.has_called = True
        if trail.episode is not None and tool in trail.episode:
            self._episodes["called"] += 1
            trail.episode = None
        if place := trail.found.pop(tool, None):
            self._ranks[RANKS[bisect_left(_LAST_RANKS, place[1])]] += 1
        else:
            self._ranks[AGAIN if tool in trail.called else NOT_SEARCHED] += 1
        if tool not in trail.called:
            self._counts["first calls"] += 1
            self._counts["first calls described"] += tool in trail.described
        trail.called.keep(tool)

    def _ended(self, event: CallFinished | CallFailed | CallRefused) -> None:
        trail = self._trail(event)
        match event:
            case CallFinished():
                self._calls["error" if event.is_error else "ok"] += 1
                self._counts["repaired"] += bool(event.repairs)
                self._call_seconds.add(event.duration)
            case CallFailed():
                is_cancelled = event.error in (CANCELLED, CANCELLED_RUNNING)
                self._calls["cancelled" if is_cancelled else "failed"] += 1
                self._call_seconds.add(event.duration)
            case CallRefused():
                self._calls["refused"] += 1
                self._refusals[_kind(event.tool, trail)] += 1

    def _approval(self, event: ApprovalAsked | ApprovalAnswered) -> None:
        trail = self._trail(event)
        if isinstance(event, ApprovalAsked):
            self._counts["approvals asked"] += 1
            return
        # An approver that anyone may have written must not make labels without end.
        self._approvals[event.answer if event.answer in ANSWERS else _OTHER] += 1
        if event.answer not in _YES:
            trail.denied.keep(event.tool)

    def _upstream(self, event: UpstreamUp | UpstreamDown | UpstreamChanged) -> None:
        words = {UpstreamUp: "up", UpstreamDown: "down", UpstreamChanged: "changed"}
        # As many as the configuration has servers, and so few enough.
        counts = self._upstreams.setdefault(event.upstream, _zeros(*words.values()))
        counts[words[type(event)]] += 1

    def _trail(self, event: Event) -> _Trail:
        """What is known of the event's session, which is now the last one heard of."""
        trail = self._trails.setdefault(event.session, _Trail(at=event.at))
        trail.at = event.at
        self._trails.move_to_end(event.session)
        if len(self._trails) > self._most_sessions:
            self._settle(self._trails.popitem(last=False)[1])
        return trail

    def _settle_idle(self, now: float) -> None:
        while self._trails:
            name, oldest = next(iter(self._trails.items()))
            if now - oldest.at <= self._idle:
                return
            self._settle(oldest)
            del self._trails[name]

    def _settle(self, trail: _Trail) -> None:
        """No tool of the open episode will be called any more."""
        if trail.episode is not None:
            self._episodes["not called"] += 1
            trail.episode = None


def _kind(tool: str | None, trail: _Trail) -> str:
    """Why a call was refused, as far as the events tell."""
    if tool is None:
        return "no tool"
    return "check" if trail.denied.pop(tool, None) is None else "approval"


def _zeros(*labels: str) -> Counter[str]:
    """A counter that shows each label from the start, so that its first count is seen as one."""
    return Counter(dict.fromkeys(labels, 0))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
