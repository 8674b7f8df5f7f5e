"""The three tools in place of the drawer's contents. Their bytes are paid for on every turn."""

from collections.abc import Iterator
from dataclasses import dataclass

from tooldrawer.errors import ConfigError
from tooldrawer.naming import MAX_LENGTH, fitting
from tooldrawer.option_checks import Expected, require_fields
from tooldrawer.tool import Json, Tool

BRIDGE = "tooldrawer"
"""The source of the bridge's own tools; no toolset has this name."""


_NAME = Expected(
    f"at most {MAX_LENGTH} letters, digits, dashes and underscores",
    lambda value: isinstance(value, str) and fitting(value, identity=value) == value,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeNames:
    """The wire names. Some providers reserve `tool_search`; small models confuse `tool_call`.

    Raises:
        ConfigError: Providers would refuse a name, or two are the same.
    """

    search: str = "tool_search"
    describe: str = "tool_describe"
    call: str = "tool_call"

    def __post_init__(self) -> None:
        require_fields(self, search=_NAME, describe=_NAME, call=_NAME)
        if len({*self}) < len((*self,)):
            raise ConfigError(
                f"BridgeNames are {self.search!r}, {self.describe!r} and {self.call!r}, expected "
                "three different names."
            )

    def __iter__(self) -> Iterator[str]:
        return iter((self.search, self.describe, self.call))


def native_search(names: BridgeNames, *, listing: str = "") -> Tool:
    """The search alone, where the provider loads what it finds and the model calls it by name."""
    return _search(
        names,
        "The tools found are loaded, and you call them like any other.",
        listing,
    )


def bridge_tools(names: BridgeNames, *, listing: str = "") -> tuple[Tool, Tool, Tool]:
    """The bridge, which depends on settings only: no counts, nothing that comes and goes.

    The texts were written so that a model needs no other explanation, within 300 o200k tokens.
    """
    return (
        _search(
            names,
            f"Each match has a signature, which is enough to call it with {names.call}.",
            listing,
        ),
        _tool(
            names.describe,
            "Full schema of one found tool. Needed only when its signature leaves a question.",
            {"name": {"type": "string"}},
            required=["name"],
            read_only=True,
        ),
        _tool(
            names.call,
            "Run a found tool by its exact name.",
            {
                "name": {"type": "string"},
                "arguments": {"type": "object", "description": "As in the tool's signature"},
            },
            required=["name", "arguments"],
            read_only=False,
        ),
    )


def _search(names: BridgeNames, what_is_found: str, listing: str) -> Tool:
    return _tool(
        names.search,
        "Find tools that are not listed here: more are available than you see. Search before "
        "you say that something cannot be done. Describe the action and the service in a few "
        f"words, e.g. 'create github issue'; one need per query. {what_is_found} If nothing fits, "
        "try other words once or twice, then tell the user." + (f"\n{listing}" if listing else ""),
        {
            "query": {"type": "string", "description": "What the tool should do"},
            "limit": {"type": "integer", "minimum": 1},
        },
        required=["query"],
        read_only=True,
    )


def _tool(
    name: str,
    description: str,
    properties: dict[str, Json],
    *,
    required: list[str],
    read_only: bool,
) -> Tool:
    return Tool(
        name=name,
        description=description,
        parameters={"type": "object", "properties": properties, "required": required},
        source=BRIDGE,
        annotations={"readOnlyHint": read_only},
        trusted=True,
        origin_name=name,
    )
