"""A long random walk: nobody ever receives a word of a server that their scope does not admit.

Principals with scopes in every form come and go, servers change what they offer, the configuration
changes what a scope means, and everything that a principal is sent is searched for the words of the
others' servers.
"""

import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.gateway.orchard import (
    FORMS,
    ITEMS,
    MARKERS,
    STOCKS,
    Admits,
    Orchard,
    clean,
    planted,
    probes,
)
from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    LONG,
    Document,
    Person,
    ask,
    document,
    eventually,
    text,
)
from tests.gateway.web import Site, served, tokens
from tests.requirements import requirement
from tooldrawer import Scope
from tooldrawer.tool import Json

pytestmark = pytest.mark.anyio
_SHIFTING = "shifting"
"""The scope that becomes another one during the walk."""
_MAX_VISITORS = 5
_ECHOED = ("query", "arguments")
"""What an event repeats of a principal's own words."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(eq=False)
class Visitor:
    """A principal with one client."""

    scope: str
    era: str
    secret: str
    person: Person = field(default_factory=Person)
    leaving: anyio.Event = field(default_factory=anyio.Event)
    told: int = 0
    """How much of what was pushed to it has been looked at."""
    meanings: list[tuple[Admits, dict[str, tuple[str, ...]]]] = field(default_factory=list[Any])
    """All that its scope has meant since it came: a notification may be on its way for a while."""
    client: Client = field(init=False)


class Walk:
    """The state of a walk, and its steps."""

    def __init__(self, site: Site, orchard: Orchard, chance: random.Random, folder: Path) -> None:
        self.site, self.orchard, self.chance, self.folder = site, orchard, chance, folder
        self.meanings: dict[str, Admits] = {f"form{n}": each for n, (_, each) in enumerate(FORMS)}
        self.shift = 0
        self.visitors: list[Visitor] = []
        self.updates = 0
        self.events = 0
        self.addresses: list[str] = []
        """Those that principals tried."""
        self.meanings[_SHIFTING] = FORMS[0][1]

    def admits(self, visitor: Visitor) -> Admits:
        return self.meanings[visitor.scope]

    def check(self, visitor: Visitor, received: str) -> None:
        """Fail when there is a trace of what the visitor's scope does not admit."""
        found = self.orchard.traces(self.admits(visitor), received)
        assert not found, (visitor.scope, visitor.era, found, received)

    # Principals

    async def join(self, *, task_status: anyio.abc.TaskStatus[Visitor]) -> None:
        """Come in with a new token, and stay until told to leave."""
        scope = self.chance.choice((*self.meanings, _SHIFTING))
        _, secret = tokens(self.folder).create(scope=scope)
        visitor = Visitor(scope, self.chance.choice(ERAS), secret)
        visitor.meanings.append((self.admits(visitor), dict(self.orchard.stocks)))
        async with self.site.visitor(
            visitor.era, visitor.person, secret=secret, cache=None
        ) as client:
            visitor.client = client
            said = str(client.instructions)
            self.check(visitor, said)
            shown = {server for server, marker in MARKERS.items() if marker in said}
            assert shown == self.orchard.admitted(self.admits(visitor))
            task_status.started(visitor)
            await visitor.leaving.wait()

    # What a principal may ask

    async def list_tools(self, visitor: Visitor) -> None:
        self.check(visitor, str(await visitor.client.list_tools()))

    async def search(self, visitor: Visitor) -> None:
        query = self.chance.choice(("find things", "wipe", "plum", "say it", "zzzz"))
        said = text(await visitor.client.call_tool("tool_search", {"query": query}))
        self.check(visitor, said)
        expected = len(self.orchard.tools(self.admits(visitor)))
        assert json.loads(said)["total_available"] == expected

    async def probe_tool(self, visitor: Visitor) -> None:
        name = self.chance.choice(list(probes(self.orchard)))
        for request in (
            visitor.client.call_tool("tool_describe", {"name": name}),
            visitor.client.call_tool("tool_call", {"name": name, "arguments": {}}),
            visitor.client.call_tool(name, {}),
        ):
            self.check(visitor, (await _answered(request)).replace(name, ""))

    async def call_tool(self, visitor: Visitor) -> None:
        tools = self.orchard.tools(self.admits(visitor))
        if not tools:
            return
        server, name = self.chance.choice(tools)
        found = json.loads(
            text(await visitor.client.call_tool("tool_search", {"query": name, "limit": 20}))
        )
        names = [each["name"] for each in found["matches"] if MARKERS[server] in str(each)]
        for each in names:
            self.check(
                visitor, await _answered(visitor.client.call_tool("tool_call", {"name": each}))
            )

    async def list_prompts(self, visitor: Visitor) -> None:
        listed = await visitor.client.list_prompts()
        self.check(visitor, str(listed))
        expected = {self.orchard.mark(*item) for item in self.orchard.items(self.admits(visitor))}
        assert {str(each.description) for each in listed.prompts} == expected

    async def list_resources(self, visitor: Visitor) -> None:
        listed = await visitor.client.list_resources()
        self.check(visitor, str(listed))
        items = self.orchard.items(self.admits(visitor))
        expected = {f"{MARKERS[server]}://{name}" for server, name in items}
        assert {str(each.uri) for each in listed.resources} == expected
        self.check(visitor, str(await visitor.client.list_resource_templates()))

    async def get_prompts(self, visitor: Visitor) -> None:
        listed = [each.name for each in (await visitor.client.list_prompts()).prompts]
        hidden = f"mcp_{self.chance.choice(list(MARKERS))}_{self.chance.choice(ITEMS)}"
        for name in (hidden, *listed[:1]):
            self.check(
                visitor, (await _answered(visitor.client.get_prompt(name))).replace(name, "")
            )
            reference = types.PromptReference(type="ref/prompt", name=name)
            completing = visitor.client.complete(reference, {"name": "of", "value": "x"})
            self.check(visitor, (await _answered(completing)).replace(name, ""))

    async def read_resources(self, visitor: Visitor) -> None:
        marker = self.chance.choice(list(MARKERS.values()))
        path = self.chance.choice((*ITEMS, "more/1", "more/{n}", "unlisted", "FIND_notes/"))
        uri = f"{marker}://{path}"
        self.addresses.append(uri)
        read = await _answered(visitor.client.read_resource(uri))
        # With one server in a scope it is asked for any address; the answer has its own word.
        self.check(visitor, read.replace(uri, ""))
        items = self.orchard.items(self.admits(visitor))
        if (path, marker) in {(name, MARKERS[server]) for server, name in items}:
            assert f"of {marker}" in read
        reference = types.ResourceTemplateReference(type="ref/resource", uri=uri)
        completing = visitor.client.complete(reference, {"name": "n", "value": "x"})
        self.check(visitor, (await _answered(completing)).replace(uri, ""))

    async def subscribe(self, visitor: Visitor) -> None:
        if visitor.era != HANDSHAKE:
            return
        for marker in MARKERS.values():
            uri = f"{marker}://{self.chance.choice(ITEMS)}"
            params = types.SubscribeRequestParams(uri=uri)
            with suppress(MCPError):
                await ask(visitor.client, types.SubscribeRequest(params=params))
        level = types.SetLevelRequestParams(level="debug")
        await ask(visitor.client, types.SetLevelRequest(params=level))

    async def look_at_metrics(self, visitor: Visitor) -> None:
        headers = {"Authorization": f"Bearer {visitor.secret}"}
        for path in ("/metrics", "/readyz", "/healthz", "/mcp/form16", "/status", "/activity"):
            answer = await self.site.http.get(path, headers=headers)
            self.check(visitor, f"{answer.headers} {answer.text}")

    # What happens behind the gateway

    async def restock(self) -> None:
        """Let a server have other tools, and wait until the gateway knows."""
        server = self.chance.choice(list(MARKERS))
        self.orchard.restock(server, self.chance.choice(STOCKS), update=self._next())
        upstream = next(each for each in self.site.gateway.upstreams() if each.spec.name == server)
        wanted = set(self.orchard.stocks[server])
        await eventually(lambda: {tool.local_name for tool in upstream.tools()} == wanted)
        self._remember()

    async def change_scope(self) -> None:
        """Let a name mean another scope from now on."""
        self.shift = self.chance.randrange(len(FORMS))
        self.site.rewrite(settings(self.orchard, self.shift))
        self.meanings[_SHIFTING] = FORMS[self.shift][1]
        await self.site.gateway.drawer.refresh()
        self._remember()

    def _next(self) -> int:
        self.updates += 1
        return self.updates

    def _remember(self) -> None:
        for visitor in self.visitors:
            visitor.meanings.append((self.admits(visitor), dict(self.orchard.stocks)))

    async def delegate(self) -> None:
        """A session within a session, as a library uses them."""
        (outer, one), (inner, other) = self.chance.choice(FORMS), self.chance.choice(FORMS)

        def both(server: str, name: str) -> bool:
            return one(server, name) and other(server, name)

        parent = self.site.gateway.drawer.session(scope=Scope(**outer))
        child = parent.child(Scope(**inner))
        asked: list[tuple[str, Json]] = [
            ("tool_search", {"query": ["find things", "wipe"]}),
            *((name, {}) for name in probes(self.orchard)),
        ]
        received = [str((await child.tools()).mcp())]
        received += [result.text for result in await child.call_all(asked)]
        found = self.orchard.traces(both, "\n".join(received))
        assert not found, (outer, inner, found, received)
        assert len(child.catalog) == len(self.orchard.tools(both))

    # Looking back

    def check_pushed(self) -> None:
        """What came to a principal unasked: log lines, notifications, addresses of resources."""
        for visitor in self.visitors:
            pushed = [*map(str, visitor.person.lines), *visitor.person.told]
            for received in pushed[visitor.told :]:
                before = dict(self.orchard.stocks)
                traces: list[set[str]] = []
                for admits, stocks in visitor.meanings:
                    self.orchard.stocks = stocks
                    traces.append(self.orchard.traces(admits, received))
                self.orchard.stocks = before
                assert not set[str].intersection(*traces), (visitor.scope, received)
            visitor.told = len(pushed)

    def check_events(self) -> None:
        """What the activity has under the name of a scope."""
        events = [each for each in self.site.gateway.drawer.activity if each.scope in self.meanings]
        for event in events[self.events :]:
            fields = asdict(event)
            said = str({key: each for key, each in fields.items() if key not in _ECHOED})
            # A resource that no server listed is known by the address that the principal gave.
            for address in self.addresses:
                said = said.replace(clean(address), "")
            found = self.orchard.traces(self.meanings[event.scope], said)
            assert not found, (found, event)
        self.events = len(events)


async def _answered(request: Awaitable[Any]) -> str:
    """The answer, or the refusal."""
    try:
        return str(await request)
    except MCPError as error:
        return str(error.error)


def settings(orchard: Orchard, shift: int) -> Document:
    """The configuration, with a scope for every form."""
    scopes = {f"form{number}": form for number, (form, _) in enumerate(FORMS)}
    scopes[_SHIFTING] = FORMS[shift][0]
    return document(orchard.entries(), scopes=scopes, activity={"keep": 100_000})


@requirement("SCOPE-6")
@requirement("SCOPE-2")
@pytest.mark.parametrize("seed", range(4))
async def test_no_principal_ever_receives_a_trace_of_a_server_outside_its_scope(
    tmp_path: Path, seed: int
) -> None:
    chance, orchard = random.Random(seed), planted(tmp_path)
    async with served(tmp_path, settings(orchard, 0)) as site, anyio.create_task_group() as tasks:
        await site.settled()
        walk = Walk(site, orchard, chance, tmp_path)
        asking: list[Callable[[Visitor], Awaitable[None]]] = [
            walk.list_tools, walk.search, walk.probe_tool, walk.call_tool, walk.list_prompts,
            walk.list_resources, walk.get_prompts, walk.read_resources, walk.subscribe,
            walk.look_at_metrics,
        ]  # fmt: skip
        happening = [walk.restock, walk.change_scope, walk.delegate]
        for _ in range(60):
            with anyio.fail_after(LONG):
                if len(walk.visitors) < _MAX_VISITORS and chance.random() < 0.3:
                    walk.visitors.append(await tasks.start(walk.join))
                elif walk.visitors and chance.random() < 0.05:
                    walk.visitors.pop(chance.randrange(len(walk.visitors))).leaving.set()
                if chance.random() < 0.25:
                    await chance.choice(happening)()
                for visitor in walk.visitors:
                    await chance.choice(asking)(visitor)
            walk.check_pushed()
            walk.check_events()
        for visitor in walk.visitors:
            visitor.leaving.set()
