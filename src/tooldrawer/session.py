"""One conversation: what the model sees, and what it may do."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic, perf_counter
from types import TracebackType
from typing import Self, assert_never

import anyio.lowlevel

from tooldrawer.activity import Assembled, CallRefused, Searched, Stamp
from tooldrawer.assembly import Assembly
from tooldrawer.bridge import (
    CallTool,
    DescribeTools,
    SearchLimit,
    SearchTools,
    depends_on_all_tools,
    parse,
    unnested,
)
from tooldrawer.bridge.replies import (
    nothing_fits,
    search_limit_reply,
    search_note,
    search_reply,
)
from tooldrawer.call import ToolResult
from tooldrawer.catalog import Catalog
from tooldrawer.concurrent_calls import Each, answer_calls, ignore_result
from tooldrawer.description import describe_tools
from tooldrawer.dispatch import Caller, Rests, View
from tooldrawer.dispatch.arguments import require_request_size
from tooldrawer.dispatch.limits import READ_REST, how_to_read_on
from tooldrawer.errors import (
    CallRejected,
    SessionClosed,
    ToolFailed,
    UnknownTool,
)
from tooldrawer.ledger import Ledger
from tooldrawer.parts import Parts, PartsSource
from tooldrawer.scope import Scope
from tooldrawer.search.run import run_search, search_failures_as_text
from tooldrawer.surrogates import replace_half_pairs
from tooldrawer.tokens import compact
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.turn import Host, Turn, Turns, explain_unknown
from tooldrawer.wire.provider_calls import Calls, read_call

_ROOM_FOR_SCHEMAS = 2
"""A loaded definition says about twice what a signature does: over 2,367 tools, 327 tokens."""


class Session:
    """The two halves of a turn meet here: `tools()` before the model, `call()` after it."""

    def __init__(
        self,
        name: str,
        drawer: PartsSource,
        *,
        scope: Scope | str,
        within: "Session | None" = None,
        context_length: int | None = None,
        host: Host | None = None,
        refuses_searches: bool = True,
        waits_for_tools: bool = True,
        clock: Callable[[], float] = monotonic,
        principal: str = "",
        has_conversation: bool = True,
    ) -> None:
        """Set `refuses_searches` if the host passes all calls of the model to this session.

        With `waits_for_tools`, `tools()` waits a little for servers that are starting.
        Without `has_conversation` the calls of several clients share it, so nothing is remembered.
        """
        self.name = name
        self.context_length = context_length
        """Of the model; may be set when the model changes."""
        self.native = False
        """Whether the provider loads found tools itself; may be set when the endpoint changes."""
        self.ledger = Ledger()
        self._drawer, self._scope, self._within, self._host = drawer, scope, within, host
        self._rests = Rests(drawer.parts.results, principal)
        self._caller = Caller(
            session=name,
            scope=lambda: self.scope,
            view=self._view,
            principal=principal,
            has_conversation=has_conversation,
        )
        self._search_limit = SearchLimit(clock)
        self._refuses_searches, self._waits_for_tools = refuses_searches, waits_for_tools
        self._children = 0
        self._is_closed = False
        self._turns = Turns(host)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closed = True

    @property
    def scope(self) -> Scope:
        """What exists for this session now; a named scope that is gone admits nothing."""
        scope = self._scope
        if isinstance(scope, str):
            scope = self._drawer.parts.scopes.get(scope) or Scope(toolsets=(), name=scope)
        return scope if self._within is None else scope.within(self._within.scope)

    @property
    def catalog(self) -> Catalog:
        """The tools that exist for this session now."""
        return self._view().catalog

    def child(self, scope: Scope | str | None = None, *, name: str | None = None) -> "Session":
        """A session for a subagent: its scope is the intersection of this one's and its own."""
        self._children += 1
        return Session(
            name or f"{self.name}.{self._children}",
            self._drawer,
            scope=Scope() if scope is None else scope,
            within=self,
            context_length=self.context_length,
            host=self._host,
            principal=self._caller.principal,
            has_conversation=self._caller.has_conversation,
        )

    async def tools(self) -> Assembly:
        """This turn's tools array, decided anew from what is registered now.

        While servers start, it waits for their tools, up to `first_search_wait` seconds in all.
        """
        parts = await self._parts()
        if self._waits_for_tools and await self._wait_for_servers(lambda: True):
            parts = await self._parts()
        started = perf_counter()
        self._search_limit.begin_turn()
        assembly = (await self._decided(parts)).assembly
        self.ledger.turn(
            kept_out=assembly.deferrable_tokens if assembly.active else 0,
            bridge=assembly.bridge_tokens,
        )
        parts.emit(
            Assembled(
                **self._stamp(),
                active=assembly.active,
                direct=len(assembly.direct),
                deferred=len(assembly.deferred),
                array_tokens=assembly.array_tokens,
                saved_tokens=assembly.saved_tokens,
                duration=perf_counter() - started,
            )
        )
        return assembly

    def note_user_message(self) -> None:
        """Record that the user wrote something, which allows as many searches as at the start."""
        self._search_limit.reset()

    async def call(self, name: str, arguments: Json = None, *, call_id: str = "") -> ToolResult:
        """Answer the model, whatever it asked for: the bridge, or any tool by its name.

        What goes wrong comes back as an error that the model can read and act on.
        """
        parts = await self._parts()
        names = parts.policy.names
        if await self._wait_for_servers(
            lambda: depends_on_all_tools(str(name), arguments, names, self.catalog)
        ):
            parts = await self._parts()  # the settings may have changed meanwhile
        try:
            result = await self._answer(name, arguments, parts, call_id)
        except (CallRejected, ToolFailed) as error:
            text = self._explain(error) if isinstance(error, UnknownTool) else str(error)
            text = replace_half_pairs(text)  # an exception of a tool may quote anything
            if isinstance(error, CallRejected):
                self.ledger.retried(parts.counter.count(text))
            result = replace(ToolResult.of_text(text, is_error=True), cause=error)
        return replace(result, call_id=call_id) if result.call_id != call_id else result

    async def call_all(
        self,
        calls: Calls,
        *,
        concurrency: int | None = None,
        each: Each = ignore_result,
    ) -> list[ToolResult]:
        """Answer all calls of one turn, at most `concurrency` at a time; the order is kept.

        `each` is told of every result when it comes, for a host that may be interrupted.

        Raises:
            TypeError: An entry cannot be read as a call; none was run.
        """
        asked = [read_call(call) for call in calls]
        limit = (await self._parts()).limits.concurrency if concurrency is None else concurrency
        if limit < 1:
            raise ValueError(f"concurrency is {limit}; give 1 or more, or leave it out.")
        with self._search_limit.batch():
            return await answer_calls(
                asked,
                lambda call: self.call(call.name, call.arguments, call_id=call.id),
                concurrency=limit,
                each=each,
            )

    async def _parts(self) -> Parts:
        session: Session | None = self
        while session is not None:
            if session._is_closed:
                raise SessionClosed(f"The session {session.name!r} was left; open a new one.")
            session = session._within
        return await self._drawer.refresh()

    async def _wait_for_servers(self, is_needed: Callable[[], bool]) -> bool:
        return self._host is not None and await self._host.wait(self.scope, is_needed)

    def _missing(self) -> str:
        return self._host.missing(self.scope) if self._host else ""

    def _explain(self, error: UnknownTool) -> str:
        return explain_unknown(error, self._host, self.scope)

    def _view(self) -> View:
        parts = self._drawer.parts
        snapshot = parts.registry.snapshot()
        return View(catalog=parts.catalogs.derive(snapshot, self.scope), snapshot=snapshot)

    def _stamp(self) -> Stamp:
        return self._caller.stamp()

    async def _decided(self, parts: Parts) -> Turn:
        return await self._turns.decided(
            self.catalog,
            self.scope,
            parts.policy,
            context_length=self.context_length,
            catalogs=parts.catalogs,
            costs=parts.costs,
            admission=lambda: self._view().admission(self.scope),
            native=self.native,
        )

    async def _answer(self, name: str, arguments: Json, parts: Parts, call_id: str) -> ToolResult:
        if str(name) != parts.policy.names.search:
            self._search_limit.record_call()
        try:
            require_request_size(arguments, max_bytes=parts.limits.arguments_max_bytes)
            request = parse(str(name), arguments, parts.policy.names)
            match request:
                case SearchTools():
                    with search_failures_as_text():
                        return await self._search(request, parts)
                case DescribeTools():
                    return describe_tools(
                        request,
                        self.catalog,
                        parts,
                        caller=self._caller,
                        ledger=self.ledger,
                        explain=self._explain,
                    )
                case CallTool():
                    pass
                case _:
                    assert_never(request)
        except CallRejected as error:
            tool, why = str(name) if str(name) in self.catalog else None, str(error)
            parts.emit(
                CallRefused(**self._stamp(), tool=tool, reason=why, duration=0.0, call=call_id)
            )
            raise
        return await self._run(request, parts, call_id)

    async def _run(self, request: CallTool, parts: Parts, call_id: str) -> ToolResult:
        catalog = self.catalog
        most, how = parts.limits.result_max_chars, self._how_to_read_on(parts)
        if request.name == READ_REST and READ_REST not in catalog:
            handle, offset = request.arguments.get("id"), request.arguments.get("offset", 0)
            return self._rests.read(handle, offset, most=most, how_to_read_on=how)
        try:
            arguments = unnested(request.arguments, catalog.get(request.name).parameters)
        except UnknownTool:
            arguments = request.arguments
        result = await parts.dispatcher.run(
            request.name, arguments, caller=self._caller, call_id=call_id
        )
        return self._rests.shortened(result, most=most, how_to_read_on=how)

    async def fetch(self, name: str, arguments: JsonObject, view: Callable[[], View]) -> ToolResult:
        """Get a prompt or a resource, the tool `name` of `view`; raises as the dispatcher does."""
        parts, caller = await self._parts(), replace(self._caller, view=view)
        result = await parts.dispatcher.run(name, arguments, caller=caller)
        most, how = parts.limits.result_max_chars, self._how_to_read_on(parts)
        return self._rests.shortened_text(result, most=most, how_to_read_on=how)

    def _how_to_read_on(self, parts: Parts) -> str:
        return how_to_read_on(parts.policy.names.call if self._turns.has_call_tool else "")

    async def _search(self, request: SearchTools, parts: Parts) -> ToolResult:
        counter = self._search_limit if self._caller.has_conversation else SearchLimit(monotonic)
        with counter.search(parts.search) as in_a_row:
            # Searches that a host starts together must overlap here to count as one turn.
            await anyio.lowlevel.checkpoint()
            # At the same moment as the catalog: servers come while the index is built.
            missing = self._missing()
            turn = await self._decided(parts)
            if self._refuses_searches and in_a_row > parts.search.most_in_a_row:
                return self._refuse_search(request, turn, parts, in_a_row)
            return await self._answer_search(request, turn, parts, in_a_row, missing)

    def _refuse_search(
        self, request: SearchTools, turn: Turn, parts: Parts, in_a_row: int
    ) -> ToolResult:
        one = search_limit_reply(available=len(turn.searched), in_a_row=in_a_row)
        result = ToolResult.of_json(
            {"results": [one for _ in request.queries]} if request.is_list else one
        )
        tokens = parts.counter.count(result.text)
        for query in request.queries:
            parts.emit(
                Searched(**self._stamp(), query=query, hits=(), reply_tokens=tokens, duration=0.0)
            )
        self.ledger.searched(tokens)
        return result

    async def _answer_search(
        self, request: SearchTools, turn: Turn, parts: Parts, in_a_row: int, missing: str
    ) -> ToolResult:
        policy = parts.search
        text = policy.advice(in_a_row)
        advice: dict[str, Json] = {"advice": text} if text else {}
        room = policy.reply_max_tokens - parts.counter.count(compact(advice))
        limit, share = policy.limit(request.limit), room // len(request.queries)
        found: dict[str, Tool] = {}
        replies = [
            await self._found(query, limit, turn, parts, share, found, missing)
            for query in request.queries
        ]
        reply: dict[str, Json] = {"results": replies} if request.is_list else replies[0]
        result = ToolResult.of_json({**reply, **advice})
        most = _ROOM_FOR_SCHEMAS * policy.reply_max_tokens
        loaded = parts.costs.fitting(found.values(), most) if self.native else ()
        # Where nothing is loaded, the model reads the reply itself.
        counted = parts.costs.total(loaded) or parts.counter.count(result.text)
        self.ledger.searched(counted)
        return replace(result, tools=loaded)

    async def _found(
        self,
        query: str,
        limit: int,
        turn: Turn,
        parts: Parts,
        room: int,
        found: dict[str, Tool],
        missing: str,
    ) -> dict[str, Json]:
        started = perf_counter()
        engine, available = parts.engine, len(turn.searched)
        hits = await run_search(engine, turn.searched, query, limit)
        found |= {hit.tool.name: hit.tool for hit in hits if hit.tool.name not in found}
        notice = engine.notice(turn.searched)
        note = search_note(turn.searched, missing=missing, notice=notice)
        notes: dict[str, Json] = {"note": note} if note else {}
        room -= parts.counter.count(compact(notes)) if notes else 0
        if hits:
            reply = search_reply(hits, available=available, counter=parts.counter, max_tokens=room)
        else:
            reply = nothing_fits(
                available=available,
                toolsets=self._view().admission(self.scope).toolsets(),
                names=parts.policy.names,
                counter=parts.counter,
                max_tokens=room,
                is_partial=bool(missing),
            )
        parts.emit(
            Searched(
                **self._stamp(),
                query=query,
                hits=tuple(hit.tool.name for hit in hits),
                reply_tokens=parts.counter.count(compact(reply)),
                duration=perf_counter() - started,
            )
        )
        return {**reply, **notes}
