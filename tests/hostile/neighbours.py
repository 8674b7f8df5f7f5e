"""A gateway with a hostile and a healthy server, and three principals in front of it."""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from time import monotonic, sleep, thread_time
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext

from tests.gateway.rig import (
    HANDSHAKE,
    LONG,
    STATELESS,
    Document,
    Person,
    called,
    document,
    goods,
    searched,
    shelf,
    text,
    tool,
    write,
)
from tests.gateway.web import Site, served, tokens
from tests.hostile.server import WORD

SERVER = Path(__file__).with_name("server.py")
EVIL, WELL = "evil", "well"
SCOPES: Document = {
    "ann": {"toolsets": ["mcp-well"]},
    "bob": {"allow": ["mcp_well_*"]},
}
"""Both admit the healthy server alone."""
ERAS = {"ann": HANDSHAKE, "bob": STATELESS, "eve": HANDSHAKE}
QUOTAS = {"searches_per_minute": 100_000, "calls_per_minute": 100_000}


@contextmanager
def started(offer: Document, folder: Path, transport: str) -> Generator[Document]:
    """The entry of a hostile server with this offer."""
    file = write(folder / "offer.json", offer)
    command = [sys.executable, "-S", "-E", str(SERVER), str(file)]
    if transport == "stdio":
        yield {"command": command[0], "args": command[1:]}
        return
    port = folder / "port"
    with Popen([*command, "--port", str(port)]) as process:
        try:
            limit = monotonic() + LONG
            while not port.exists():
                assert process.poll() is None
                assert monotonic() < limit
                sleep(0.01)
            yield {"url": f"http://127.0.0.1:{port.read_text(encoding='utf-8')}/mcp"}
        finally:
            process.kill()


def healthy(folder: Path) -> Document:
    schema: Document = {
        "type": "object",
        "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}},
        "required": ["city"],
    }
    file = goods(
        folder / f"{WELL}.json",
        tool("get_weather", "Get the weather of a city", inputSchema=schema),
        instructions="Ask for the weather.",
        prompts=[{"name": "advise"}],
        resources=[{"uri": "well://note", "name": "note"}],
        resourceTemplates=[{"uriTemplate": "well://{place}/now", "name": "now"}],
    )
    return shelf(file)


class Victim(Person):
    """Eve: declines whatever she is asked."""

    async def elicit(
        self, _: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        self.questions.append(params)
        return types.ElicitResult(action="decline")


class Ticker:
    """Sees how long the event loop is kept by one thing, in processor time of its thread."""

    def __init__(self) -> None:
        self.ticks = 0
        self.longest = 0.0

    async def run(self) -> None:
        last = thread_time()
        while True:
            await anyio.sleep(0.001)
            now = thread_time()
            self.longest, last = max(self.longest, now - last), now
            self.ticks += 1


@dataclass
class Neighbours:
    """Principals with their clients. Eve may use everything; the others only the healthy server."""

    site: Site
    clients: dict[str, Client]
    people: dict[str, Person]
    ticker: Ticker
    rounds: dict[str, int] = field(default_factory=dict[str, int])

    async def live_through(self, attack: Callable[[Client], Awaitable[None]]) -> None:
        """Ann and Bob do all that they can, over and over, while Eve runs into the attack."""
        attacked = anyio.Event()

        async def be_attacked() -> None:
            try:
                await attack(self.clients["eve"])
            finally:
                attacked.set()

        async def live(name: str) -> None:
            while not attacked.is_set() or self.rounds.get(name, 0) < 2:
                await check_healthy(self.clients[name])
                self.rounds[name] = self.rounds.get(name, 0) + 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(be_attacked)
            for name in SCOPES:
                tasks.start_soon(live, name)
        for name in SCOPES:
            person = self.people[name]
            assert (person.lines, person.questions, person.told) == ([], [], [])


@asynccontextmanager
async def neighbours(
    folder: Path, offer: Document, transport: str, **sections: Any
) -> AsyncGenerator[Neighbours]:
    """All of them together; `sections` are more settings."""
    secrets = {name: tokens(folder).create(scope=name)[1] for name in SCOPES}
    secrets["eve"] = tokens(folder).create()[1]
    people = {name: Victim() if name == "eve" else Person() for name in secrets}
    with started(offer, folder, transport) as entry:
        settings = document(
            {EVIL: entry, WELL: healthy(folder)},
            scopes=SCOPES,
            gateway={"quotas": QUOTAS},
            **sections,
        )
        async with served(folder, settings) as site, AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            ticker = Ticker()
            tasks.start_soon(ticker.run)
            await site.settled()
            clients = {
                name: await stack.enter_async_context(
                    site.visitor(ERAS[name], people[name], secret=secret)
                )
                for name, secret in secrets.items()
            }
            yield Neighbours(site, clients, people, ticker)


async def check_healthy(client: Client) -> None:
    """Everything that the healthy server offers works, and nothing of the hostile one is in it."""
    listed = await client.list_tools()
    search = await searched(client, "weather of a city")
    described = await client.call_tool("tool_describe", {"name": "mcp_well_get_weather"})
    right = await called(client, "mcp_well_get_weather", city="Oslo")
    wrong = await called(client, "mcp_well_get_weather", city="oslo")
    unknown = await called(client, f"mcp_{EVIL}_{WORD}")
    prompts = await client.list_prompts()
    prompt = await client.get_prompt("mcp_well_advise", {"a": "b"})
    resources = await client.list_resources()
    templates = await client.list_resource_templates()
    read = await client.read_resource("well://Oslo/now")
    reference = types.ResourceTemplateReference(type="ref/resource", uri="well://{place}/now")
    completed = await client.complete(reference, {"name": "place", "value": "Os"})
    assert [tool.name for tool in listed.tools] == ["tool_search", "tool_describe", "tool_call"]
    assert search["total_available"] == 1
    assert '"server": "well"' in text(right)
    assert wrong.is_error
    assert "/city: " in text(wrong)
    assert unknown.is_error
    assert [each.name for each in prompts.prompts] == ["mcp_well_advise"]
    assert [each.uri for each in resources.resources] == ["well://note"]
    assert [each.uri_template for each in templates.resource_templates] == ["well://{place}/now"]
    assert completed.completion.values == ["Os of well"]
    said = [
        listed, search, described, right, wrong, text(unknown), prompts, prompt, resources,
        templates, read, completed, client.instructions,
    ]  # fmt: skip
    assert [each for each in said if WORD in str(each) or EVIL in str(each)] == []


async def try_everything(client: Client, *, arguments: Document, uri: str) -> None:
    """Use all that the hostile server offers; what fails, fails with an answer."""
    listed = await client.list_tools()
    assert listed.tools
    found = await searched(client, f"{WORD} weather", limit=20)
    names = [str(match["name"]) for match in _objects(found["matches"])]
    for name in names[:10]:
        await _answered(client.call_tool("tool_describe", {"name": name}))
        await _answered(called(client, name, **arguments))
    prompts = (await client.list_prompts()).prompts
    for prompt in prompts[:5]:
        await _answered(client.get_prompt(prompt.name))
    await client.list_resources()
    await client.list_resource_templates()
    await _answered(client.read_resource(uri))
    reference = types.ResourceTemplateReference(type="ref/resource", uri=uri)
    await _answered(client.complete(reference, {"name": "a", "value": "b"}))


def _objects(value: Any) -> list[dict[str, Any]]:
    return list(value)


async def _answered(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except MCPError as error:
        return error
