"""One task from its first word to its last, with nobody to ask."""

import signal
import sys
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Protocol

from tooldrawer.activity import ActivityLog, Masker
from tooldrawer.agent.agent import Outcome
from tooldrawer.agent.listener import Listener
from tooldrawer.cli.agent_options import Choices
from tooldrawer.cli.consent import Absent, Yes, unasked
from tooldrawer.cli.listening import JsonLines, Worker, unfinished
from tooldrawer.cli.live_feed import LiveFeed, followed
from tooldrawer.cli.output import drop, notice, show
from tooldrawer.cli.plan import Plan
from tooldrawer.cli.resuming import Resuming
from tooldrawer.cli.savings import savings
from tooldrawer.cli.screen import Screen
from tooldrawer.cli.station import Station, opened
from tooldrawer.cli.stopping import LEAVE, stoppable
from tooldrawer.dispatch import Approver, TerminalApprover
from tooldrawer.errors import ModelFailed

_UNFINISHED = 1
_FAILED = 2
_UNREAD = 141
"""What a shell makes of SIGPIPE."""


class Report(Protocol):
    """Tells what happens during a task, and what came of it."""

    listener: Listener

    def following(self, activity: ActivityLog) -> AbstractAsyncContextManager[None]:
        """Tell the activity, until the block is left."""
        ...

    def ended(self, outcome: Outcome, station: Station) -> None:
        """Tell what came of it, and what the drawer saved."""
        ...

    def failed(self, error: ModelFailed) -> None:
        """Tell why the model gave no answer."""
        ...

    def stopped(self) -> None:
        """Tell that it was stopped, to whoever does not know."""
        ...


async def work(choices: Choices, resuming: Resuming, task: str, *, json: bool) -> int:
    """Do one task; the exit code.

    Raises:
        ToolDrawerError: It cannot begin.
    """
    plan = Plan.of(choices)
    report: Report = _AsJson(Masker(plan.config.activity.mask)) if json else _AsText()
    try:
        worked = partial(_worked, plan, resuming, task, report)
        ended = await stoppable(worked, signal.SIGINT, *LEAVE)
    except BrokenPipeError:  # whoever read it has gone, as `head` does, and the work with it
        drop(errors=True)
        return _UNREAD
    if not isinstance(ended, signal.Signals):
        return ended
    report.stopped()
    return 128 + ended


async def _worked(plan: Plan, resuming: Resuming, task: str, report: Report) -> int:
    async with opened(
        plan, name="run", listener=report.listener, approver=_approver(plan), person=None
    ) as station:
        info = await resuming.find(station)
        await (station.resume(info) if info else station.begin())
        for note in plan.config.notes:
            report.listener.noticed(note)
        async with report.following(station.drawer.activity):
            await station.servers.settled(report.listener.noticed)
            outcome = await _outcome(station, task)
        if isinstance(outcome, ModelFailed):
            report.failed(outcome)
            return _FAILED
        report.ended(outcome, station)
        return 0 if outcome.is_success else _UNFINISHED


async def _outcome(station: Station, task: str) -> Outcome | ModelFailed:
    try:
        return await station.agent.run(task)
    except ModelFailed as error:  # raised in there it would come out as one of a group
        return error


def _approver(plan: Plan) -> Approver | None:
    """Who is asked; None is whoever the configuration names."""
    if plan.choices.yes:
        return Yes()
    named = plan.config.approver
    return Absent() if named is None or isinstance(named, TerminalApprover) else None


class _AsText:
    """The answer on standard output, everything else on standard error."""

    def __init__(self) -> None:
        screen = Screen()
        self._feed = LiveFeed(screen)
        self.listener: Listener = Worker(screen)

    def following(self, activity: ActivityLog) -> AbstractAsyncContextManager[None]:
        return self._feed.at_work(activity)

    def ended(self, outcome: Outcome, station: Station) -> None:
        # Words before calls, which is where turns end, were told as they came.
        if outcome.text.strip() and outcome.ending != "turns":
            show(outcome.text.strip("\n"))
            sys.stdout.flush()
        if not outcome.is_success:
            notice(unfinished(outcome))
        if self._feed.unasked:
            notice(unasked(self._feed.unasked))
        notice(savings(station.ledgers, station.plan.prices))

    def failed(self, error: ModelFailed) -> None:
        notice(str(error))

    def stopped(self) -> None:
        pass


class _AsJson:
    """Lines of JSON on standard output."""

    def __init__(self, masker: Masker) -> None:
        self._lines = JsonLines(masker)
        self.listener: Listener = self._lines

    def following(self, activity: ActivityLog) -> AbstractAsyncContextManager[None]:
        return followed(activity, self._lines.take)

    def ended(self, outcome: Outcome, station: Station) -> None:
        ledgers, prices = station.ledgers, station.plan.prices
        self._lines.write(
            "Outcome",
            ending=outcome.ending,
            success=outcome.is_success,
            text=outcome.text,
            turns=outcome.turns,
            conversation=station.agent.conversation.name,
            saved_tokens=sum(ledger.net for ledger in ledgers),
            saved_dollars=sum(each.money(prices) for each in ledgers) if prices else None,
            savings=savings(ledgers, prices),
        )

    def failed(self, error: ModelFailed) -> None:
        self._lines.write("Outcome", ending="failed", success=False, text="", error=str(error))
        notice(str(error))

    def stopped(self) -> None:
        self._lines.write("Outcome", ending="stopped", success=False, text="")
