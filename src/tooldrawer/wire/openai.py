"""OpenAI chat completions, and everything that imitates it."""

from collections.abc import Mapping
from typing import cast

from tooldrawer.call import thaw, thawed
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire.overlay import overlaid


def render(tool: Tool) -> dict[str, Json]:
    """One entry of the `tools` parameter."""
    known: dict[str, Json] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": thaw(tool.parameters),
    }
    if tool.shape != "openai":
        return {"type": "function", "function": known}
    inner = tool.raw.get("function")
    if isinstance(inner, Mapping):
        return {**thawed(tool.raw), "function": overlaid(cast("JsonObject", inner), known)}
    flat = {key: value for key, value in tool.raw.items() if key != "type"}
    return {"type": "function", "function": overlaid(flat, known)}
