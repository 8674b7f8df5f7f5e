"""A gateway over HTTP in this process, and clients that come with a token or without."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.rig import LONG, Document, Person, Rig, alone, placed, talking, write
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.gateway.http import serve_http
from tooldrawer.gateway.tokens import Tokens
from tooldrawer.toolset import Toolset


class Site(Rig):
    """A gateway that answers HTTP."""

    def __init__(self, gateway: Gateway, path: Path, http: httpx2.AsyncClient) -> None:
        super().__init__(gateway, path)
        self.http = http
        """For requests of any kind, relative to the gateway."""

    def visitor(
        self,
        era: str,
        person: Person | None = None,
        *,
        secret: str = "",
        path: str = "/mcp",
        **more: Any,
    ) -> AbstractAsyncContextManager[Client]:
        """A client that comes in over HTTP."""
        return self._visit(era, person, secret, path, more)

    @asynccontextmanager
    async def _visit(
        self, era: str, person: Person | None, secret: str, path: str, more: dict[str, Any]
    ) -> AsyncGenerator[Client]:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        async with httpx2.AsyncClient(headers=headers, timeout=LONG) as http:
            to = streamable_http_client(str(self.http.base_url.join(path)), http_client=http)
            async with talking(to, era, person, **more) as client:
                yield client


@asynccontextmanager
async def served(
    folder: Path,
    settings: Document,
    *,
    toolsets: tuple[Toolset, ...] = (),
    host: str = "127.0.0.1",
) -> AsyncGenerator[Site]:
    """Start a gateway on any free port; the tokens are those of `folder`."""
    path = write(folder / "tooldrawer.yaml", settings)
    with placed(folder), alone():
        gateway = Gateway.from_config(path, toolsets=toolsets)
        is_up = anyio.Event()

        async def started(_: str) -> None:
            is_up.set()

        serve = partial(serve_http, gateway, host=host, port=0, tokens=tokens(folder))
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(serve, started=started))
                with anyio.fail_after(LONG):
                    await is_up.wait()
                base = gateway.address.removesuffix("/mcp")
                async with httpx2.AsyncClient(base_url=base, timeout=LONG) as http:
                    yield Site(gateway, path, http)
                tasks.cancel_scope.cancel()
        finally:
            gateway.drawer.close()


def tokens(folder: Path) -> Tokens:
    """Those of the gateway in `folder`."""
    return Tokens(folder / "data" / "tooldrawer" / "tokens.json")
