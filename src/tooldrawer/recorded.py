"""Tool lists that were recorded: explore a server's tools without starting it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Never, Self, cast

from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.errors import CatalogFileError, ToolFailed
from tooldrawer.json_values import is_deeper
from tooldrawer.naming import fitting, mcp_name
from tooldrawer.tool import DEFAULT_TEMPLATE, UPSTREAM_PREFIX, Json, JsonObject, ServerNaming, Tool

_MOST_LEVELS = 100
"""How deep a tool's definition may be nested; real ones have about 20."""


class StaticToolset:
    """The tools of one server as it once listed them. They can be found and read, not run."""

    def __init__(
        self, server: str, definitions: Iterable[JsonObject], *, template: str = DEFAULT_TEMPLATE
    ) -> None:
        self.name = f"{UPSTREAM_PREFIX}{server}"
        self._tools = tuple(
            upstream_tool(definition, server=server, template=template)
            for definition in definitions
        )

    @classmethod
    def load(cls, path: str | Path, *, template: str = DEFAULT_TEMPLATE) -> Self:
        """Read a recorded list: `{"server", "tools"}`, a bare MCP result, or a bare list.

        The server's name is the one in the file, else the file's own name.

        Raises:
            CatalogFileError: The file cannot be read, or holds something else.
        """
        file = Path(path)
        server, definitions = _parts(_read(file), file)
        try:
            return cls(server, definitions, template=template)
        except CatalogFileError as error:
            raise CatalogFileError(f"{file}: {error}") from error

    @classmethod
    def load_all(cls, path: str | Path, *, template: str = DEFAULT_TEMPLATE) -> tuple[Self, ...]:
        """Read one file, or every `*.json` of a folder, in the order of their names.

        Raises:
            CatalogFileError: There is nothing there, or one of the files is something else.
        """
        place = Path(path)
        if not place.is_dir():
            return (cls.load(place, template=template),)
        files = sorted(place.glob("*.json"))
        if not files:
            raise CatalogFileError(f"{place}: has no *.json file with a recorded tool list.")
        found: dict[str, Path] = {}
        toolsets: list[Self] = []
        for file in files:
            toolset = cls.load(file, template=template)
            first = found.setdefault(toolset.name, file)
            if first is not file:
                server = toolset.name.removeprefix(UPSTREAM_PREFIX)
                raise CatalogFileError(
                    f"{file}: is a second list of the server {server!r}; the first is {first}."
                )
            toolsets.append(toolset)
        return tuple(toolsets)

    def tools(self) -> Sequence[Tool]:
        """The recorded tools, in the server's order."""
        return self._tools

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Refuse: a recording has no server behind it.

        Raises:
            ToolFailed: Always.
        """
        raise ToolFailed(
            f"{tool.name!r} comes from a recorded list of {tool.server!r} and cannot run. "
            "Connect the server itself to call it."
        )


def upstream_tool(definition: JsonObject, *, server: str, template: str) -> Tool:
    """A server's own definition as a tool of the toolset `mcp-{server}`.

    Raises:
        CatalogFileError: It is nested so deep that copying it would run out of stack.
    """
    if is_deeper(definition, _MOST_LEVELS):
        raise CatalogFileError(
            f"the tool {definition.get('name')!r} is nested more than {_MOST_LEVELS} levels deep."
        )
    plain = Tool.from_mcp(definition, source=f"{UPSTREAM_PREFIX}{server}")
    full = mcp_name(server, plain.name, template=template)
    name = fitting(full, identity=f"{plain.source}\0{plain.name}")
    long_name = "" if name == full else full
    return replace(
        plain,
        name=name,
        origin_name=plain.name,
        long_name=long_name,
        naming=ServerNaming(template=template),
    )


def _read(file: Path) -> Json:
    try:
        # utf-8-sig: some editors, and PowerShell, put a byte order mark in front.
        text = file.read_text(encoding="utf-8-sig")
        recorded = cast("Json", json.loads(text, parse_constant=_refuse))
    except OSError as error:
        raise CatalogFileError(f"{file}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CatalogFileError(f"{file}: is not UTF-8 text, so it is not JSON.") from error
    except ValueError as error:
        raise CatalogFileError(f"{file}: is not JSON: {error}.") from error
    except RecursionError as error:
        raise CatalogFileError(f"{file}: is nested more than any list of tools is.") from error
    return recorded


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant} is not a JSON value")


def _parts(recorded: Json, file: Path) -> tuple[str, Sequence[JsonObject]]:
    server, tools = file.stem, recorded
    if isinstance(recorded, dict):
        result = recorded.get("result")
        body = cast("JsonObject", result) if isinstance(result, dict) else recorded
        tools = body.get("tools")
        named = recorded.get("server")
        server = named if isinstance(named, str) and named else server
    if not isinstance(tools, list):
        raise CatalogFileError(
            f"{file}: holds no tools; expected a list of tools, or an object with the key 'tools'."
        )
    for position, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not name:
            raise CatalogFileError(f"{file}: tools[{position}] is not an object with a 'name'.")
    return server, cast("Sequence[JsonObject]", tools)
