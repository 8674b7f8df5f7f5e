"""What the configurations of these tests name as `tests.config.parts:NAME`."""

from tooldrawer import (
    Allow,
    Answer,
    ApprovalRequest,
    FunctionToolset,
    Next,
    Tool,
    ToolCall,
    ToolResult,
)

NUMBER = 5


def water(plant: str) -> str:
    """Water one plant."""
    return f"watered {plant}"


def lend(book: str) -> str:
    """Lend a book."""
    return f"lent {book}"


garden = FunctionToolset("garden", [water])
library = FunctionToolset("library", [lend])
second_garden = FunctionToolset("garden", [lend])


async def louder(call: ToolCall, proceed: Next) -> ToolResult:
    result = await proceed(call)
    return ToolResult.of_text(result.text.upper())


def nothing_to_object(tool: Tool, call: ToolCall) -> Allow:
    return Allow()


async def always_once(request: ApprovalRequest) -> Answer:
    return Answer.ONCE
