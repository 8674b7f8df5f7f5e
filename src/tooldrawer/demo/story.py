"""A scripted model at the demo's desk: what it says, and what it calls."""

from collections.abc import Callable
from dataclasses import dataclass

from tooldrawer.assembly import Assembly
from tooldrawer.call import ToolResult
from tooldrawer.drawer import Drawer
from tooldrawer.ledger import Ledger
from tooldrawer.scope import Scope
from tooldrawer.session import Session
from tooldrawer.tool import Json

CONTEXT_LENGTH = 64_000
"""A small local model's: the schemas of the demo are more than a tenth of it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the model does."""

    says: str
    name: str
    arguments: Json


STORY = (
    Step(
        "I need something that puts a meeting into a calendar.",
        "tool_search",
        {"query": "create calendar event with guests"},
    ),
    Step(
        "The signature would do; to be sure about the times I look at the schema.",
        "tool_describe",
        {"name": "create_event"},
    ),
    Step(
        "I call it, and get two arguments slightly wrong.",
        "tool_call",
        {
            "name": "create_event",
            "arguments": {
                "title": "Release review",
                "start": "2026-11-18T10:00",
                "duration_minutes": "45",
                "guests": "ada@example.com",
            },
        },
    ),
    Step(
        "Now the tracker. One search, then straight to the call.",
        "tool_search",
        {"query": "file a bug in the issue tracker", "limit": 3},
    ),
    Step(
        "",
        "tool_call",
        {
            "name": "issues.create_issue",
            "arguments": {"title": "Crash when the folder is empty", "priority": "High"},
        },
    ),
    Step(
        "That was a duplicate. Deleting destroys something, so a person is asked.",
        "tool_call",
        {"name": "delete_issue", "arguments": {"issue_id": 1}},
    ),
    Step(
        "And some sums, in one go.",
        "tool_search",
        {"query": ["convert a length in miles", "percentage of a whole"], "limit": 1},
    ),
)
TOGETHER: tuple[tuple[str, Json], ...] = (
    (
        "tool_call",
        {
            "name": "convert_length",
            "arguments": {"value": 26.2, "from_unit": "mi", "to_unit": "km"},
        },
    ),
    (
        "tool_call",
        {"name": "calculate_percentage", "arguments": {"part": 3, "whole": 80}},
    ),
)
OUT_OF_SCOPE = Step(
    "A subagent that may only take notes tries to open an issue.",
    "tool_call",
    {"name": "create_issue", "arguments": {"title": "Not allowed"}},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where the story is told. Each of them shows one kind of thing."""

    opened: Callable[[Assembly], None]
    asks: Callable[[Step], None]
    reads: Callable[[ToolResult], None]
    together: Callable[[list[ToolResult]], None]
    closed: Callable[[Ledger], None]


async def play(drawer: Drawer, stage: Stage) -> None:
    """Tell the story: search, describe, call, repair, approval, refusal, and the ledger."""
    async with drawer.session("demo", context_length=CONTEXT_LENGTH) as session:
        stage.opened(await session.tools())
        for step in STORY:
            await _take(session, step, stage)
            await session.tools()
        stage.together(await session.call_all(TOGETHER))
        await session.tools()
        child = session.child(Scope(toolsets=["notes"], name="notes only"), name="subagent")
        await _take(child, OUT_OF_SCOPE, stage)
        stage.closed(session.ledger)


async def _take(session: Session, step: Step, stage: Stage) -> None:
    stage.asks(step)
    stage.reads(await session.call(step.name, step.arguments))
