"""What the application gets of a result beside what the model is shown."""

from tooldrawer.call import ToolResult
from tooldrawer.tool import Json


def beside(result: ToolResult) -> dict[str, Json]:
    """Structured content, error flag and `_meta` in MCP's words; empty when there is nothing."""
    whole = result.mcp()
    del whole["content"]
    return whole
