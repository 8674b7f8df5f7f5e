"""Through the gateway, the tools of every real server are found and described."""

from typing import cast

import pytest

from tests.real.conversations import Conversation
from tests.real.servers import needs
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

FINDS = [
    ("everything", "echo a message back", "mcp_everything_echo", "message"),
    ("filesystem", "list what is in a directory", "mcp_filesystem_list_directory", "path"),
    ("memory", "create entities in the knowledge graph", "mcp_memory_create_entities", "entities"),
    ("git", "show the status of the working tree", "mcp_git_git_status", "repo_path"),
    ("time", "what time is it in a timezone", "mcp_time_get_current_time", "timezone"),
    ("sqlite", "execute a SELECT query on the database", "mcp_sqlite_read_query", "query"),
]
"""A server, what a model looks for, the tool that does it, and one of its parameters."""


@needs("time")
async def test_a_client_is_shown_the_bridge_and_nothing_else(conversation: Conversation) -> None:
    listed = await conversation.client.list_tools()
    assert [tool.name for tool in listed.tools] == ["tool_search", "tool_describe", "tool_call"]


@pytest.mark.parametrize(
    ("query", "name", "parameter"),
    [pytest.param(*find, id=server, marks=needs(server)) for server, *find in FINDS],
)
async def test_a_tool_is_found_and_described(
    conversation: Conversation, query: str, name: str, parameter: str
) -> None:
    assert name in await conversation.search(query)
    described = await conversation.describe(name)
    assert described["name"] == name
    parameters = cast("JsonObject", described["parameters"])
    assert parameter in cast("JsonObject", parameters["properties"])


@needs("gitlab")
async def test_a_tool_with_a_broken_schema_is_found(
    conversation: Conversation,
) -> None:
    found = await conversation.search("search for GitLab projects")
    assert "mcp_gitlab_search_repositories" in found


@needs("gitlab")
async def test_a_server_with_broken_schemas_loses_none_of_its_tools(
    conversation: Conversation,
) -> None:
    names = ("create_or_update_file", "create_repository", "get_file_contents", "push_files")
    for name in (*names, "create_issue", "create_merge_request", "fork_repository"):
        assert (await conversation.describe(f"mcp_gitlab_{name}"))["name"] == f"mcp_gitlab_{name}"
