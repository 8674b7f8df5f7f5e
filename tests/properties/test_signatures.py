"""A signature is one line that names every required parameter, whatever the schema is."""

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties.strategies import (
    any_text,
    backends,
    compact,
    json_values,
    quick,
    readable,
    reply,
    run,
    words,
)
from tests.requirements import requirement
from tooldrawer import Config, Drawer, SearchPolicy, StaticToolset, TokenCounter, Tool
from tooldrawer.bridge import signature
from tooldrawer.tokens import O200k
from tooldrawer.tool import Json, JsonObject

_TYPES = ("string", "integer", "number", "boolean", "null", "object", "array", "date")
ITSELF: JsonObject = {"$ref": "#/$defs/one"}
ENDLESS: tuple[JsonObject, ...] = (
    {"type": "array", "items": ITSELF},
    {"anyOf": [{"type": "string"}, ITSELF, {"type": "array", "items": ITSELF}]},
    {"allOf": [{"$ref": "#"}, ITSELF, ITSELF]},
    {"properties": {"id": ITSELF, "next": {"oneOf": [ITSELF, {"$ref": "#"}]}}},
)
"""Schemas that contain themselves."""
plain_names = words | st.sampled_from(("id", "user-id", "größe", "a b", "$filter", "x.y", "?"))


def parts() -> SearchStrategy[Json]:
    """The schema of one value: a sensible one, or with junk where something else belongs."""
    places = ("#", "#/$defs/one", "#/$defs/nowhere", "#/x/~1/~0", "http://example.com/x", "")
    junk = json_values(leaves=2)
    kinds: SearchStrategy[Json] = st.sampled_from(_TYPES) | st.lists(
        st.sampled_from(_TYPES), max_size=3
    )
    leaf: dict[str, SearchStrategy[Json]] = {
        "type": kinds | junk,
        "enum": st.lists(json_values(leaves=2), max_size=3) | junk,
        "const": junk,
        "default": junk,
        "description": readable,
        "$ref": st.sampled_from(places) | junk,
    }

    def nested(inner: SearchStrategy[Json]) -> SearchStrategy[Json]:
        several = st.lists(inner, max_size=3)
        return st.fixed_dictionaries(
            {},
            optional={
                **leaf,
                "items": inner | junk,
                "anyOf": several | junk,
                "oneOf": several,
                "allOf": several | junk,
                "properties": st.dictionaries(plain_names, inner, max_size=3) | junk,
                "required": st.lists(plain_names, max_size=2) | junk,
            },
        )

    return st.recursive(st.fixed_dictionaries({}, optional=leaf), nested, max_leaves=4)


def _listed(inner: SearchStrategy[Json]) -> SearchStrategy[Json]:
    return st.lists(inner, max_size=2)


@st.composite
def schemas(draw: DrawFn) -> JsonObject:
    """The schema of a tool's parameters."""
    names = draw(st.lists(plain_names, max_size=6, unique=True))
    inner = parts() | st.just(ITSELF)
    found: dict[str, Json] = {
        "type": "object",
        "properties": {name: draw(inner) for name in names},
        "required": draw(st.lists(plain_names | st.sampled_from([*names, "id"]), max_size=4)),
    }
    if draw(st.booleans()):
        found["$defs"] = {"one": draw(inner | st.sampled_from(ENDLESS))}
    if draw(st.booleans()):
        found |= {draw(st.sampled_from(("$ref", "allOf", "anyOf"))): draw(inner | _listed(inner))}
    return found


def _required(schema: JsonObject) -> list[str]:
    names = cast("Sequence[Json]", schema.get("required", ()))
    return [name for name in names if isinstance(name, str)]


def _is_one_line(text: str) -> bool:
    return not re.search(r"[\r\n]", text)


@requirement("BR-7")
@quick(120)
@given(schema=schemas())
def test_a_signature_is_one_line_with_every_required_parameter_first(schema: JsonObject) -> None:
    line = signature(Tool(name="x", parameters=schema))
    assert _is_one_line(line)
    assert line.startswith("(")
    assert line.endswith(")")
    required = _required(schema)
    for name in required:
        assert f"({name}: " in line or f", {name}: " in line
    properties = cast("JsonObject", schema["properties"])
    optional = [name for name in properties if name not in required]
    for name in optional:
        assert f"({name}?: " in line or f", {name}?: " in line


@requirement("BR-7")
@quick(120)
@given(junk=json_values("$defs", "properties", leaves=10))
def test_no_junk_in_place_of_a_schema_breaks_a_signature(junk: Json) -> None:
    keys = ("properties", "required", "type", "items", "anyOf", "allOf", "$ref", "$defs", "enum")
    for schema in (junk, *({key: junk} for key in keys), {"properties": {"a": junk}}):
        tool = Tool.from_mcp({"name": "x", "inputSchema": schema})
        assert signature(tool).startswith("(")
    for key in keys:
        tool = Tool(name="x", parameters={"properties": {"a": {key: junk}}, "required": ["a"]})
        assert signature(tool).startswith("(a: ")


@requirement("BR-7")
@quick(100)
@given(
    name=words,
    values=st.lists(readable | st.integers() | st.booleans(), min_size=1, max_size=5),
    default=readable | st.integers() | st.booleans(),
)
def test_enumerations_and_defaults_are_kept(name: str, values: list[Json], default: Json) -> None:
    schema: JsonObject = {"properties": {name: {"enum": values, "default": default}}}
    expected = f"({name}?: {'|'.join(map(compact, values))} = {compact(default)})"
    assert signature(Tool(name="x", parameters=schema)) == expected


@requirement("BR-7")
@quick(40)
@given(name=any_text.filter(lambda name: not name.isprintable()), is_required=st.booleans())
def test_a_name_that_would_leave_the_line_is_written_as_json(name: str, is_required: bool) -> None:
    schema: JsonObject = {"properties": {name: {}}, "required": [name] if is_required else []}
    expected = f"({json.dumps(name)}{'' if is_required else '?'}: any)"
    assert signature(Tool(name="x", parameters=schema)) == expected


# --- the reply's budget --------------------------------------------------------------------


@cache
def exact() -> TokenCounter:
    return O200k()


TEXTS = ("", "Short.", "many words " * 60, "長い説明。" * 50, "🙂" * 99, "x" * 300, 'a\n"b" ' * 50)


def wordy(number: int, fields: int, required: int, text: str) -> JsonObject:
    """A tool that says much, found by the word `widget`."""
    value: JsonObject = {"type": "string", "enum": [text, "b"], "default": text[:50]}
    names = [f"field_{at}" for at in range(fields)]
    schema: JsonObject = {"properties": dict.fromkeys(names, value), "required": names[:required]}
    return {
        "name": f"widget_{number}",
        "description": f"A widget. {text}",
        "inputSchema": {"type": "object", **schema},
    }


wordy_tools: SearchStrategy[list[JsonObject]] = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(TEXTS)), min_size=1, max_size=9
).map(lambda sizes: [wordy(number, *size) for number, size in enumerate(sizes)])


@requirement("BR-7")
@quick(60)
@given(
    definitions=wordy_tools,
    budget=st.sampled_from((400, 1_200, 3_000)),
    asked=st.lists(
        st.sampled_from(("widget", "zzzz", ["widget", "widget 1"], ["zzzz", "widget", "yyyy"])),
        min_size=1,
        max_size=6,
    ),
    backend=backends,
)
def test_a_search_reply_stays_within_its_budget_and_never_loses_a_required_parameter(
    definitions: list[JsonObject], budget: int, asked: list[str | list[str]], backend: str
) -> None:
    counter = exact()
    wanted = {
        f"mcp_shop_{definition['name']}": _required(cast("JsonObject", definition["inputSchema"]))
        for definition in definitions
    }

    async def main() -> None:
        config = Config(search=SearchPolicy(reply_max_tokens=budget))
        drawer = Drawer([StaticToolset("shop", definitions)], config=config, counter=counter)
        session = drawer.session()
        for query in asked:
            result = await session.call("tool_search", {"query": query, "limit": 20})
            assert counter.count(result.text) <= budget
            said = reply(result)
            replies = cast("Sequence[JsonObject]", said.get("results", [said]))
            texts = [query] if isinstance(query, str) else query
            for text, each in zip(texts, replies, strict=True):
                matches = cast("Sequence[dict[str, str]]", each["matches"])
                assert bool(matches) == ("widget" in text)
                assert each["total_available"] == len(definitions)
                for match in matches:
                    named = re.split(r"[(),: ]+", match["signature"])
                    assert set(wanted[match["name"]]) <= set(named)

    run(main, backend)
