"""One live connection to a server, in either era, over pipes or HTTP."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from mcp import MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND

from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.behind import EndClient
from tooldrawer.upstream.links import Link, link
from tooldrawer.upstream.listening import Listening, Subscribed
from tooldrawer.upstream.listing import MOST_TOOLS
from tooldrawer.upstream.negotiation import Hello, negotiate
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.pages import Pages, read_pages
from tooldrawer.upstream.post_status import watch_post
from tooldrawer.upstream.relay import Noticed, RelaySession
from tooldrawer.upstream.spec import UpstreamSpec
from tooldrawer.upstream.turns import Flight, Turns
from tooldrawer.upstream.unreachable import Unreachable

_ROUNDS = 10
"""How often in a row a server may ask for more input about one call."""
_PAGES = 1000
_PING_TIMEOUT_S = 5.0
_UNKNOWN_SESSION = (400, 404)
"""HTTP statuses for a session that the server does not know: MCP asks for the second of them, and
much copied examples of servers answer with the first."""
_MOST_SHOWN = 100
"""Steps of one call that its client has not taken yet; more of them are lost."""
_logger = logging.getLogger(__name__)


def _nothing() -> None: ...


@dataclass(slots=True, kw_only=True)
class Kept:
    """What outlives a connection, for the next one to the same server."""

    turns: Turns = field(default_factory=Turns)
    subscribed: Subscribed = field(default_factory=Subscribed)
    level: str = ""
    """How much the server is to log, if anybody of the handshake era said so."""


class Connection:
    """Requests to a server, and what it says unasked."""

    def __init__(self, session: RelaySession, way: Link, *, kept: Kept) -> None:
        self.hello = Hello(protocol="", instructions="", capabilities={})
        self.ended = session.ended
        """Set when the server is gone."""
        self.reason = ""
        """Why we ended it ourselves, if we did; the end of a sentence that begins with `it`."""
        self.kept = kept
        self._session = session
        self._way = way

    @property
    def is_modern(self) -> bool:
        """Whether it speaks 2026-07-28 or later."""
        return self._session.is_modern

    @property
    def way(self) -> Link:
        """How the server is reached."""
        return self._way

    def end(self, reason: str) -> None:
        """Give it up: only a new one helps."""
        self.reason = reason
        self.ended.set()

    async def is_forgotten(self, status: int) -> bool:
        """Whether the server has no session for this connection, after it refused a request.

        The same status may concern that one request only. A ping has nothing to refuse but the
        session.
        """
        if self.is_modern or status not in _UNKNOWN_SESSION:
            return False
        with watch_post() as ping, anyio.move_on_after(_PING_TIMEOUT_S), suppress(MCPError):
            await self._session.raw("ping", {})
        # Another request may have found out meanwhile, and have ended the connection.
        return ping.code in _UNKNOWN_SESSION or bool(self.reason)

    async def open(self, *, skip_discover: bool) -> None:
        """Agree on a version with the server.

        Raises:
            Unreachable: There is none.
            MCPError: The server refused, or is gone.
        """
        self.hello = await negotiate(self._session, skip_discover=skip_discover)

    async def request(self, method: str, params: JsonObject, flight: Flight) -> dict[str, Any]:
        """The raw answer, after all questions that the server had about it.

        Raises:
            MCPError: The server refused, or is gone.
        """
        given = params
        for _ in range(_ROUNDS):
            flight.start_clock()
            answer = await self._session.raw(
                method, given, flight=flight, on_progress=_progress(flight.client)
            )
            if not self.is_modern or answer.get("resultType") != "input_required":
                return answer
            given = {**params, **await self._input(answer, flight)}
        raise MCPError(INTERNAL_ERROR, f"The server asked for input {_ROUNDS} times in a row.")

    async def _input(self, answer: JsonObject, flight: Flight) -> JsonObject:
        asked, state = answer.get("inputRequests"), answer.get("requestState")
        found: dict[str, Json] = {} if state is None else {"requestState": state}
        if isinstance(asked, dict) and asked:
            questions = cast("JsonObject", asked)
            found["inputResponses"] = await self._session.questions.required(questions, flight)
        return found

    async def list_tools(self) -> Pages:
        """All pages of the list of tools, as they came, as far as there is room for them.

        Raises:
            MCPError: The server refused, or is gone.
            Unreachable: What it answered is no list.
        """
        return await read_pages(self._list_page, "tools", max_pages=_PAGES, max_items=MOST_TOOLS)

    async def _list_page(self, params: JsonObject) -> JsonObject:
        try:
            page = await self._session.raw("tools/list", params)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and "tools" not in self.hello.capabilities:
                return {"tools": []}
            raise
        if not isinstance(page.get("tools"), list):
            raise Unreachable("it answered tools/list with something that is no list of tools")
        return page

    def objection(self, name: str, schema: JsonObject) -> str:
        """Why a tool cannot be called over this connection; nothing when it can."""
        return self._session.learn_headers(name, schema)

    def tells(self, notification: str) -> bool:
        """Whether the server said that it announces such a change."""
        _, kind, *_ = notification.split("/")
        found = self.hello.capabilities.get(kind)
        return isinstance(found, dict) and found.get("listChanged") is True

    async def watch(self, pace: Pace, listening: Callable[[], None] = _nothing) -> None:
        """See the server's end, and hear of changes, until cancelled.

        `listening` is called when it begins: what changed before was told to nobody.
        """
        async with anyio.create_task_group() as group:
            group.start_soon(self._see_end)
            if self.is_modern:
                stream = Listening(
                    self._session,
                    self.hello.capabilities,
                    subscribed=self.kept.subscribed,
                    pace=pace,
                    opened=listening,
                )
                group.start_soon(stream.run)

    async def _see_end(self) -> None:
        await self._way.ended()
        self.ended.set()

    async def say_again(self) -> None:
        """Tell the server what clients said once, and an earlier connection was told."""
        if self.is_modern:
            return
        if self.kept.level:
            with suppress(MCPError):
                await self._session.raw("logging/setLevel", {"level": self.kept.level})
        for uri in sorted(self.kept.subscribed.uris):
            with suppress(MCPError):
                await self._session.raw("resources/subscribe", {"uri": uri})


@asynccontextmanager
async def connected(
    spec: UpstreamSpec, *, kept: Kept, noticed: Noticed
) -> AsyncGenerator[Connection]:
    """Reach the server; everything that belongs to the connection ends with the block.

    Raises:
        Unreachable: Its command cannot be started.
        ExceptionGroup: Whatever else went wrong below.
    """
    async with (
        link(spec) as way,
        RelaySession(
            way.dispatcher,
            server=spec.name,
            turns=kept.turns,
            noticed=noticed,
            is_tied=bool(spec.url),
        ) as session,
    ):
        yield Connection(session, way, kept=kept)


def _progress(client: EndClient | None) -> ProgressFnT | None:
    if client is None:
        return None

    shown_now = 0

    async def show(progress: float, total: float | None, message: str | None) -> None:
        nonlocal shown_now
        if shown_now >= _MOST_SHOWN:
            return
        shown_now += 1
        try:
            await client.progress(progress, total, message)
        except Exception:  # the boundary to whoever shows it
            _logger.debug("Progress could not be shown.", exc_info=True)
        finally:
            shown_now -= 1

    return show
