"""Three catalogs that never change, and the arrays they give.

Their tools are recorded lists: a schema made from type hints would follow pydantic's version.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import anyio

from tooldrawer import Assembly, AssemblyPolicy, Config, Drawer, Scope, StaticToolset
from tooldrawer.tool import Json, JsonObject

FOLDER = Path(__file__).parent
Name = Literal["small", "mixed", "large"]
Shape = Literal["openai", "anthropic", "mcp"]
NAMES: tuple[Name, ...] = get_args(Name)
SHAPES: tuple[Shape, ...] = get_args(Shape)

AS_IT_IS = "{tool}"
"""The template for tools that are not to be called after their server."""
_CITIES = (
    "amsterdam", "bergen", "cordoba", "dakar", "esbjerg", "florence", "ghent", "helsinki",
    "ibadan", "jakarta", "kyoto", "lisbon", "marseille", "nairobi", "oslo", "porto", "quito",
    "riga", "seville", "tallinn", "utrecht", "valencia", "warsaw", "xalapa", "york", "zagreb",
)  # fmt: skip


def file(name: Name, shape: Shape) -> Path:
    """Where the bytes of an array are kept."""
    return FOLDER / f"{name}.{shape}.json"


def written(name: Name, shape: Shape) -> bytes:
    """The bytes of an array, as they are now."""
    return array(assembly(name), shape)


def array(found: Assembly, shape: Shape) -> bytes:
    rows: list[dict[str, Json]] = getattr(found, shape)()
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


def assembly(name: Name) -> Assembly:
    """The first turn of a session of that catalog's drawer."""
    drawer, scope = DRAWERS[name]()
    return anyio.run(drawer.session(scope=scope, context_length=200_000).tools)


def _small() -> tuple[Drawer, Scope]:
    """Three tools that stay as they are: the drawer is open."""
    weather: Sequence[JsonObject] = (
        {
            "name": "forecast",
            "title": "Forecast",
            "description": "The weather of the next days in °C.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "Town, e.g. 'Zürich' or '京都'"},
                    "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
                },
                "required": ["place"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": True},
            "_meta": {"example.org/revision": 7},
        },
        {"name": "now", "inputSchema": {"type": "object"}},
        {"name": "warn me!", "description": 'Line one.\nLine "two" \\ \u2028 🙂', "icons": []},
    )
    return Drawer([StaticToolset("weather", weather)]), Scope()


def _mixed() -> tuple[Drawer, Scope]:
    """Core and pinned tools before the bridge, the rest behind it, and some out of scope."""
    own = StaticToolset(
        "own", [_read("terminal"), _read("todo"), _read("sketch")], template=AS_IT_IS
    )
    # From sets on purpose: the order in which they are iterated must not reach the bytes.
    toolsets = tuple({"mcp-own", "mcp-hub", "mcp-mail", "mcp-vault", "mcp-later"})
    pinned = tuple({"mcp_hub_get_me", "mcp_mail_*unread*", "mcp_absent_*"})
    hub = StaticToolset("hub", [_read(name) for name in ("get_me", "create_issue", "close_issue")])
    mail = StaticToolset("mail", [_read(name) for name in ("send", "list_unread", "move")])
    vault = StaticToolset("vault", [_read(name) for name in ("read_secret", "list_names")])
    policy = AssemblyPolicy(enabled="on", pinned=pinned)
    drawer = Drawer([own, hub, mail, vault], config=Config(assembly=policy))
    deny = tuple({"mcp_vault_*secret*", "*delete*", "mcp_mail_move"})
    return drawer, Scope(toolsets=toolsets, deny=deny, disabled_toolsets=("mcp-x*",))


def _large() -> tuple[Drawer, Scope]:
    """More toolsets than the listing has room for, registered in no order."""
    servers = sorted(_CITIES, key=lambda city: city[::-1])
    toolsets = [
        StaticToolset(
            f"{city}-{part}", [_read(f"{verb}_{part}") for verb in ("list", "add", "drop")]
        )
        for part in ("trams", "archive")
        for city in servers
    ]
    policy = AssemblyPolicy(threshold_pct=1)
    return Drawer(toolsets, config=Config(assembly=policy)), Scope()


def _read(name: str) -> JsonObject:
    return {
        "name": name,
        "description": f"Does what {name} says. {'It takes its time. ' * 3}",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": f"Which one to {name}"},
                "how": {"enum": ["fast", "thorough", None], "default": "fast"},
            },
            "required": ["id"],
        },
    }


DRAWERS = {"small": _small, "mixed": _mixed, "large": _large}
