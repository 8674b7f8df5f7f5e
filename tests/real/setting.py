"""The servers as one run of the tests sees them."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from tooldrawer.tool import JsonObject
from tooldrawer.upstream.spec import UpstreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Every server on files of its own, and a gateway's configuration with all of them."""

    folder: Path
    specs: dict[str, UpstreamSpec]
    config: Path
    results: dict[str, CallToolResult] = field(default_factory=dict[str, CallToolResult])

    def alone(self, server: str) -> StdioServerParameters:
        """How to start a server without the gateway."""
        spec = self.specs[server]
        return StdioServerParameters(command=spec.command, args=list(spec.args), env=dict(spec.env))

    async def directly(self, server: str, tool: str, arguments: JsonObject) -> CallToolResult:
        """What a tool gives without the gateway; asked once, since starting a server takes long."""
        key = json.dumps([server, tool, arguments])
        if key not in self.results:
            async with Client(self.alone(server)) as client:
                self.results[key] = await client.call_tool(tool, dict(arguments))
        return self.results[key]
