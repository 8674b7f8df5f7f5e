"""Under which key other programs list their MCP servers."""

from tooldrawer.tool import Json

LISTS = ("mcpServers", "servers")
"""Where the servers stand; the second is what VS Code calls it."""


def list_key(value: Json) -> str | None:
    """Under which key the file has servers; nothing when it is no list of servers."""
    if not isinstance(value, dict):
        return None
    return next((key for key in LISTS if key in value), None)
