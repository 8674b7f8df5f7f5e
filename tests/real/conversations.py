"""A client in front of the gateway, and the person behind it."""

import json
from dataclasses import dataclass, field
from typing import cast

import mcp_types as types
from mcp import Client
from mcp.client.session import ClientRequestContext

from tooldrawer.tool import Json, JsonObject


class Person:
    """Answers what servers ask, and remembers it."""

    def __init__(self) -> None:
        self.was_asked: list[str] = []

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        del context
        self.was_asked.append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        del context
        self.was_asked.append(params.system_prompt or "")
        said = types.TextContent(text="a haiku about apples")
        return types.CreateMessageResult(role="assistant", content=said, model="a-model")

    async def roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        del context
        return types.ListRootsResult(roots=[])


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a model does with the bridge."""

    client: Client
    person: Person = field(default_factory=Person)

    async def search(self, query: str) -> list[str]:
        """The names that a search finds, best first."""
        reply = _json(await self.client.call_tool("tool_search", {"query": query}))
        return [str(match["name"]) for match in cast("list[JsonObject]", reply["matches"])]

    async def describe(self, name: str) -> JsonObject:
        return _json(await self.client.call_tool("tool_describe", {"name": name}))

    async def call(self, name: str, **arguments: Json) -> types.CallToolResult:
        return await self.client.call_tool("tool_call", {"name": name, "arguments": arguments})


def text(result: types.CallToolResult) -> str:
    """All the text of a result."""
    parts = (part.text for part in result.content if isinstance(part, types.TextContent))
    return "\n".join(parts)


def _json(result: types.CallToolResult) -> JsonObject:
    assert not result.is_error, text(result)
    return cast("JsonObject", json.loads(text(result)))
