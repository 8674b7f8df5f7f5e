"""Through the gateway, the tools of real servers run as they do without it."""

import json
from datetime import datetime

import mcp_types as types
import pytest
from mcp import MCPError

from tests.real.conversations import Conversation, text
from tests.real.servers import needs
from tests.real.setting import Setting
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

SAME: list[tuple[str, str, JsonObject]] = [
    ("everything", "echo", {"message": "Grüße, 世界"}),
    ("everything", "get-tiny-image", {}),
    ("everything", "get-structured-content", {"location": "Chicago"}),
    ("everything", "get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("everything", "get-resource-links", {"count": 3}),
    ("everything", "get-sum", {"a": 40, "b": 2}),
    ("filesystem", "list_directory", {"path": "{folder}/files"}),
    ("filesystem", "read_text_file", {"path": "{folder}/files/apples.txt"}),
    ("filesystem", "read_text_file", {"path": "/nobody/may/read/this"}),
    ("git", "git_status", {"repo_path": "{folder}/repository"}),
    ("git", "git_log", {"repo_path": "{folder}/repository", "max_count": 1}),
    ("git", "git_status", {"repo_path": "{folder}/no-repository"}),
    ("time", "get_current_time", {"timezone": "Nowhere/Land"}),
    ("sqlite", "list_tables", {}),
    ("sqlite", "read_query", {"query": "not SQL at all"}),
]
"""Calls, some of them failing, which have the same result whenever they are made."""


@pytest.mark.parametrize(
    ("server", "tool", "arguments"),
    [
        pytest.param(*call, id=f"{call[1]}-{at}", marks=needs(call[0]))
        for at, call in enumerate(SAME)
    ],
)
async def test_a_result_is_the_one_that_the_server_itself_gives(
    conversation: Conversation, setting: Setting, server: str, tool: str, arguments: JsonObject
) -> None:
    given = {
        key: value.format(folder=setting.folder) if isinstance(value, str) else value
        for key, value in arguments.items()
    }
    directly = await setting.directly(server, tool, given)
    through = await conversation.call(f"mcp_{server}_{tool}", **given)
    assert _whole(through) == _whole(directly)


@needs("everything")
async def test_progress_is_passed_on(conversation: Conversation) -> None:
    seen: list[tuple[float, float | None]] = []

    async def see(progress: float, total: float | None, message: str | None) -> None:
        del message
        seen.append((progress, total))

    name = "mcp_everything_trigger-long-running-operation"
    call = {"name": name, "arguments": {"duration": 0.3, "steps": 3}}
    result = await conversation.client.call_tool("tool_call", call, progress_callback=see)
    assert "completed" in text(result)
    assert seen == [(1.0, 3.0), (2.0, 3.0), (3.0, 3.0)]


@needs("everything")
async def test_a_server_can_ask_the_person_something(conversation: Conversation) -> None:
    conversation.person.was_asked.clear()
    result = await conversation.call("mcp_everything_trigger-elicitation-request")
    [question] = conversation.person.was_asked
    assert "Please provide inputs" in question
    assert "- Name: Ada" in text(result)


@needs("everything")
async def test_a_server_can_ask_the_model_something(conversation: Conversation) -> None:
    conversation.person.was_asked.clear()
    result = await conversation.call(
        "mcp_everything_trigger-sampling-request", prompt="write about apples", maxTokens=20
    )
    assert conversation.person.was_asked == ["You are a helpful test server."]
    assert "a haiku about apples" in text(result)


@needs("memory")
async def test_a_server_remembers_between_calls(conversation: Conversation) -> None:
    entity = {"name": "Ada", "entityType": "person", "observations": ["likes apples"]}
    await conversation.call("mcp_memory_create_entities", entities=[entity])
    graph = await conversation.call("mcp_memory_read_graph")
    assert "likes apples" in text(graph)
    assert graph.structured_content is not None
    assert entity in graph.structured_content["entities"]
    await conversation.call("mcp_memory_delete_entities", entityNames=["Ada"])


@needs("time")
async def test_the_time_is_told(conversation: Conversation) -> None:
    result = await conversation.call("mcp_time_get_current_time", timezone="Europe/Oslo")
    told = json.loads(text(result))
    assert told["timezone"] == "Europe/Oslo"
    assert datetime.fromisoformat(told["datetime"]).tzinfo is not None


@needs("sqlite")
async def test_a_table_is_made_filled_and_read(conversation: Conversation) -> None:
    made = "CREATE TABLE pears (colour TEXT)"
    try:
        await conversation.call("mcp_sqlite_create_table", query=made)
        row = "INSERT INTO pears VALUES ('green')"
        await conversation.call("mcp_sqlite_write_query", query=row)
        read = await conversation.call("mcp_sqlite_read_query", query="SELECT * FROM pears")
        assert text(read) == "[{'colour': 'green'}]"
    finally:
        await conversation.call("mcp_sqlite_write_query", query="DROP TABLE pears")


@needs("gitlab")
async def test_what_a_server_refuses_reaches_the_model_and_disturbs_nothing(
    conversation: Conversation,
) -> None:
    try:
        result = await conversation.call("mcp_gitlab_search_repositories", search="apples")
        said = text(result)
        assert result.is_error
    except MCPError as error:
        said = str(error)
    assert "ECONNREFUSED" in said
    again = await conversation.call("mcp_everything_echo", message="still here")
    assert text(again) == "Echo: still here"


def _whole(result: types.CallToolResult) -> JsonObject:
    whole = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {key: value for key, value in whole.items() if key != "_meta"}
