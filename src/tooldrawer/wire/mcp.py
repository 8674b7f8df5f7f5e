"""The Model Context Protocol's `tools/list`."""

from tooldrawer.call import thaw
from tooldrawer.tool import Json, Tool
from tooldrawer.wire.overlay import overlaid


def render(tool: Tool) -> dict[str, Json]:
    """One entry of `tools`; fields that nobody here knows go out as they came in."""
    known: dict[str, Json] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": thaw(tool.parameters),
    }
    if tool.annotations:
        known["annotations"] = thaw(tool.annotations)
    if tool.shape != "mcp" or not tool.raw:
        return known
    return overlaid(tool.raw, known)
