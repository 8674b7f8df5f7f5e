"""The client behind a call, in the words of its protocol era."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, cast

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types import CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, LoggingLevel
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tooldrawer.gateway.levels import reaches
from tooldrawer.gateway.principal import Principal, conversation_of
from tooldrawer.gateway.questions import can_answer
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import CannotAsk

Context = ServerRequestContext[Any, Any]
_calls = count(1)
_RESERVED = "io.modelcontextprotocol/"
_PATIENCE = 5.0
"""Seconds that a client may take to be shown something before it gets its result."""


def is_modern(ctx: Context) -> bool:
    """Whether the request is of the stateless era."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


class Caller:
    """What both eras share: who calls, what they declared, and what they can be shown."""

    def __init__(self, ctx: Context, principal: Principal) -> None:
        self._ctx = ctx
        self.principal = principal
        self._key = ""
        self._capabilities: JsonObject | None = None
        self._showing = 0
        self._is_shown: anyio.Event | None = None

    @property
    def key(self) -> str:
        """Who it is, for keeping questions apart: a call of its own where nothing else is known."""
        if not self._key:
            own = conversation_of(self._ctx) or f"call {next(_calls)}"
            self._key = f"{self.principal.identity}\0{own}"
        return self._key

    @property
    def has_conversation(self) -> bool:
        """Whether it is known which of the principal's calls belong together."""
        return bool(conversation_of(self._ctx))

    @property
    def owner(self) -> str:
        """On whose behalf it calls."""
        return self.principal.key

    @property
    def protocol(self) -> str:
        """The version that the request speaks."""
        return self._ctx.protocol_version

    @property
    def capabilities(self) -> JsonObject:
        """As the client declared them."""
        if self._capabilities is None:
            self._capabilities = self._declared()
        return self._capabilities

    def _declared(self) -> JsonObject:
        declared = _meta(self._ctx).get(CLIENT_CAPABILITIES_META_KEY)
        if isinstance(declared, Mapping):
            return declared
        known = self._ctx.session.client_capabilities
        return known.model_dump(by_alias=True, mode="json", exclude_none=True) if known else {}

    @property
    def meta(self) -> JsonObject:
        """The request's `_meta` without what belongs to the connection alone."""
        return {
            key: value
            for key, value in _meta(self._ctx).items()
            if key == LOG_LEVEL_META_KEY
            or not (key.startswith(_RESERVED) or key == "progressToken")
        }

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Show how far the call is, if the client wants to know."""
        with self._while_showing():
            await self._ctx.session.report_progress(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Pass on what a server logged; the stateless era has to be asked for it."""
        level = params.get("level")
        if level not in allowed_log_levels(self._ctx.protocol_version, self._ctx.meta):
            return
        line = types.LoggingMessageNotification.model_validate({"params": params}, by_name=False)
        with self._while_showing():
            await self._ctx.session.send_notification(line, related_request_id=self._ctx.request_id)

    async def shown(self) -> None:
        """Return when what came so far is on its way; after the result it would be lost."""
        if self._showing:
            self._is_shown = anyio.Event()
            with anyio.move_on_after(_PATIENCE):
                await self._is_shown.wait()

    @contextmanager
    def _while_showing(self) -> Generator[None]:
        self._showing += 1
        try:
            yield
        finally:
            self._showing -= 1
            if not self._showing and self._is_shown is not None:
                self._is_shown.set()


class Handshaken(Caller):
    """A client of the handshake era: questions are pushed to it while its request waits."""

    def __init__(self, ctx: Context, principal: Principal, *, level: LoggingLevel | None) -> None:
        """`level` is what it wants of the servers' lines; without one it is shown them all."""
        super().__init__(ctx, principal)
        self._level: LoggingLevel | None = level

    @property
    def meta(self) -> JsonObject:
        """With the level, which a server of the stateless era wants to hear with each call.

        Without one it would log nothing, where a server of the client's era logs what it likes.
        """
        return {**super().meta, LOG_LEVEL_META_KEY: self._level or "debug"}

    async def log(self, params: JsonObject) -> None:
        """Pass on what a server logged, if the client wants that much."""
        if self._level is None or reaches(params.get("level"), self._level):
            await super().log(params)

    async def ask(self, questions: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        """Push them, all at once."""
        check_answerable(self.capabilities, questions)
        answers: dict[str, JsonObject] = {}
        refusals: list[MCPError] = []

        async def put(key: str, question: JsonObject) -> None:
            # The typed way would drop what a newer client or server says and the SDK does not know.
            channel = self._ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage]
            params = cast("Mapping[str, Any] | None", question.get("params"))
            try:
                answers[key] = await channel.send_raw_request(str(question["method"]), params)
            except MCPError as error:
                refusals.append(error)

        async with anyio.create_task_group() as tasks:
            for key, question in questions.items():
                tasks.start_soon(put, key, question)
        if refusals:
            raise CannotAsk(f"The client did not answer: {refusals[0]}")
        return answers


def check_answerable(capabilities: JsonObject, questions: Mapping[str, JsonObject]) -> None:
    """Return when a client that declared `capabilities` answers all of `questions`.

    Raises:
        CannotAsk: It does not answer one of them.
    """
    for question in questions.values():
        if not can_answer(capabilities, question):
            raise CannotAsk(f"The client did not declare that it answers {question.get('method')}.")


def _meta(ctx: Context) -> JsonObject:
    found = (ctx.params or {}).get("_meta")
    return cast("JsonObject", found) if isinstance(found, Mapping) else {}
