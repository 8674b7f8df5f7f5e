"""Where an agent works: its tools, its model, its subagents and what it keeps."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio.to_thread
from platformdirs import user_data_path

from tooldrawer import config as configuration
from tooldrawer.activity import Masker
from tooldrawer.agent.agent import Agent
from tooldrawer.agent.connection import connected
from tooldrawer.agent.conversation import Conversation
from tooldrawer.agent.conversations import Conversations, Info
from tooldrawer.agent.core import CoreRules, CoreTools, Passage, Person
from tooldrawer.agent.crew import Crew
from tooldrawer.agent.listener import Listener, Nobody
from tooldrawer.agent.model import Model
from tooldrawer.agent.prompt import system_prompt
from tooldrawer.agent.retrying import Retrying
from tooldrawer.assembly import Assembly
from tooldrawer.cli.absent_servers import hush_disabled
from tooldrawer.cli.consent import only_reading
from tooldrawer.cli.plan import Plan
from tooldrawer.cli.servers import Servers
from tooldrawer.dispatch import Approver
from tooldrawer.drawer import Drawer
from tooldrawer.errors import ModelFailed, ToolDrawerError
from tooldrawer.ledger import Ledger
from tooldrawer.scope import Scope
from tooldrawer.session import Session
from tooldrawer.wire.message import Message

_LATER = " Try again later."
_LARGEST_NOTES = 16_000
"""Characters of the notes that begin every prompt; the tool keeps their file below it."""


class Station:
    """One agent at work, and the conversation that it has."""

    def __init__(
        self,
        plan: Plan,
        *,
        name: str,
        drawer: Drawer,
        crew: Crew,
        listener: Listener,
        store: Conversations | None,
    ) -> None:
        self.plan, self.drawer, self.crew = plan, drawer, crew
        self.store = store
        """Where conversations are kept; None when they are not."""
        self.servers = Servers()
        self._name, self._listener = name, listener
        self._ledgers: list[Ledger] = []
        self._agent: Agent | None = None

    @property
    def agent(self) -> Agent:
        """The agent that the person talks to."""
        assert self._agent is not None, "a conversation was begun"
        return self._agent

    @property
    def session(self) -> Session:
        """Its session."""
        return self.agent.session

    @property
    def ledgers(self) -> tuple[Ledger, ...]:
        """Of all sessions so far, those of subagents after the agent's own."""
        return (*self._ledgers, *self.crew.ledgers)

    async def begin(self) -> None:
        """Begin a conversation, with a session of its own."""
        self._seat(await self.begun())

    async def resume(self, info: Info) -> None:
        """Go on with a conversation that was kept.

        Raises:
            ToolDrawerError: It cannot be read.
        """
        assert self.store is not None, "it was found there"
        messages = await anyio.to_thread.run_sync(self.store.load, info.id)
        self._seat(self._kept(info.id, messages=messages))

    async def begun(self, parent: str = "") -> Conversation:
        """A new conversation, kept if it can be."""
        if self.store is None:
            return Conversation()
        start = partial(
            self.store.start,
            model=self.plan.spec.name,
            cwd=str(self.plan.workplace.root),
            scope=self.plan.scope_label,
            parent=parent or None,
        )
        try:
            return self._kept(await anyio.to_thread.run_sync(start))
        except ToolDrawerError as error:
            self._listener.noticed(f"The conversation is not kept: {error}")
            self.store = None
            return Conversation()

    async def shown(self) -> Assembly:
        """What the model would be shown now; looking costs the session nothing."""
        probe = self._session(f"{self._name}-look")
        probe.native = self.plan.spec.native
        probe.context_length = self.plan.spec.context_length or probe.context_length
        return await probe.tools()

    def _seat(self, conversation: Conversation) -> None:
        number = len(self._ledgers) + 1
        session = self._session(self._name if number == 1 else f"{self._name}-{number}")
        self._ledgers.append(session.ledger)
        self._agent = self.crew.lead(session, conversation, self._listener)

    def _session(self, name: str) -> Session:
        choices = self.plan.choices
        session = self.drawer.session(name, scope=choices.scope)
        if choices.toolsets is None:
            return session
        # Within the scope that was named, as a subagent is within its parent's.
        return session.child(
            Scope(toolsets=choices.toolsets, name=self.plan.scope_label), name=name
        )

    def _kept(self, name: str, messages: Sequence[Message] = ()) -> Conversation:
        return Conversation(
            name, messages=messages, keeper=self.store, noticed=self._listener.noticed
        )


@asynccontextmanager
async def opened(
    plan: Plan,
    *,
    name: str,
    listener: Listener,
    approver: Approver | None,
    person: Person | None,
) -> AsyncGenerator[Station]:
    """The station of a plan, its servers starting; no conversation has begun.

    Raises:
        ConfigError: The SDK of the model's wire is not installed.
    """
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(connected(plan.spec))
        made: list[Station] = []
        memory = user_data_path("tooldrawer", appauthor=False) / "memory.md"
        crew = _crew(plan, model, listener, memory, lambda: made[0])
        masker = Masker(plan.config.activity.mask)
        names = plan.config.assembly.names
        store = Conversations(masker=masker, names=names) if plan.stores else None
        core = CoreTools(
            plan.workplace,
            person=person,
            delegate=crew,
            past=_Earlier(store, lambda: made[0]) if store else None,
            memory=memory,
        )
        hush_disabled()  # the feed tells it
        drawer = _drawer(plan, core, approver)
        stack.callback(drawer.close)
        station = Station(plan, name=name, drawer=drawer, crew=crew, listener=listener, store=store)
        made.append(station)
        if drawer.config.servers:
            pool = await stack.enter_async_context(drawer.connected())
            station.servers = Servers(pool, drawer=drawer)
        yield station


def _crew(
    plan: Plan, model: Model, listener: Listener, memory: Path, station: Callable[[], Station]
) -> Crew:
    def wait(seconds: float, failure: ModelFailed) -> None:
        said = str(failure).removesuffix(_LATER)  # that is what happens now, by itself
        listener.noticed(f"{said} Asking again in {seconds:.0f} s.")

    return Crew(
        Retrying(model, wait),
        system=system_prompt(plan.workplace, notes=_notes(memory)),
        names=plan.config.assembly.names,
        begin=lambda parent: station().begun(parent),
        telling=lambda session: _Quiet(listener),
        max_turns=plan.choices.max_turns or plan.config.agent.max_turns,
        subagent_turns=plan.config.agent.subagent_turns,
    )


def _drawer(plan: Plan, core: CoreTools, approver: Approver | None) -> Drawer:
    # Whatever its name is: a model that writes it would start servers of its own.
    steering = configuration.sources(plan.file) if plan.file else ()
    rules = CoreRules(plan.workplace, steering=steering)
    guardrails = [rules, *([only_reading] if plan.choices.read_only else [])]
    if plan.file is None:
        return Drawer([core], config=plan.config, guardrails=guardrails, approver=approver)
    return Drawer.from_config(
        plan.file,
        toolsets=[core],
        guardrails=guardrails,
        approver=approver,
        adjust=plan.choices.within,
        trust="file" if plan.choices.config else "recorded",
    )


def _notes(memory: Path) -> str:
    try:
        return memory.read_text(encoding="utf-8", errors="replace")[:_LARGEST_NOTES]
    except OSError:
        return ""


class _Quiet(Nobody):
    """Listens to a subagent: its calls are in the feed, its words go to who asked for them."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def noticed(self, text: str) -> None:
        """Pass it on."""
        self._listener.noticed(text)


class _Earlier:
    """The conversations of the same scope, without the one that asks."""

    def __init__(self, store: Conversations, station: Callable[[], Station]) -> None:
        self._store, self._station = store, station

    def search(self, query: str, limit: int) -> Sequence[Passage]:
        """The passages that fit best, best first."""
        station = self._station()
        return self._store.search(
            query,
            limit,
            scope=station.plan.scope_label,
            besides=station.agent.conversation.name,
        )
