"""Calls of stateless clients, which run on while their questions travel to the client and back."""

import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, assert_never

import anyio
from anyio.abc import TaskGroup
from mcp import MCPError
from mcp_types import INVALID_PARAMS

from tooldrawer.gateway.clients import Caller, Context, check_answerable
from tooldrawer.gateway.principal import Principal
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import CannotAsk

Raw = dict[str, Any]
Work = Callable[[], Awaitable[Raw]]
LIFETIME = 600.0
"""Seconds that a question waits for its answer; the sealed state expires with it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The call waits for answers."""

    questions: Mapping[str, JsonObject]


@dataclass(frozen=True, slots=True)
class Ended:
    """The call has its result."""

    result: Raw


@dataclass(frozen=True, slots=True)
class Broke:
    """The call raised."""

    error: Exception


class Stateless(Caller):
    """A client of the stateless era, and its one call: nothing can be pushed to it.

    A question ends the request that it came up in; the client's next request, with the answer,
    finds the call still running. So a call passes hooks, guardrails and approval once, however
    many requests it takes.
    """

    def __init__(
        self,
        ctx: Context,
        principal: Principal,
        *,
        given: Mapping[str, JsonObject] | None = None,
        lifetime: float = LIFETIME,
    ) -> None:
        """`given` are answers that came with the first request, to questions not put yet."""
        super().__init__(ctx, principal)
        self._given = given or {}
        self._lifetime = lifetime
        self._answers: Mapping[str, JsonObject] = {}
        self._outcomes: deque[Asked | Ended | Broke] = deque()

    @cached_property
    def _turn(self) -> anyio.Lock:
        return anyio.Lock()  # as the next two, made for the few calls that need it

    @cached_property
    def _scope(self) -> anyio.CancelScope:
        return anyio.CancelScope()

    @cached_property
    def _answered(self) -> anyio.Event:
        return anyio.Event()

    @cached_property
    def _arrived(self) -> anyio.Event:
        return anyio.Event()

    async def ask(self, questions: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        """End the request with the questions, and wait for the one that brings the answers."""
        check_answerable(self.capabilities, questions)
        if questions.keys() <= self._given.keys():
            given, self._given = self._given, {}
            return given
        async with self._turn:
            self._answered = anyio.Event()
            self._put(Asked(questions))
            with anyio.move_on_after(self._lifetime):
                await self._answered.wait()
                return self._answers
        raise CannotAsk("The client did not come back with an answer in time.")

    async def run(self, work: Work) -> None:
        """Do the work of the call, in a task that outlives the request."""
        with self._scope:
            try:
                self._put(Ended(await work()))
            except Exception as error:  # noqa: BLE001  it is raised again where the request waits
                self._put(Broke(error))

    async def outcome(self) -> Asked | Ended | Broke:
        """What comes next; a request that is given up on takes its call with it."""
        try:
            while not self._outcomes:
                self._arrived = anyio.Event()
                await self._arrived.wait()
        except anyio.get_cancelled_exc_class():
            self.give_up()
            raise
        return self._outcomes.popleft()

    def resume(self, ctx: Context, answers: Mapping[str, JsonObject]) -> None:
        """Go on with the answers that a new request brought."""
        self._ctx = ctx
        if self._outcomes:
            return  # the call did not wait for them: they must not answer its next question
        self._answers = answers
        self._answered.set()

    @property
    def is_waiting(self) -> bool:
        """Whether it can go on only with an answer."""
        return not self._outcomes

    def makes_the_call_of(self, other: "Stateless") -> bool:
        """Whether both are the same request of the same client."""
        return self.key == other.key and self._asks_for() == other._asks_for()

    def _asks_for(self) -> tuple[object, ...]:
        params = self._ctx.params or {}
        named = (params.get(key) for key in ("name", "uri", "arguments"))
        return (self._ctx.method, *named)

    def give_up(self) -> None:
        """End the call: nobody will bring an answer."""
        self._scope.cancel()

    def _put(self, outcome: Asked | Ended | Broke) -> None:
        self._outcomes.append(outcome)
        self._arrived.set()


class Parking:
    """Where calls wait, each under a handle that only its principal can use."""

    def __init__(self, tasks: TaskGroup, *, max_suspended: Callable[[], int]) -> None:
        """`max_suspended` is for each principal."""
        self._tasks = tasks
        self._max_suspended = max_suspended
        self._parked: dict[str, Stateless] = {}

    def __len__(self) -> int:
        return len(self._parked)

    async def begin(self, client: Stateless, work: Work) -> Raw:
        """Start a call: its result, or the questions that come first."""
        for handle, other in tuple(self._parked.items()):
            if other.is_waiting and other.makes_the_call_of(client):
                # Made anew: nobody will answer the first. It would keep the second from asking.
                self._parked.pop(handle).give_up()
        self._tasks.start_soon(self._run, client, work)
        return await self._next(client)

    async def resume(
        self, handle: str, ctx: Context, principal: Principal, answers: Mapping[str, JsonObject]
    ) -> Raw:
        """Go on with a call: its result, or the next questions.

        Raises:
            MCPError: There is no such call of this principal's.
        """
        client = self._parked.get(handle)
        if client is None or client.principal != principal:
            raise _gone()
        del self._parked[handle]
        client.resume(ctx, answers)
        return await self._next(client)

    async def _run(self, client: Stateless, work: Work) -> None:
        await client.run(work)
        if handles := [key for key, value in self._parked.items() if value is client]:
            # Whoever comes late with an answer is told what became of the call: it may have had
            # effects, and must not be made again unknowingly.
            await anyio.sleep(LIFETIME)
            for handle in handles:
                self._parked.pop(handle, None)

    async def _next(self, client: Stateless) -> Raw:
        outcome = await client.outcome()
        match outcome:
            case Ended(result):
                return result
            case Broke(error):
                raise error
            case Asked(questions):
                return self._park(client, questions)
            case _:
                assert_never(outcome)

    def _park(self, client: Stateless, questions: Mapping[str, JsonObject]) -> Raw:
        owner = client.principal.key
        own = [key for key, other in self._parked.items() if other.principal.key == owner]
        if len(own) >= self._max_suspended():  # the oldest has waited longest
            self._parked.pop(own[0]).give_up()
        handle = secrets.token_urlsafe(16)
        self._parked[handle] = client
        return {
            "resultType": "input_required",
            "inputRequests": dict(questions),
            "requestState": handle,
        }


def _gone() -> MCPError:
    return MCPError(
        INVALID_PARAMS,
        "Invalid or expired requestState: make the call again from the start.",
        {"reason": "invalid_request_state"},
    )
