"""The control socket: how people watch and steer a gateway that runs."""

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict
from pathlib import Path
from socket import socket
from types import TracebackType
from typing import Self, cast

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from uvicorn import Config, Server

from tooldrawer.activity import ActivityLog, Event
from tooldrawer.activity.sinks import as_json
from tooldrawer.activity.subscription import Subscription
from tooldrawer.call import thawed
from tooldrawer.dispatch import Answer, Grants
from tooldrawer.errors import ConfigError
from tooldrawer.gateway.pending import Pending, Waiting
from tooldrawer.gateway.runtime import Place
from tooldrawer.tool import Json, JsonObject

_logger = logging.getLogger(__name__)
_LAST = 50
_SECONDS_TO_STOP = 1
"""For a watcher that does not read; all others are gone at once."""
_ANSWERS = ", ".join(answer.value for answer in Answer)


class Control:
    """Serves a gateway's status, activity and approvals to its own user, on a unix domain socket.

    `async with control: ...` runs it, or `await tasks.start(control.serve)`; on asyncio, because of
    uvicorn. Without a socket the gateway goes on, and the log says why.
    """

    def __init__(
        self,
        *,
        status: Callable[[], JsonObject],
        activity: ActivityLog,
        pending: Pending,
        grants: Grants,
        is_unattended_allowed: Callable[[], bool] = lambda: False,
        folder: Path | None = None,
    ) -> None:
        """With `is_unattended_allowed` a call may be approved without a person at a terminal."""
        self._status = status
        self._activity = activity
        self._pending = pending
        self._grants = grants
        self._is_unattended_allowed = is_unattended_allowed
        self._folder = folder
        self._watching: set[Subscription] = set()
        self._running = AsyncExitStack()
        self.path: Path | None = None
        """Of the socket, while there is one."""

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(anyio.create_task_group())
            await tasks.start(self.serve)
            stack.callback(tasks.cancel_scope.cancel)
            self._running = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            return await self._running.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            if group.exceptions != (error,):
                raise
            return False  # what went wrong inside comes out as it is

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; then let go of the watchers and remove the socket."""
        place = Place(self._folder)
        try:
            listener = place.occupy(self._status())
        except OSError as error:
            _logger.warning(
                "This gateway cannot be watched or steered with `tooldrawer status`, `watch` or "
                "`approve`: %s.",
                error,
            )
            task_status.started()
            return
        self.path = Path(listener.getsockname())
        try:
            async with self._listening(listener):
                task_status.started()
                await anyio.sleep_forever()
        finally:
            self.path = None
            place.leave()

    @property
    def app(self) -> Starlette:
        """What the socket serves."""
        return Starlette(
            routes=[
                Route("/status", self._get_status),
                Route("/approvals", self._get_approvals),
                Route("/approvals/{id}", self._answer, methods=["POST"]),
                Route("/activity", self._get_activity),
            ]
        )

    @asynccontextmanager
    async def _listening(self, listener: socket) -> AsyncGenerator[None]:
        config = Config(
            self.app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            timeout_graceful_shutdown=_SECONDS_TO_STOP,
        )
        server = _Server(config)

        async def run() -> None:
            # uvicorn stops in order when told to, not when cancelled.
            with anyio.CancelScope(shield=True):
                await server.serve([listener])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            try:
                yield
            finally:
                server.should_exit = True
                for subscription in tuple(self._watching):
                    subscription.close()

    async def _get_status(self, _: Request) -> Response:
        return _answered(self._status())

    async def _get_approvals(self, _: Request) -> Response:
        entries: list[Json] = [_json(entry) for entry in self._pending.waiting()]
        return _answered({"approvals": entries, "unattended": self._is_unattended_allowed()})

    async def _answer(self, request: Request) -> Response:
        name = str(request.path_params["id"])
        try:
            body = cast("Json", await request.json())
            said = cast("JsonObject", body)
            answer, is_attended = Answer(str(said["answer"])), said.get("attended") is True
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return _refused(400, f'Say {{"answer": ...}} with one of {_ANSWERS}.')
        if answer is not Answer.NO and not is_attended and not self._is_unattended_allowed():
            return _refused(403, "a call can be approved only by a person at a terminal.")
        try:
            entry = await self._keep_answer(name, answer)
        except (OSError, ConfigError) as error:
            return _refused(500, f"the grant cannot be stored, so nothing was approved. {error}")
        if entry is None:
            return _refused(
                404, f"No call waits as {name}: it was answered and made, or its time ran out."
            )
        return _answered({**_json(entry), "answer": answer.value})

    async def _keep_answer(self, name: str, answer: Answer) -> Waiting | None:
        """Keep an answer until the call is made again; "always" is on disk when this returns.

        Raises:
            ConfigError: The file of grants is damaged.
            OSError: It cannot be written.
        """
        asked = self._pending.find(name)
        if answer is not Answer.ALWAYS or asked is None:
            return self._pending.answer(name, answer)
        await anyio.to_thread.run_sync(self._grants.add, asked.tool, asked.about, asked.grantee)
        entry = self._pending.answer(name, answer)
        # From here on the grant answers. An entry could be denied, and the grant would still hold.
        self._pending.settle(name)
        return entry

    async def _get_activity(self, request: Request) -> Response:
        asked = request.query_params.get("last", str(_LAST))
        if not (asked.isascii() and asked.isdigit()):
            return _refused(400, "Say how many of the last events to begin with: last=50.")
        events = self._events(int(asked), request.query_params.get("session"))
        stream = (_server_sent(event) async for event in events)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def _events(self, last: int, session: str | None) -> AsyncIterator[Event]:
        """The last events, then those that come, until the gateway stops."""
        async with self._activity.subscribe(session=session) as subscription:
            self._watching.add(subscription)
            try:
                known = [event for event in self._activity if session in (None, event.session)]
                shown = known[-last:] if last else []
                for event in shown:
                    yield event
                # Another thread may have reported one between subscribing and looking.
                twice = set(map(id, known))
                async for event in subscription:
                    if id(event) not in twice:
                        yield event
            finally:
                self._watching.discard(subscription)


class _Server(Server):
    """Leaves signals to whoever runs the gateway."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _json(entry: Waiting) -> dict[str, Json]:
    return {**asdict(entry), "arguments": thawed(entry.arguments)}


def _answered(value: JsonObject, code: int = 200) -> Response:
    # Escaped, so that arguments which UTF-8 cannot hold, like half a surrogate pair, can be shown.
    return Response(json.dumps(value), status_code=code, media_type="application/json")


def _refused(code: int, sentence: str) -> Response:
    return _answered({"error": sentence}, code)


def _server_sent(event: Event) -> str:
    return f"event: {type(event).__name__}\ndata: {as_json(event)}\n\n"
