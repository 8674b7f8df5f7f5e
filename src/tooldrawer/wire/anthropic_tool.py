"""A tool in the words of Anthropic's Messages API."""

from tooldrawer.call import thaw
from tooldrawer.tool import Json, Tool
from tooldrawer.wire.overlay import overlaid


def render(tool: Tool) -> dict[str, Json]:
    """One entry of the `tools` parameter."""
    known: dict[str, Json] = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": thaw(tool.parameters),
    }
    if tool.shape != "anthropic":
        return known
    return overlaid(tool.raw, known)
