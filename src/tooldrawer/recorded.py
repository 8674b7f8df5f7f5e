"""Tool lists that were recorded: explore a server's tools without starting it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, cast

from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.errors import CatalogFileError, ToolFailed
from tooldrawer.naming import DEFAULT_TEMPLATE, fitting, mcp_name
from tooldrawer.tool import UPSTREAM_PREFIX, Json, JsonObject, Tool


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
        try:
            recorded = cast("Json", json.loads(file.read_text(encoding="utf-8")))
        except OSError as error:
            raise CatalogFileError(f"{file}: cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError) as error:
            raise CatalogFileError(f"{file}: is not JSON: {error}.") from error
        server, definitions = _parts(recorded, file)
        return cls(server, definitions, template=template)

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
        return tuple(cls.load(file, template=template) for file in files)

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
    """A server's own definition as a tool of the toolset `mcp-{server}`."""
    plain = Tool.from_mcp(definition, source=f"{UPSTREAM_PREFIX}{server}")
    full = mcp_name(server, plain.name, template=template)
    name = fitting(full, identity=f"{plain.source}\0{plain.name}")
    long_name = "" if name == full else full
    return replace(plain, name=name, origin_name=plain.name, long_name=long_name)


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
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            raise CatalogFileError(f"{file}: tools[{position}] is not an object with a 'name'.")
    return server, cast("Sequence[JsonObject]", tools)
