"""A tool goes out in a provider's shape as it came in, and shares nothing with what came in."""

import json
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import (
    SHAPES,
    any_text,
    compact,
    json_objects,
    json_values,
    quick,
)
from tests.requirements import requirement
from tooldrawer import AssemblyPolicy, Registry, StaticToolset, Tool
from tooldrawer.assembly import assemble
from tooldrawer.tokens import Estimate, SchemaCosts
from tooldrawer.tool import Json

Row = dict[str, Json]
READ = {"openai": Tool.from_openai, "anthropic": Tool.from_anthropic, "mcp": Tool.from_mcp}
SCHEMA_KEYS = {"openai": "parameters", "anthropic": "input_schema", "mcp": "inputSchema"}
_KNOWN = {"name", "description", "type", "function", *SCHEMA_KEYS.values()}
unknown_keys = any_text.filter(lambda key: key not in _KNOWN)


@st.composite
def definitions(draw: DrawFn, shape: str) -> Row:
    """A tool in its flat form, in any order of its fields, with fields that nobody knows."""
    found: Row = {"name": draw(any_text)}
    if draw(st.booleans()):
        found["description"] = draw(any_text)
    if draw(st.booleans()):
        found[SCHEMA_KEYS[shape]] = {**draw(json_objects(leaves=6)), "type": "object"}
    if shape == "mcp":
        for key in draw(st.sets(st.sampled_from(("annotations", "outputSchema", "_meta")))):
            found[key] = cast("Json", draw(json_objects(leaves=3)))
        found |= {"title": draw(any_text)} if draw(st.booleans()) else {}
    found |= draw(st.dictionaries(unknown_keys, json_values(leaves=4), max_size=3))
    return dict(draw(st.permutations(list(found.items()))))


@st.composite
def functions(draw: DrawFn) -> Row:
    """OpenAI's nested form."""
    outer: Row = {"type": "function", "function": draw(definitions("openai"))}
    outer |= draw(st.dictionaries(unknown_keys, json_values(leaves=3), max_size=2))
    return dict(draw(st.permutations(list(outer.items()))))


def rendered(tool: Tool, shape: str) -> Row:
    assembly = assemble([tool], AssemblyPolicy(enabled="off"), costs=SchemaCosts(Estimate()))
    return getattr(assembly, shape)()[0]


def spoil(value: Json) -> None:
    """Destroy a value from the inside."""
    if isinstance(value, dict):
        for inner in value.values():
            spoil(inner)
        value.clear()
    elif isinstance(value, list):
        for inner in value:
            spoil(inner)
        value.clear()


def _unchanged(tool: Tool, raw: Row, shape: str) -> bool:
    """The same bytes go out, twice, and spoiling the first ones spoils nothing else."""
    before = compact(raw)
    first = rendered(tool, shape)
    same = compact(first) == before
    spoil(first)
    return same and compact(raw) == before and compact(rendered(tool, shape)) == before


@requirement("TOOL-1")
@quick(120)
@given(raw=definitions("mcp"))
def test_mcp_goes_in_and_out_whole(raw: Row) -> None:
    assert _unchanged(Tool.from_mcp(raw), raw, "mcp")


@requirement("TOOL-1")
@quick(120)
@given(raw=functions())
def test_openai_goes_in_and_out_whole(raw: Row) -> None:
    assert _unchanged(Tool.from_openai(raw), raw, "openai")


@requirement("TOOL-1")
@quick(120)
@given(raw=definitions("anthropic"))
def test_anthropic_goes_in_and_out_whole(raw: Row) -> None:
    assert _unchanged(Tool.from_anthropic(raw), raw, "anthropic")


@requirement("TOOL-1")
@quick(80)
@given(raw=definitions("openai"), odd=st.none() | st.integers() | any_text)
def test_openais_flat_form_goes_out_nested_with_all_that_was_in_it(raw: Row, odd: Json) -> None:
    nested: Row = {"type": "function", "function": raw}
    assert compact(rendered(Tool.from_openai({"type": "function", **raw}), "openai")) == (
        compact(nested)
    )
    strange: Row = {**raw, "function": odd}
    again = rendered(Tool.from_openai({"type": "function", **strange}), "openai")
    assert compact(again) == compact({"type": "function", "function": strange})


@requirement("TOOL-1")
@quick(120)
@given(data=st.data(), shape=st.sampled_from(SHAPES), other=st.sampled_from(SHAPES))
def test_what_every_shape_can_say_survives_the_way_through_another_one(
    data: st.DataObject, shape: str, other: str
) -> None:
    raw = data.draw(functions() if shape == "openai" else definitions(shape))
    tool = READ[shape](raw)
    again = READ[other](rendered(tool, other))
    assert (again.name, again.description) == (tool.name, tool.description)
    assert compact(again.parameters) == compact(tool.parameters)


@requirement("TOOL-1")
@quick(80)
@given(raw=definitions("mcp"), server=st.sampled_from(("hub", "a b", "読む")))
def test_a_registered_servers_tool_differs_from_its_definition_in_the_name_only(
    raw: Row, server: str
) -> None:
    (tool,) = Registry([StaticToolset(server, [raw])]).snapshot().tools
    shown = rendered(tool, "mcp")
    assert list(shown) == list(raw)
    assert compact({**shown, "name": raw["name"]}) == compact(raw)


@requirement("TOOL-1")
@quick(40)
@given(raw=definitions("mcp"))
def test_a_tool_survives_being_written_down_and_read_again(raw: Row) -> None:
    tool, again = Tool.from_mcp(raw), Tool.from_mcp(json.loads(json.dumps(raw)))
    assert tool.fingerprint == again.fingerprint
    assert compact(rendered(tool, "mcp")) == compact(rendered(again, "mcp"))
