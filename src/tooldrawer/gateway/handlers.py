"""The answers to a client's requests."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import time
from typing import Any, Protocol, cast

import anyio
import mcp_types as types
from mcp import MCPError

from tooldrawer.activity import CallRefused, Event
from tooldrawer.admission import Admission
from tooldrawer.bridge import BridgeNames, CallTool, DescribeTools, SearchTools, parse
from tooldrawer.call import ToolResult
from tooldrawer.errors import (
    CallRejected,
    InvalidArguments,
    ServerRefused,
    ToolFailed,
    UnknownTool,
)
from tooldrawer.gateway import item_calls
from tooldrawer.gateway.changes import Changes
from tooldrawer.gateway.clients import Caller, Context, Handshaken, is_modern
from tooldrawer.gateway.envelope import readable, whole
from tooldrawer.gateway.flight import InFlight
from tooldrawer.gateway.items import Item, require_usable_address
from tooldrawer.gateway.levels import Levels
from tooldrawer.gateway.lists import Raw, Upstreams
from tooldrawer.gateway.parking import Parking, Stateless
from tooldrawer.gateway.principal import Principal, client_name, conversation_of, principal_of
from tooldrawer.gateway.prompts import Prompts
from tooldrawer.gateway.questions import can_be_asked
from tooldrawer.gateway.quotas import QuotaExceeded, Quotas
from tooldrawer.gateway.resources import Resources
from tooldrawer.gateway.sessions import Sessions
from tooldrawer.gateway.shown import Shown, Stance
from tooldrawer.gateway.subscriptions import Subscriptions
from tooldrawer.session import Session
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import BEHIND
from tooldrawer.upstream.upstream import Upstream

_ROUND = ("inputResponses", "requestState")
"""What a client adds to a request that it repeats with answers."""
_TTL = 60_000
"""Milliseconds that a list may be kept; a change is announced earlier."""
_FRESH = {"ttlMs": 0, "cacheScope": "private"}
_PATIENCE = 5.0
"""Seconds that servers may keep a client waiting that wants to listen."""


ItemCall = Callable[[Session, Item, Raw, Callable[[], Admission]], Awaitable[Raw]]
"""Gets a prompt or reads a resource in a session."""


class Desk(Protocol):
    """What the handlers use of the gateway."""

    sessions: Sessions
    parking: Parking
    quotas: Quotas
    changes: Changes
    prompts: Prompts
    resources: Resources
    subscriptions: Subscriptions
    upstreams: Upstreams
    default: Principal

    def emit(self, event: Event) -> None:
        """Report what happened."""
        ...

    def admission(self, scope: str) -> Admission:
        """What a scope shows now."""
        ...

    def stance(self, scope: str) -> Stance:
        """The gateway's say in the decisions of a scope."""
        ...

    async def shown(self, scope: str) -> Shown:
        """The array of a scope."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCall:
    """What a `tools/call` asks for."""

    name: str
    arguments: Raw | None


class Handlers:
    """One method for each request. Parameters are the SDK's models, results plain JSON."""

    def __init__(self, desk: Desk, names: Callable[[], BridgeNames]) -> None:
        self._desk = desk
        self._names = names
        self._levels = Levels()
        self.in_flight = InFlight()

    def principal(self, ctx: Context) -> Principal:
        """Who asks."""
        return principal_of(ctx, self._desk.default)

    def _admission(self, ctx: Context) -> Admission:
        return self._desk.admission(self.principal(ctx).scope)

    async def list_tools(self, ctx: Context, _: object) -> Raw:
        """`tools/list`: the assembly for the principal."""
        shown = await self._desk.shown(self.principal(ctx).scope)
        return whole({"tools": list(shown.tools), "ttlMs": _TTL, "cacheScope": "private"}, "tools")

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams | NamedCall) -> Raw:
        """`tools/call`, through the session's one door."""
        principal = self.principal(ctx)
        work = partial(self._called, ctx, principal, params.name, params.arguments)
        try:
            async with self._desk.quotas.in_flight(principal.key):
                with self.in_flight.flight():
                    result = await self._conversed(ctx, principal, work)
        except QuotaExceeded as error:
            return self._refuse(ctx, principal, str(error))
        if result.get("resultType") == "input_required":
            return result
        result["content"] = readable(result["content"], ctx.protocol_version)
        return whole(result, "content", "structuredContent")

    def _refuse(self, ctx: Context, principal: Principal, reason: str) -> Raw:
        session = self._desk.sessions.of(principal, conversation_of(ctx), client_name(ctx))
        self._desk.emit(
            CallRefused(
                at=time(),
                session=session.name,
                scope=principal.scope,
                tool=None,
                reason=reason,
                duration=0.0,
            )
        )
        return whole({**ToolResult.of_text(reason, is_error=True).mcp()}, "content")

    async def _called(
        self, ctx: Context, principal: Principal, name: str, arguments: Raw | None
    ) -> Raw:
        session = self._desk.sessions.of(principal, conversation_of(ctx), client_name(ctx))
        self._count(principal, name, arguments)
        result = await session.call(name, arguments)
        cause = result.cause
        if isinstance(cause, ServerRefused):
            raise MCPError(cause.code, str(cause), cause.data)
        if isinstance(cause, UnknownTool) and name not in tuple(self._names()):
            raise MCPError(types.INVALID_PARAMS, result.text)
        return result.mcp()

    def _count(self, principal: Principal, name: str, arguments: Raw | None) -> None:
        """Count a call, or each query of a search, against the principal's quotas.

        Raises:
            QuotaExceeded: There were too many in the last minute.
        """
        quotas = self._desk.quotas
        with suppress(CallRejected):  # what is wrong with it is said later
            match parse(name, arguments, self._names()):
                case SearchTools(queries=queries):
                    quotas.count_searches(principal.key, len(queries))
                    return
                case DescribeTools(names=names):
                    quotas.count_searches(principal.key, len(names))
                    return
                case CallTool():
                    pass
        quotas.count_call(principal.key)

    async def _conversed(
        self, ctx: Context, principal: Principal, work: Callable[[], Awaitable[Raw]]
    ) -> Raw:
        """Do the work with the client behind it, whom a server or an approval may ask."""
        if not is_modern(ctx):
            client = Handshaken(ctx, principal, level=self._levels.of(ctx))
            BEHIND.set(client)
            return await _shown(client, work)
        params = ctx.params or {}
        handle, answers = params.get("requestState"), params.get("inputResponses")
        given = cast("Mapping[str, JsonObject]", answers or {})
        if handle is not None:
            return await self._desk.parking.resume(str(handle), ctx, principal, given)
        client = Stateless(ctx, principal, given=given)
        BEHIND.set(client)
        if not can_be_asked(client.capabilities):
            return await _shown(client, work)
        return await self._desk.parking.begin(client, partial(_shown, client, work))

    async def list_prompts(self, ctx: Context, _: object) -> Raw:
        """`prompts/list` of all servers."""
        found = await self._desk.prompts.listed(self._admission(ctx))
        return whole({"prompts": found, **_FRESH}, "prompts")

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> Raw:
        """`prompts/get` from whoever has it."""
        self._count_request(ctx)
        found = await self._desk.prompts.find(self._admission(ctx), params.name)
        if found is None:
            raise MCPError(types.INVALID_PARAMS, "There is no prompt of that name; list them.")
        work = self._item_work(ctx, item_calls.get_prompt, found)
        return await self._served(ctx, work)

    async def list_resources(self, ctx: Context, _: object) -> Raw:
        """`resources/list` of all servers."""
        found = await self._desk.resources.listed(self._admission(ctx))
        return whole({"resources": found, **_FRESH}, "resources")

    async def list_templates(self, ctx: Context, _: object) -> Raw:
        """`resources/templates/list` of all servers."""
        found = await self._desk.resources.templates(self._admission(ctx))
        return whole({"resourceTemplates": found, **_FRESH}, "resourceTemplates")

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> Raw:
        """`resources/read` from whoever answers to the address."""
        self._count_request(ctx)
        item = await self._holder(ctx, str(params.uri))
        result = await self._served(ctx, self._item_work(ctx, item_calls.read_resource, item))
        return whole({**_FRESH, **result}, "contents")

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> Raw:
        """`resources/subscribe` of the handshake era."""
        self._count_request(ctx)
        principal, uri, desk = self.principal(ctx), str(params.uri), self._desk
        changes, wish = desk.changes, (principal.scope, uri)
        if not changes.follows(ctx, principal, uri):
            item = await self._holder(ctx, uri)
            room = desk.quotas.subscription(principal.key)
            with _as_protocol_errors():
                leave = await desk.subscriptions.hold(item, wish, room)
            if changes.follows(ctx, principal, uri):  # asked twice at once
                await leave()
            else:
                changes.follow(ctx, principal, uri, leave)
        return {}

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> Raw:
        """`resources/unsubscribe` of the handshake era."""
        require_usable_address(str(params.uri))
        await self._desk.changes.unfollow(ctx, self.principal(ctx), str(params.uri))
        return {}

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> Raw:
        """`completion/complete`, asked of whoever has the prompt or the template."""
        self._count_request(ctx)
        request, ref = _plain(ctx.params), params.ref
        if isinstance(ref, types.PromptReference):
            found = await self._desk.prompts.find(self._admission(ctx), ref.name)
            if found is None:
                raise MCPError(types.INVALID_PARAMS, "There is no prompt of that name; list them.")
            key = "name"
        else:
            found, key = await self._holder(ctx, ref.uri), "uri"
        asked = {**request, "ref": {**request["ref"], key: found.address}}
        return await self._served(ctx, partial(found.upstream.request, ctx.method, asked))

    async def set_level(self, ctx: Context, params: types.SetLevelRequestParams) -> Raw:
        """`logging/setLevel` of the handshake era, passed on to every server that logs."""
        admission = self._admission(ctx)
        level = self._levels.want(ctx, params.level)

        async def pass_on(upstream: Upstream) -> None:
            try:
                await upstream.request("logging/setLevel", {"level": level})
            except ToolFailed:
                return  # it logs as it did; the others must not suffer for it

        async with anyio.create_task_group() as tasks:
            for upstream in self._desk.upstreams():
                logs = upstream.capabilities.get("logging") is not None
                is_up = upstream.status.state == "up" and admission.admits_toolset(upstream.name)
                if logs and is_up:
                    tasks.start_soon(pass_on, upstream)
        return {}

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """`subscriptions/listen` of the stateless era."""
        uris = tuple(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        principal = self.principal(ctx)
        async with AsyncExitStack() as following:
            for uri in uris:  # whether there is such a resource or not: the stream keeps them all
                require_usable_address(uri)
                self._count_request(ctx)
                with _as_protocol_errors():
                    following.enter_context(self._desk.quotas.subscription(principal.key))
            with anyio.move_on_after(_PATIENCE):
                for uri in uris:
                    await self._follow(ctx, uri, following)
            return await self._desk.changes.listen(ctx, params, principal)

    async def joined(self, ctx: Context, _: object) -> None:
        """`notifications/initialized`: from now on this client is told of changes."""
        self._desk.changes.joined(ctx, self.principal(ctx))

    async def _holder(self, ctx: Context, uri: str) -> Item:
        require_usable_address(uri)
        found = await self._desk.resources.find(self._admission(ctx), uri)
        if found is None:
            message = "There is no resource at that address; list them."
            raise MCPError(types.INVALID_PARAMS, message, {"uri": uri})
        return found

    async def _follow(self, ctx: Context, uri: str, following: AsyncExitStack) -> None:
        """Ask for the updates of a resource; one that nobody has never changes."""
        found = await self._desk.resources.find(self._admission(ctx), uri)
        if found is None:
            return
        subscriptions, wish = self._desk.subscriptions, (self.principal(ctx).scope, uri)
        with suppress(ToolFailed):
            await subscriptions.add(found, wish)
            following.push_async_callback(subscriptions.remove, found, wish)

    def _item_work(self, ctx: Context, run: ItemCall, item: Item) -> Callable[[], Awaitable[Raw]]:
        """Get a prompt or read a resource in the client's session, as a tool is called."""
        principal = self.principal(ctx)
        session = self._desk.sessions.of(principal, conversation_of(ctx), client_name(ctx))
        admission = partial(self._desk.admission, principal.scope)
        return partial(run, session, item, _plain(ctx.params), admission)

    def _count_request(self, ctx: Context) -> None:
        """Count a request other than a call: before anything is looked for, which takes time too.

        Raises:
            MCPError: There were too many in the last minute.
        """
        with _as_protocol_errors():
            self._desk.quotas.count_call(self.principal(ctx).key)

    async def _served(self, ctx: Context, request: Callable[[], Awaitable[Raw]]) -> Raw:
        """The answer to a request other than a call, with the client behind it."""

        async def work() -> Raw:
            with _as_protocol_errors():
                return await request()

        principal, quotas = self.principal(ctx), self._desk.quotas
        try:
            async with quotas.in_flight(principal.key):
                with self.in_flight.flight():
                    return await self._conversed(ctx, principal, work)
        except QuotaExceeded as error:
            raise MCPError(types.INVALID_REQUEST, str(error)) from error


async def _shown(client: Caller, work: Callable[[], Awaitable[Raw]]) -> Raw:
    """The result, after all that the client is shown on the way to it."""
    try:
        return await work()
    finally:
        await client.shown()


@contextmanager
def _as_protocol_errors() -> Generator[None]:
    """What a server, or the way to it, refused."""
    try:
        yield
    except ServerRefused as error:
        raise MCPError(error.code, str(error), error.data) from error
    except ToolFailed as error:
        raise MCPError(types.INTERNAL_ERROR, str(error)) from error
    except UnknownTool as error:
        raise MCPError(types.INVALID_PARAMS, "That is not available; list what is.") from error
    except InvalidArguments as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from error
    except (CallRejected, QuotaExceeded) as error:
        raise MCPError(types.INVALID_REQUEST, str(error)) from error


def _plain(params: Mapping[str, Any] | None) -> Raw:
    """A request's parameters without what belongs to the connection or to one round of it."""
    kept = dict(params or {})
    for key in ("_meta", *_ROUND):
        kept.pop(key, None)
    return kept
