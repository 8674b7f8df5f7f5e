"""A tool in each provider's words."""

from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer.tool import Tool
from tooldrawer.wire import anthropic, mcp, openai

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOL = Tool(name="x", description="Do x.", parameters=SCHEMA, annotations={"readOnlyHint": True})


@requirement("TOOL-1")
def test_each_provider_has_its_own_words() -> None:
    assert openai.render(TOOL) == {
        "type": "function",
        "function": {"name": "x", "description": "Do x.", "parameters": SCHEMA},
    }
    assert anthropic.render(TOOL) == {
        "name": "x",
        "description": "Do x.",
        "input_schema": SCHEMA,
    }
    assert mcp.render(TOOL) == {
        "name": "x",
        "description": "Do x.",
        "inputSchema": SCHEMA,
        "annotations": {"readOnlyHint": True},
    }


@requirement("TOOL-1")
def test_a_flat_openai_function_goes_out_nested_with_all_its_fields() -> None:
    flat = {"type": "function", "name": "x", "parameters": SCHEMA, "strict": True}
    assert openai.render(Tool.from_openai(flat)) == {
        "type": "function",
        "function": {"name": "x", "parameters": SCHEMA, "strict": True},
    }


@pytest.mark.parametrize(
    ("wire", "key"), [(openai, "parameters"), (anthropic, "input_schema"), (mcp, "inputSchema")]
)
def test_what_is_rendered_shares_nothing_with_the_tool(wire: Any, key: str) -> None:
    rendered = wire.render(TOOL)
    definition = rendered.get("function", rendered)
    definition[key]["properties"] = "gone"
    assert (
        TOOL.parameters
        == SCHEMA
        == {
            "type": "object",
            "properties": {"a": {"type": "string"}},
        }
    )
