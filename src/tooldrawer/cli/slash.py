"""What a person may ask of a chat itself, by lines that begin with a slash."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

import anyio.to_thread
from rapidfuzz import process

from tooldrawer.assembly import Assembly
from tooldrawer.bridge import signature
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.output import table, tell
from tooldrawer.cli.resuming import deleted, named, recent, show_conversations, show_last
from tooldrawer.cli.savings import savings
from tooldrawer.cli.station import Station
from tooldrawer.cli.width import cut
from tooldrawer.errors import ToolDrawerError, UnknownTool
from tooldrawer.search.run import run_search
from tooldrawer.tool import Tool

_COMMAND = re.compile(r"/[a-zA-Z?]*(\s|$)")
_MOST_FOUND = 10
_SHORT = 100
_NEAR_ENOUGH = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    name: str
    help: str
    run: Callable[[str], Awaitable[None]]
    words: str = ""
    """What may follow the name."""


def _state(tool: Tool, direct: Collection[str]) -> str:
    return "direct" if tool.name in direct else "deferred"


class Slash:
    """The commands of a chat at a station."""

    def __init__(self, station: Station) -> None:
        self.wants_to_quit = False
        self._station = station
        self._commands = (
            _Command(
                name="/tools",
                words="name",
                help="the tools, direct and deferred; with the name of a toolset or tool, about it",
                run=self._tools,
            ),
            _Command(name="/find", words="words", help="search the tools", run=self._find),
            _Command(name="/scope", help="what this session may see", run=self._scope),
            _Command(name="/savings", help="what the drawer saved", run=self._savings),
            _Command(name="/model", help="the model, and how full its context is", run=self._model),
            _Command(
                name="/resume",
                words="id",
                help="go on with an earlier conversation; without an id, list them",
                run=self._resume,
            ),
            _Command(
                name="/forget",
                words="id",
                help="delete a conversation that was kept",
                run=self._forget,
            ),
            _Command(name="/new", help="begin a new conversation", run=self._new),
            _Command(name="/help", help="this list", run=self._help),
            _Command(name="/quit", help="end; so does Ctrl-D", run=self._quit),
        )

    @property
    def names(self) -> Sequence[tuple[str, str]]:
        """Each command with what it does."""
        return [(command.name, command.help) for command in self._commands]

    def is_command(self, text: str) -> bool:
        """Whether a line is for the chat itself; a path such as /etc/hosts is not."""
        return _COMMAND.match(text) is not None

    async def run(self, text: str) -> None:
        """Do what a line asks for, or say what comes nearest."""
        name, _, words = text.strip().partition(" ")
        name = {"/exit": "/quit", "/?": "/help", "/": "/help"}.get(name.lower(), name.lower())
        known = {command.name: command for command in self._commands}
        if name in known:
            try:
                await known[name].run(words.strip())
            except ToolDrawerError as error:
                tell(str(error))
            return
        nearest = process.extractOne(name, list(known), score_cutoff=_NEAR_ENOUGH)
        hint = f"; did you mean {nearest[0]}?" if nearest else "."
        tell(f"There is no {name}{hint} /help lists them all.")

    async def _tools(self, words: str) -> None:
        assembly = await self._station.shown()
        if words:
            self._about_tools(words, assembly)
            return
        direct = Counter(tool.source for tool in assembly.direct)
        deferred = Counter(tool.source for tool in assembly.deferred)
        rows = [
            (name, f"{direct[name]:,}", f"{deferred[name]:,}")
            for name in sorted({*direct, *deferred})
        ]
        table(("toolset", "shown", "in the drawer"), rows, numbers=2)
        own = [tool.name for tool in assembly.direct]
        tell(f"Shown to the model: {', '.join(own) or 'none'}.")
        tell(assembly.explanation)
        for upstream in self._station.servers.unknown():
            status = upstream.status
            tell(f"{status.name} is {status.state}{f': {status.error}' if status.error else '.'}")

    def _about_tools(self, name: str, assembly: Assembly) -> None:
        """Show the tools of a toolset, or one tool."""
        catalog = self._station.session.catalog
        direct = {tool.name for tool in assembly.direct}
        wanted = name.casefold()
        found = [
            tool for tool in catalog if wanted in (tool.source.casefold(), tool.server.casefold())
        ]
        if found:
            rows = [
                (tool.name, _state(tool, direct), cut(" ".join(tool.description.split()), _SHORT))
                for tool in found
            ]
            table(("tool", "in the array", "what it does"), rows)
            return
        try:
            tool = catalog.get(name)
        except UnknownTool as error:
            near = f" The nearest are: {', '.join(error.near)}." if error.near else ""
            tell(f"There is no toolset or tool of that name.{near}")
            return
        tell(f"{tool.name}{signature(tool)}")
        tell(f"From {tool.source}, {_state(tool, direct)}.")
        if tool.description:
            tell(tool.description)

    async def _find(self, words: str) -> None:
        if not words:
            tell("Say what the tool should do, as in /find create an issue.")
            return
        engine, catalog = self._station.drawer.search, self._station.session.catalog
        limit = self._station.drawer.parts.search.limit(_MOST_FOUND)
        hits = await run_search(engine, catalog, words, limit)
        if not hits:
            tell("No tool fits. Try a verb, an object and the service's name.")
            return
        rows = [
            (hit.tool.name, cut(" ".join(hit.tool.description.split()), _SHORT), f"{hit.score:.2f}")
            for hit in hits
        ]
        table(("tool", "what it does", "score"), rows, numbers=1)

    async def _scope(self, words: str) -> None:
        station = self._station
        scopes = station.drawer.config.scopes
        configured = ", ".join(sorted(scopes))
        if words:
            start = (
                f"Start another chat with: tooldrawer chat --scope {words}"
                if words in scopes
                else f"There is no scope named {words!r}; configured are: {configured or 'none'}."
            )
            tell(f"The scope of a chat stays as it began. {start}")
            return
        scope, catalog = station.session.scope, station.session.catalog
        name = station.plan.scope_label or "everything that is configured"
        tell(f"Scope: {name}, {counted(len(catalog), 'tool')}.")
        per_toolset = Counter(tool.source for tool in catalog)
        tell(f"Toolsets: {', '.join(sorted(per_toolset)) or 'none'}.")
        if scope.deny:
            tell(f"Denied: {', '.join(scope.deny)}.")
        if configured and not station.plan.choices.scope:
            tell(f"Configured scopes: {configured}. Start with --scope to have one.")

    async def _savings(self, words: str) -> None:
        del words
        tell(savings(self._station.ledgers, self._station.plan.prices))

    async def _model(self, words: str) -> None:
        station, spec = self._station, self._station.plan.spec
        if words:
            tell(f"The model stays. Start another chat with: tooldrawer chat --model {words}")
            return
        bridge = "native" if station.session.native else "portable"
        tell(f"{spec.name} at {spec.host}, wire {spec.wire}, bridge {bridge}.")
        used, length = station.agent.used, station.session.context_length
        of = f"{length:,}" if length else "200,000, a guess (say --context-length)"
        tell(f"The conversation has {used:,} tokens; the model reads {of}.")

    async def _resume(self, words: str) -> None:
        station = self._station
        if station.store is None:
            tell("Conversations are not kept here, so there are none to go on with.")
            return
        if not words:
            own = station.agent.conversation.name
            found = [info for info in await recent(station) if info.id != own]
            if not found:
                tell("No other conversation was kept in this folder so far.")
                return
            show_conversations(found)
            tell("Go on with one by /resume and its id, or the letters at its end.")
            return
        info = await named(station, words)
        await station.resume(info)
        show_last(station, info)

    async def _forget(self, words: str) -> None:
        station, store = self._station, self._station.store
        if store is None:
            tell("Conversations are not kept here, so there is none to delete.")
            return
        own = station.agent.conversation.name
        if not words:
            tell(f"Say which one: /resume lists the others, this one is {own}.")
            return
        info = await anyio.to_thread.run_sync(store.find, words)
        gone = await anyio.to_thread.run_sync(store.forget, info.id)
        tell(deleted(info))
        if own in gone:
            await station.begin()
            tell("That was this conversation; a new one begins.")

    async def _new(self, words: str) -> None:
        del words
        station, before = self._station, self._station.agent.conversation
        await station.begin()
        is_kept = station.store is not None and before.messages
        tell(f"A new conversation.{f' /resume {before.name} goes back.' if is_kept else ''}")

    async def _help(self, words: str) -> None:
        del words
        rows = [(f"{each.name} {each.words}".strip(), each.help) for each in self._commands]
        table(("command", "what it does"), rows)
        tell("Enter sends, Alt-Enter begins another line, Ctrl-C stops what runs.")

    async def _quit(self, words: str) -> None:
        del words
        self.wants_to_quit = True
