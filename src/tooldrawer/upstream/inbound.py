"""What the other side of a pipe asked or told, while somebody is at it."""

from collections.abc import Mapping
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions, Outbound
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import MessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId


class Inbound:
    """A request or notification of the other side: the SDK's `DispatchContext`."""

    __slots__ = (
        "_cancelled",
        "_is_over",
        "_outbound",
        "_token",
        "request_id",
        "scope",
        "transport",
    )

    message_metadata: MessageMetadata = None

    def __init__(
        self,
        outbound: Outbound,
        transport: TransportContext,
        request_id: RequestId | None,
        token: RequestId | None,
    ) -> None:
        self.transport = transport
        self.request_id = request_id
        self.scope = anyio.CancelScope()
        self._outbound = outbound
        self._token = token
        self._is_over = False
        self._cancelled: anyio.Event | None = None

    @property
    def can_send_request(self) -> bool:
        """Whether the other side can still be asked something about it."""
        return self.transport.can_send_request and not self._is_over

    @property
    def cancel_requested(self) -> anyio.Event:
        """Set when the other side no longer wants an answer."""
        if self._cancelled is None:
            self._cancelled = anyio.Event()
        return self._cancelled

    @property
    def is_cancelled(self) -> bool:
        """Whether the other side no longer wants an answer."""
        return self._cancelled is not None and self._cancelled.is_set()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Ask the other side while its request waits."""
        if not self.can_send_request:
            raise NoBackChannelError(method)
        return await self._outbound.send_raw_request(method, params, opts)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Tell the other side something while its request waits."""
        if not self._is_over:
            await self._outbound.notify(method, params, opts)

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell the other side how far it is, if it wants to know."""
        if self._token is None:
            return
        known = {"total": total, "message": message}
        given = {key: value for key, value in known.items() if value is not None}
        told = {"progressToken": self._token, "progress": progress, **given}
        await self.notify("notifications/progress", told)

    def end(self) -> None:
        """Say no more about it."""
        self._is_over = True
