"""An agent whose model is scripted behind a real socket, and a drawer full of tools."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from tests.agent.loop import gemini
from tests.fakes import ScriptedToolset
from tests.models.script import Call
from tests.models.server import ModelServer
from tooldrawer import AssemblyPolicy, Config, Drawer, Event, Scope, Session, Tool, Toolset
from tooldrawer.agent.agent import Agent
from tooldrawer.agent.connection import connected
from tooldrawer.agent.conversation import Conversation
from tooldrawer.agent.crew import Crew
from tooldrawer.agent.model import Model
from tooldrawer.agent.retrying import Retrying
from tooldrawer.agent.spec import BridgeKind, ModelSpec, WireName
from tooldrawer.dispatch import Approver
from tooldrawer.tool import Json
from tooldrawer.wire.message import Answered, Reply, Returned

Way = tuple[WireName | Literal["gemini"], BridgeKind]
WIRES = ("chat", "responses", "anthropic", "gemini")
WAYS: tuple[Way, ...] = (
    ("chat", "portable"),
    ("responses", "portable"),
    ("responses", "native"),
    ("anthropic", "portable"),
    ("anthropic", "native"),
    ("gemini", "portable"),
)
CLOSED = Config(assembly=AssemblyPolicy(enabled="on"))
CREATE, CLOSE, POST = "mcp_github_create_issue", "mcp_github_close_issue", "mcp_slack_post_message"


def tool(name: str, description: str, **properties: Json) -> Tool:
    """A tool whose parameters are all required."""
    return Tool(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": properties,
            "required": list(properties),
        },
    )


TEXT: dict[str, Json] = {"type": "string"}
NUMBER: dict[str, Json] = {"type": "integer"}


def github() -> ScriptedToolset:
    """Issues."""
    return ScriptedToolset(
        "mcp-github",
        [
            tool(CREATE, "Create an issue in a repository.", title=TEXT),
            tool(CLOSE, "Close an issue in a repository.", number=NUMBER),
            tool("mcp_github_list_branches", "List the branches of a repository.", repository=TEXT),
        ],
    )


def slack() -> ScriptedToolset:
    """Messages."""
    return ScriptedToolset(
        "mcp-slack",
        [
            tool(POST, "Post a message to a channel.", channel=TEXT, text=TEXT),
            tool("mcp_slack_list_channels", "List the channels.", limit=NUMBER),
        ],
    )


def reached(
    server: ModelServer, way: Way, *, context_length: int | None = None
) -> AbstractAsyncContextManager[Model]:
    """The scripted model on one wire."""
    wire, bridge = way
    if wire == "gemini":
        return gemini.connected(server, context_length)
    return connected(
        ModelSpec(
            name="scripted",
            wire=wire,
            base_url=server.url if wire == "anthropic" else f"{server.url}/v1",
            api_key="key",
            bridge=bridge,
            defers=wire != "chat",
            context_length=context_length,
        )
    )


@dataclass
class Heard:
    """A listener that remembers."""

    text: str = ""
    notices: list[str] = field(default_factory=list[str])
    answers: list[Answered] = field(default_factory=list[Answered])

    def said(self, text: str) -> None:
        self.text += text

    def answered(self, answer: Answered) -> None:
        self.answers.append(answer)

    def noticed(self, text: str) -> None:
        self.notices.append(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """An agent and everything around it."""

    agent: Agent
    drawer: Drawer
    heard: Heard
    crew: Crew

    @property
    def session(self) -> Session:
        return self.agent.session

    @property
    def replies(self) -> list[Reply]:
        """What came of every call, in order."""
        returned = (item for item in self.agent.conversation.messages if isinstance(item, Returned))
        return [reply for message in returned for reply in message.replies]

    def events(self, *kinds: type[Event]) -> list[Event]:
        return [event for event in self.drawer.activity if isinstance(event, kinds)]


async def _at_once(seconds: float) -> None:
    del seconds


@asynccontextmanager
async def staged(
    server: ModelServer,
    way: Way,
    *,
    toolsets: Sequence[Toolset] | None = None,
    config: Config = CLOSED,
    approver: Approver | None = None,
    scope: Scope | None = None,
    conversation: Conversation | None = None,
    context_length: int | None = None,
    max_turns: int = 30,
) -> AsyncGenerator[Stage]:
    """An agent of a person's, with the tools of two servers unless told otherwise."""
    given = (github(), slack()) if toolsets is None else toolsets
    drawer = Drawer(given, config=config, approver=approver)
    heard = Heard()
    async with (
        reached(server, way, context_length=context_length) as model,
        drawer.session(scope=scope) as session,
    ):
        model = Retrying(
            model, waiting=lambda _seconds, error: heard.noticed(str(error)), sleep=_at_once
        )
        crew = Crew(model, system="Be short.", max_turns=max_turns)
        agent = crew.lead(session, conversation or Conversation(), heard)
        yield Stage(agent=agent, drawer=drawer, heard=heard, crew=crew)
    drawer.close()


def use(way: Way, name: str, arguments: Mapping[str, Json]) -> Call:
    """How a model calls a tool that it found: by name where the provider loaded it."""
    if way[1] == "native":
        return Call(name, dict(arguments))
    return Call("tool_call", {"name": name, "arguments": dict(arguments)})
