"""A gateway in this process, and clients of both eras in front of it."""

import json
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.stdio import StdioServerParameters

from tests.gateway.wire import LONG, transport
from tooldrawer.gateway.gateway import Gateway
from tooldrawer.tool import JsonObject
from tooldrawer.toolset import Toolset
from tooldrawer.upstream.explanation import leaves

ROOT = Path(__file__).parents[2]
HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
ERAS = (HANDSHAKE, STATELESS)
Document = dict[str, Any]


def everything(*options: str) -> Document:
    """The entry of a server with one of everything; `legacy` makes it know the handshake only."""
    args = ["-m", "tests.gateway.everything", *options]
    return {"command": sys.executable, "args": args, "cwd": str(ROOT)}


def shelf(file: Path, *options: str) -> Document:
    """The entry of a small server that offers what is in `file`."""
    args = ["-S", "-E", str(Path(__file__).parent / "shelf.py"), str(file), *options]
    return {"command": sys.executable, "args": args}


def tool(name: str, description: str = "A tool", **more: Any) -> Document:
    """A definition as a server gives it."""
    schema: Document = {"type": "object", "properties": {}}
    return {"name": name, "description": description, "inputSchema": schema, **more}


def goods(file: Path, *tools: Document, **more: Any) -> Path:
    """Put these on a shelf."""
    return write(file, {"tools": list(tools), **more})


def log(file: Path) -> list[Document]:
    """What a shelf was asked, in order."""
    log = file.with_suffix(".log")
    written = log.read_text(encoding="utf-8") if log.exists() else ""
    return [json.loads(line) for line in written.splitlines()]


def let_in(gate: Path) -> None:
    """Let a server go on that waits for this file."""
    gate.touch()


def document(servers: Mapping[str, Document], **sections: Any) -> Document:
    """Settings for these servers: the bridge by words alone, which starts at once."""
    search = {"enabled": "on", "search": "lexical", **sections.pop("search", {})}
    tools = {"tool_search": search, **sections.pop("tools", {})}
    return {"tools": tools, "mcp_servers": dict(servers), **sections}


def write(path: Path, settings: Document) -> Path:
    """As a file; JSON is YAML too. It appears at once and whole, as editors save."""
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    draft.replace(path)
    return path


def places(folder: Path) -> dict[str, str]:
    """Folders of its own for all that a gateway keeps."""
    return {
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "TOOLDRAWER_RUNTIME_DIR": str(folder / "run"),
    }


@contextmanager
def placed(folder: Path) -> Generator[None]:
    """This process keeps its things in `folder`."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in places(folder).items():
            patch.setenv(name, value)
        yield


class Person:
    """Who sits in front of a client: answers what is asked, and remembers what was shown."""

    def __init__(self, *answers: types.ElicitResult | types.ErrorData) -> None:
        self.questions: list[types.ElicitRequestParams] = []
        self.lines: list[types.LoggingMessageNotificationParams] = []
        self.told: list[str] = []
        """The notifications by method; of updated resources the addresses."""
        self._answers = iter(answers)
        self._moved = anyio.Event()

    async def elicit(
        self, _: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        self.questions.append(params)
        return next(self._answers)

    async def sample(
        self, _: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        said = params.messages[0].content
        assert isinstance(said, types.TextContent)
        thought = types.TextContent(type="text", text=f"thought about {said.text}")
        return types.CreateMessageResult(role="assistant", content=thought, model="m")

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.lines.append(params)
        self._wake()

    async def hear(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            self.told.append(str(message.params.uri))
        else:
            self.told.append(str(getattr(message, "method", message)))
        self._wake()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something that is shown makes the condition true."""
        with anyio.fail_after(LONG):
            while not condition():
                await self._moved.wait()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()


@contextmanager
def alone() -> Generator[None]:
    """One error comes out as it is, without the groups that task groups put around it."""
    try:
        yield
    except ExceptionGroup as group:
        first, *others = leaves(group)
        if others:
            raise
        raise first from None


async def eventually(condition: Callable[[], object]) -> None:
    """Wait for what a server or the gateway does by itself, which nobody tells us."""
    with anyio.fail_after(LONG):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.01)


def chosen(answer: str) -> types.ElicitResult:
    """What a person answers to an approval."""
    return types.ElicitResult(action="accept", content={"answer": answer})


@asynccontextmanager
async def talking(
    to: Any, era: str, person: Person | None = None, *, name: str = "tester", **more: Any
) -> AsyncGenerator[Client]:
    """A client of an era; with a person it can be asked, without one it cannot."""
    given: dict[str, Any] = {}
    if person is not None:
        given = {
            "elicitation_callback": person.elicit,
            "sampling_callback": person.sample,
            "logging_callback": person.log,
            "message_handler": person.hear,
        }
    info = types.Implementation(name=name, version="1")
    mode = "legacy" if era == HANDSHAKE else "auto"
    with alone():
        async with Client(to, mode=mode, client_info=info, **{**given, **more}) as client:
            assert client.protocol_version == era
            yield client


class Rig:
    """A gateway that runs, and the file that it was made from."""

    def __init__(self, gateway: Gateway, path: Path) -> None:
        self.gateway = gateway
        self.path = path

    def client(
        self, era: str, person: Person | None = None, *, pipes: bool = False, **more: Any
    ) -> AbstractAsyncContextManager[Client]:
        """A client in this process, straight or over pipes."""
        to = transport(self.gateway) if pipes else self.gateway.server
        return talking(to, era, person, **more)

    async def settled(self) -> None:
        """Wait until every server is up, idle, or failed once."""
        with anyio.fail_after(LONG):
            for upstream in self.gateway.upstreams():
                await upstream.settled()

    def rewrite(self, settings: Document) -> None:
        """Change the configuration."""
        write(self.path, settings)

    async def listed(self, era: str = STATELESS) -> list[str]:
        """The names that a client is shown."""
        async with self.client(era) as client:
            return names(await client.list_tools())


@asynccontextmanager
async def rigged(
    folder: Path,
    settings: Document,
    *,
    toolsets: tuple[Toolset, ...] = (),
    scope: str = "",
    passthrough: bool = False,
) -> AsyncGenerator[Rig]:
    """Start a gateway; nothing waits for its servers."""
    path = write(folder / "tooldrawer.yaml", settings)
    with placed(folder), alone():
        gateway = Gateway.from_config(path, toolsets=toolsets, scope=scope, passthrough=passthrough)
        try:
            async with gateway.running(control=False):
                yield Rig(gateway, path)
        finally:
            gateway.drawer.close()


def over_stdio(folder: Path, settings: Document, *options: str) -> StdioServerParameters:
    """How a client starts a gateway as a process of its own."""
    path = write(folder / "tooldrawer.yaml", settings)
    args = ["-m", "tooldrawer", "serve", "--config", str(path), *options]
    return StdioServerParameters(command=sys.executable, args=args, env=places(folder), cwd=ROOT)


async def ask(client: Client, request: Any) -> None:
    """A request of the handshake era, for which the SDK's own methods warn."""
    await client.session.send_request(request, types.EmptyResult)


def names(listed: types.ListToolsResult) -> list[str]:
    """In the order of the list."""
    return [tool.name for tool in listed.tools]


def text(result: types.CallToolResult) -> str:
    """All the text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


def reply(result: types.CallToolResult) -> JsonObject:
    """What a bridge tool replied."""
    assert not result.is_error, text(result)
    return cast("JsonObject", json.loads(text(result)))


async def searched(client: Client, query: str, **more: Any) -> JsonObject:
    """What a search replied."""
    return reply(await client.call_tool("tool_search", {"query": query, **more}))


async def found(client: Client, query: str) -> list[str]:
    """The names that a search found, best first."""
    matches = cast("list[dict[str, str]]", (await searched(client, query))["matches"])
    return [match["name"] for match in matches]


async def called(client: Client, name: str, **arguments: Any) -> types.CallToolResult:
    """A call through the bridge."""
    return await client.call_tool("tool_call", {"name": name, "arguments": arguments})
