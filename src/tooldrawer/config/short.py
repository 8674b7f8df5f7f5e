"""The short forms of the file, spelled out."""

from tooldrawer.config.document import Path
from tooldrawer.tool import Json

_LISTS = ("hooks", "guardrails", "toolsets")
_CORE: Path = ("tools", "core")


def spelled_out(value: Json) -> Json:
    """The file with `tool_search: true`, `core: [...]` and empty sections in their long form."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return value
    whole = {key: _section(key, part) for key, part in value.items()}
    tools = whole.get("tools")
    if isinstance(tools, dict):
        whole["tools"] = _tools(tools)
    return whole


def written(path: Path, value: Json) -> Path:
    """Where a key of the long form stands in the file `value`."""
    tools = value.get("tools") if isinstance(value, dict) else None
    core = tools.get("core") if isinstance(tools, dict) else None
    is_short = path[:3] == (*_CORE, "replace") and isinstance(core, list)
    return (*_CORE, *path[3:]) if is_short else path


def _section(key: str, part: Json) -> Json:
    if part is not None:
        return part
    return [] if key in _LISTS else {}


def _tools(tools: dict[str, Json]) -> dict[str, Json]:
    search, core = tools.get("tool_search"), tools.get("core")
    long = dict(tools)
    if isinstance(search, bool):
        long["tool_search"] = {"enabled": "auto" if search else "off"}
    elif isinstance(search, dict) and isinstance(search.get("enabled"), bool):
        long["tool_search"] = {**search, "enabled": "on" if search["enabled"] else "off"}
    if isinstance(core, list):
        long["core"] = {"replace": core}
    return long
