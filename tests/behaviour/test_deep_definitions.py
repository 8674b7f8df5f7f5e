"""How deep a tool's definition may be nested."""

from collections.abc import Callable
from typing import Literal

import pytest

from tests.fakes import ScriptedToolset
from tests.requirements import requirement
from tooldrawer import AssemblyPolicy, Config, Drawer, Tool, ToolDrawerError, errors
from tooldrawer.tool import MAX_DEFINITION_LEVELS, Json, JsonObject
from tooldrawer.wire import anthropic, chat, gemini, responses

pytestmark = pytest.mark.anyio


def schema_of(levels: int) -> JsonObject:
    """A schema that is nested about `levels` levels deep, and not deeper."""
    schema: dict[str, Json] = {"type": "integer"}
    for _ in range((levels - 1) // 2):
        schema = {"type": "object", "properties": {"value": schema}}
    return schema


def circular_schema() -> JsonObject:
    schema: dict[str, Json] = {"type": "object"}
    schema["properties"] = {"value": schema}
    return schema


def from_parameters(schema: JsonObject) -> Tool:
    return Tool(name="deep", parameters=schema)


def from_mcp(schema: JsonObject) -> Tool:
    return Tool.from_mcp({"name": "deep", "inputSchema": schema})


def from_openai(schema: JsonObject) -> Tool:
    return Tool.from_openai(
        {"type": "function", "function": {"name": "deep", "parameters": schema}}
    )


def from_anthropic(schema: JsonObject) -> Tool:
    return Tool.from_anthropic({"name": "deep", "input_schema": schema})


SHAPES = [from_parameters, from_mcp, from_openai, from_anthropic]


@requirement("DSP-10")
@pytest.mark.parametrize("read", SHAPES)
@pytest.mark.parametrize("schema", [schema_of(900), schema_of(100_000), circular_schema()])
def test_a_definition_that_is_nested_too_deep_is_refused_by_name(
    read: Callable[[JsonObject], Tool], schema: JsonObject
) -> None:
    with pytest.raises(errors.UnsupportedSchema) as refused:
        read(schema)
    assert isinstance(refused.value, ToolDrawerError)
    assert str(refused.value).startswith(
        f"The definition of the tool 'deep' is nested more than {MAX_DEFINITION_LEVELS} levels"
    )


@requirement("DSP-10")
@pytest.mark.parametrize("read", SHAPES)
@pytest.mark.parametrize("enabled", ["on", "off"])
async def test_a_definition_at_the_limit_can_be_listed_found_described_and_called(
    read: Callable[[JsonObject], Tool], enabled: Literal["on", "off"]
) -> None:
    tool = read(schema_of(MAX_DEFINITION_LEVELS - 2))
    config = Config(assembly=AssemblyPolicy(enabled=enabled))
    drawer = Drawer([ScriptedToolset("lab", [tool])], config=config)
    session = drawer.session()
    assembly = await session.tools()
    assert assembly.openai()
    assert assembly.anthropic()
    assert assembly.mcp()
    for wire in (anthropic, chat, gemini, responses):
        assert wire.tools([tool])
    for name, arguments in (
        ("tool_search", {"query": "deep"}),
        ("tool_describe", {"name": "deep"}),
        ("deep", {}),
    ):
        result = await session.call(name, arguments)
        assert not result.is_error
        assert result.mcp()
