"""What the tests of the dispatcher have in common."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from tests.fakes import Run, ScriptedToolset, echo
from tooldrawer import (
    Ask,
    Config,
    Drawer,
    Event,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
)
from tooldrawer.activity import CallFinished
from tooldrawer.tool import Json, JsonObject

Kind = TypeVar("Kind", bound=Event)

TOOL = "lab_probe"


def events(drawer: Drawer, kind: type[Kind]) -> list[Kind]:
    return [event for event in drawer.activity if isinstance(event, kind)]


def ask(tool: Tool, call: ToolCall) -> Verdict:
    """A guardrail that always wants a person."""
    return Ask(f"Run {tool.name} with {len(call.arguments)} arguments?")


def lab(parameters: JsonObject, run: Run = echo) -> ScriptedToolset:
    """A toolset with the one tool `lab_probe`, whose schema is made by hand."""
    return ScriptedToolset("lab", [Tool(name=TOOL, parameters=parameters)], run)


@dataclass(frozen=True)
class Outcome:
    """What became of one call of `lab_probe`."""

    result: ToolResult
    received: list[JsonObject]
    drawer: Drawer

    @property
    def finished(self) -> CallFinished:
        (event,) = events(self.drawer, CallFinished)
        return event


async def probe(
    parameters: JsonObject, arguments: Json, *, config: Config | None = None
) -> Outcome:
    toolset = lab(parameters)
    drawer = Drawer([toolset], config=config)
    result = await drawer.session().call(TOOL, arguments)
    return Outcome(result, [call.arguments for call in toolset.received], drawer)


def properties(**schemas: Json) -> JsonObject:
    return {"type": "object", "properties": schemas}


def texts(results: Iterable[ToolResult]) -> list[str]:
    return [result.text for result in results]
