"""What is in the drawer, in as few words as the budget allows."""

from collections.abc import Iterable, Sequence
from typing import Literal

from tooldrawer.tool import Tool

Listing = Literal["off", "toolsets", "names", "full"]

# Always the same estimate, also where the exact tokenizer is installed: the same settings must
# give the same bytes on every machine. Names are short on characters: those of 89 real servers
# are 1,243 characters and 507 o200k tokens, 2.45 a token.
_CHARACTERS_PER_TOKEN = 2.4
_HEAD = "In the drawer: "


def render(
    kind: Listing, *, toolsets: Iterable[str], deferred: Iterable[Tool], max_tokens: int
) -> str:
    """The listing for `tool_search`'s description, sorted, `and N more` where it gets too long."""
    if kind == "off":
        return ""
    if kind == "toolsets":
        return _joined(sorted(toolsets), separator=", ", max_tokens=max_tokens)
    tools = sorted(deferred, key=lambda tool: (tool.source, tool.name))
    if kind == "names":
        return _joined([tool.name for tool in tools], separator=", ", max_tokens=max_tokens)
    lines = [f"{tool.name} - {_first_sentence(tool)}" for tool in tools]
    return _joined(lines, separator="\n", max_tokens=max_tokens)


def _joined(items: Sequence[str], *, separator: str, max_tokens: int) -> str:
    text = ""
    for count in range(len(items), -1, -1):
        more = len(items) - count
        parts = [*items[:count], *([f"and {more} more"] if more else [])]
        text = f"{_HEAD}{separator.join(parts)}." if parts else ""
        if len(text) <= max_tokens * _CHARACTERS_PER_TOKEN:
            return text
    return ""


def _first_sentence(tool: Tool) -> str:
    line = " ".join(tool.description.split())
    return line.split(". ", 1)[0].rstrip(".")[:120]
