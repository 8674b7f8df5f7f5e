"""A chat from its first line to its last."""

import signal
import sys
from contextlib import nullcontext
from functools import partial

from tooldrawer.agent.agent import Outcome
from tooldrawer.cli.agent_options import Choices
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.consent import Absent, Yes, unasked
from tooldrawer.cli.keyboard import Keyboard, Pipe
from tooldrawer.cli.listening import Narrator, unfinished
from tooldrawer.cli.live_feed import LiveFeed
from tooldrawer.cli.output import notice, tell
from tooldrawer.cli.plan import Plan
from tooldrawer.cli.prompt import Cleared, Prompt
from tooldrawer.cli.resuming import Resuming, show_last
from tooldrawer.cli.savings import savings
from tooldrawer.cli.screen import Screen
from tooldrawer.cli.slash import Slash
from tooldrawer.cli.station import Station, opened
from tooldrawer.cli.stopping import LEAVE, stoppable
from tooldrawer.dispatch import Approver, TerminalApprover
from tooldrawer.errors import ModelFailed

_INTERRUPTED = 130
_UNFINISHED = 1


async def converse(choices: Choices, resuming: Resuming) -> int:
    """Hold a conversation; its exit code.

    Raises:
        ToolDrawerError: It cannot begin.
    """
    plan = Plan.of(choices)
    ended = await stoppable(partial(_held, plan, resuming), *LEAVE)
    return 128 + ended if isinstance(ended, signal.Signals) else ended


async def _held(plan: Plan, resuming: Resuming) -> int:
    screen = Screen()
    feed = LiveFeed(screen)
    keyboard = Keyboard(screen) if sys.stdin.isatty() else None
    async with opened(
        plan,
        name="chat",
        listener=Narrator(screen, feed),
        approver=_approver(plan, keyboard),
        person=keyboard,
    ) as station:
        info = await resuming.find(station)
        await (station.resume(info) if info else station.begin())
        chat = Chat(station, screen, feed, keyboard)
        await chat.welcome()
        if info:
            show_last(station, info)
        async with feed.following(station.drawer.activity):
            code = await chat.hold()
        if feed.unasked:
            notice(unasked(feed.unasked))
        notice(savings(station.ledgers, plan.prices))
        return code


def _approver(plan: Plan, keyboard: Keyboard | None) -> Approver | None:
    """Who is asked; None is whoever the configuration names."""
    if plan.choices.yes:
        return Yes()
    named = plan.config.approver
    if named is not None and not isinstance(named, TerminalApprover):
        return None
    return keyboard or Absent()


class Chat:
    """Messages in, answers out, until there are no more."""

    def __init__(
        self, station: Station, screen: Screen, feed: LiveFeed, keyboard: Keyboard | None
    ) -> None:
        self._station, self._screen, self._feed = station, screen, feed
        self._keyboard = keyboard
        self._slash = Slash(station)
        self._in_terminal = keyboard is not None and sys.stdout.isatty()
        self._pipe = Pipe(mark=sys.stderr if keyboard and sys.stderr.isatty() else None)
        self._prompt: Prompt | None = None
        self._code = 0

    async def welcome(self) -> None:
        """Say who is there and what they may do."""
        plan = self._station.plan
        for note in plan.config.notes:
            notice(note)
        if plan.choices.yes:
            notice("Nobody will be asked: --yes says yes to every call.")
        if plan.choices.read_only:
            notice("Nothing will be changed: --read-only refuses every call that may.")
        if not self._in_terminal:
            return
        assembly = await self._station.shown()
        spec = plan.spec
        deferred = len(assembly.deferred)
        drawer = f", {deferred:,} in the drawer" if deferred and assembly.active else ""
        tell(
            f"{spec.name} at {spec.host}: {counted(len(assembly.direct), 'tool')} shown{drawer}.\n"
            "/help lists commands, Ctrl-D ends."
        )
        if plan.file is not None and plan.choices.config is None:
            tell(f"Settings from {plan.file}.")
        starting = [each.spec.name for each in self._station.servers.starting()]
        if starting:
            tell(f"Starting: {', '.join(starting)}.")

    async def hold(self) -> int:
        """Answer every message; the exit code."""
        if self._in_terminal:
            self._prompt = Prompt(
                self._slash.names,
                colour=self._screen.has_colour,
                stores=self._station.plan.stores,
            )
        warned = False
        while not self._slash.wants_to_quit:
            try:
                text = (await self._read()).strip()
            except EOFError:
                break
            except Cleared:
                if warned:
                    break
                warned = True
                tell("Ctrl-C again ends the chat, as Ctrl-D does.")
                continue
            warned = False
            if not await self._answer(text):
                return _INTERRUPTED
        return self._code

    async def _read(self) -> str:
        """The next message.

        Raises:
            EOFError: There are no more.
            Cleared: Ctrl-C was pressed with nothing written.
        """
        if self._prompt is None:
            return await self._pipe.read()
        with self._screen.paused(self._prompt.make_way):
            return await self._prompt.read()

    async def _answer(self, text: str) -> bool:
        """Answer one message; whether to go on."""
        if not text:
            return True
        if self._slash.is_command(text):
            return await self._commanded(text)
        self._code = 0
        try:
            outcome = await self._worked(text)
        except ModelFailed as error:
            self._screen.notice(str(error))
            self._code = _UNFINISHED
            return True
        if not isinstance(outcome, Outcome):
            self._screen.notice("Stopped.")
            return self._in_terminal
        if not outcome.is_success:
            self._code = _UNFINISHED
            self._screen.notice(unfinished(outcome))
        return True

    async def _commanded(self, text: str) -> bool:
        """Do what a command says; whether to go on."""
        if await stoppable(partial(self._slash.run, text), signal.SIGINT) is None:
            return True
        self._screen.notice("Stopped.")
        return self._in_terminal

    async def _worked(self, text: str) -> Outcome | signal.Signals:
        async def work() -> Outcome:
            await self._station.servers.settled(self._screen.notice)
            return await self._station.agent.run(text)

        with self._keyboard.quiet() if self._keyboard else nullcontext():
            async with self._feed.working():
                return await stoppable(work, signal.SIGINT)
