"""Whatever schema a server sends, a call is checked in bounded time, or let through."""

import socket
from pathlib import Path

import anyio
import pytest

from tests.dispatch.parts import TOOL, Outcome, lab, probe, properties
from tests.requirements import requirement
from tooldrawer import Drawer
from tooldrawer.tool import Json, JsonObject

pytestmark = pytest.mark.anyio

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
PAIR: Json = [{"type": "string"}, {"type": "integer"}]


def is_refused(outcome: Outcome) -> bool:
    assert outcome.result.is_error == (outcome.received == [])
    return outcome.result.is_error


KEYWORDS: list[tuple[str, JsonObject, JsonObject, JsonObject]] = [
    (DRAFT_7, {"properties": {"pair": {"items": PAIR}}}, {"pair": ["a", 1]}, {"pair": [1, "a"]}),
    (
        DRAFT_7,
        {"properties": {"pair": {"items": PAIR, "additionalItems": False}}},
        {"pair": ["a", 1]},
        {"pair": ["a", 1, 2]},
    ),
    (DRAFT_7, {"dependencies": {"a": ["b"]}}, {"a": 1, "b": 1}, {"a": 1}),
    (
        DRAFT_7,
        {"properties": {"a": {"$ref": "#/definitions/n"}}, "definitions": {"n": {"minimum": 3}}},
        {"a": 3},
        {"a": 2},
    ),
    (
        DRAFT_7,
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"a": 1, "b": 1},
        {"a": 1},
    ),
    (DRAFT_7, {"properties": {"a": {"const": {"b": 1}}}}, {"a": {"b": 1}}, {"a": {"b": 2}}),
    (DRAFT_7, {"propertyNames": {"pattern": "^[a-z]+$"}}, {"a": 1}, {"A": 1}),
    (
        DRAFT_2020,
        {"properties": {"pair": {"prefixItems": PAIR, "items": False}}},
        {"pair": ["a", 1]},
        {"pair": ["a", 1, 2]},
    ),
    (DRAFT_2020, {"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 1}, {"a": 1}),
    (
        DRAFT_2020,
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"a": 1},
        {"b": 1},
    ),
    (
        DRAFT_2020,
        {"properties": {"a": {"contains": {"const": 1}, "minContains": 2}}},
        {"a": [1, 1]},
        {"a": [1]},
    ),
    (
        DRAFT_2020,
        {
            "properties": {"tree": {"$dynamicRef": "#node"}},
            "$defs": {
                "n": {
                    "$dynamicAnchor": "node",
                    "type": "object",
                    "properties": {"next": {"$dynamicRef": "#node"}},
                }
            },
        },
        {"tree": {"next": {"next": {}}}},
        {"tree": {"next": {"next": 1}}},
    ),
    ("", {"additionalProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}),
    ("", {"minProperties": 1}, {"a": 1}, {}),
]


@requirement("DSP-4")
@pytest.mark.parametrize(("draft", "keywords", "good", "bad"), KEYWORDS)
async def test_the_keywords_of_both_drafts_are_checked(
    draft: str, keywords: JsonObject, good: JsonObject, bad: JsonObject
) -> None:
    schema = {**({"$schema": draft} if draft else {}), "type": "object", **keywords}
    accepted = await probe(schema, good)
    assert not is_refused(accepted)
    assert (accepted.finished.warning, accepted.finished.repairs) == ("", ())
    assert is_refused(await probe(schema, bad))


@requirement("DSP-4")
async def test_a_schema_that_contains_itself_is_checked_at_every_level() -> None:
    tree: JsonObject = {
        "type": "object",
        "properties": {
            "value": {"type": "integer"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
        "required": ["value"],
    }
    schema = {**properties(tree={"$ref": "#/$defs/tree"}), "$defs": {"tree": tree}}
    leaf: JsonObject = {"value": "3"}
    given: JsonObject = {"value": 1, "children": [{"value": 2, "children": [leaf]}]}
    outcome = await probe(schema, {"tree": given})
    assert outcome.finished.repairs == ('/tree/children/0/children/0/value: "3" → 3',)
    wrong: JsonObject = {"value": 1, "children": [{"children": []}]}
    assert is_refused(await probe(schema, {"tree": wrong}))


async def warned(
    schema: JsonObject, arguments: JsonObject, end: str = "the call went through unchecked."
) -> str:
    """The warning in the activity, after the call went through as it was."""
    outcome = await probe(schema, arguments)
    assert outcome.received == [arguments]
    assert outcome.finished.repairs == ()
    assert outcome.finished.warning.endswith(end)
    return outcome.finished.warning


PARTLY = "which is not in it; what that describes went unchecked."


@requirement("DSP-4")
async def test_no_reference_to_a_file_is_followed(tmp_path: Path) -> None:
    file = tmp_path / "number.json"
    file.write_text('{"type": "integer"}', encoding="utf-8")
    for reference in (file.as_uri(), str(file), file.name):
        warning = await warned(properties(value={"$ref": reference}), {"value": "ten"}, PARTLY)
        assert reference in warning


@requirement("DSP-4")
async def test_no_reference_into_the_network_is_followed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/number.json"
        warning = await warned(properties(value={"$ref": address}), {"value": "ten"}, PARTLY)
        assert address in warning
        with pytest.raises(BlockingIOError):
            server.accept()


@requirement("DSP-4")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objct"},
        {"type": "object", "properties": []},
        {"type": "object", "required": "title"},
        properties(value={"pattern": "("}),
        properties(value={"pattern": r"\p{L}{1,60}"}),
        properties(value={"default": "\ud800", "enum": ["\ud800"]}),
        {"$schema": DRAFT_2020, "type": "object", "properties": {"pair": {"items": PAIR}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": True},
    ],
)
async def test_a_schema_that_cannot_be_compiled_lets_the_call_through(schema: JsonObject) -> None:
    assert "cannot be compiled" in await warned(schema, {"value": "ten"})


@requirement("DSP-4")
@requirement("DSP-10")
@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/nowhere",
        "#nowhere",
        "https://example.com/a.json",
        "file:///etc/passwd",
        "other.json",
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
async def test_the_rest_is_checked_when_a_reference_points_to_nothing(
    keyword: str, reference: str
) -> None:
    schema = properties(value={keyword: reference, "maxLength": 5}, count={"type": "integer"})
    assert reference in await warned(schema, {"value": "ten", "count": 1}, PARTLY)
    assert is_refused(await probe(schema, {"value": "ten", "count": "many"}))
    assert is_refused(await probe(schema, {"value": "a hundred", "count": 1}))


@requirement("DSP-4")
@pytest.mark.parametrize(
    "reference",
    ["#/$defs/n", "#number", "https://example.com/s.json#/$defs/n", "n.json", "#/$defs/n%25"],
)
async def test_a_reference_is_found_under_every_name_that_the_schema_gives(reference: str) -> None:
    number: JsonObject = {"$anchor": "number", "$id": "n.json", "type": "integer"}
    schema: JsonObject = {
        **properties(value={"$ref": reference}),
        "$id": "https://example.com/s.json",
        "$defs": {"n": number, "n%": {"type": "integer"}},
    }
    outcome = await probe(schema, {"value": 3})
    assert outcome.finished.warning == ""
    assert is_refused(await probe(schema, {"value": "ten"}))


@requirement("DSP-4")
async def test_a_schema_that_is_too_deep_or_too_large_lets_the_call_through() -> None:
    deep: JsonObject = {"type": "integer"}
    for _ in range(60):
        deep = properties(value=deep)
    assert "nested more than 100 levels deep" in await warned(deep, {"value": "ten"})
    pattern = properties(value={"pattern": "(a{1000}){1000}"})
    assert "steps to match its patterns" in await warned(pattern, {"value": "ten"})
    large = properties(value={"enum": ["x" * 1000] * 1100})
    assert "more than 256,000 bytes" in await warned(large, {"value": "ten"})


@requirement("DSP-4")
@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "(?=a)(a+)+$", r"^(a+)+\1$", "(a*)*b"])
async def test_a_pattern_that_would_run_for_years_ends_at_once(pattern: str) -> None:
    with anyio.fail_after(60):
        outcome = await probe(properties(value={"pattern": pattern}), {"value": "a" * 40 + "!"})
    assert is_refused(outcome)


def tree_of_alternatives(kind: str, levels: int) -> tuple[JsonObject, JsonObject]:
    """A schema that contains itself twice, and arguments that fit it except at the end."""
    node: JsonObject = {"$ref": "#/$defs/node"}
    one: JsonObject = {"type": "object", "properties": {"next": node}, "required": ["next"]}
    two: JsonObject = {**one, "required": ["next", "more"]}
    arguments: JsonObject = {}
    for _ in range(levels):
        arguments = {"next": arguments}
    return {**properties(next=node), "$defs": {"node": {kind: [one, two]}}}, arguments


@requirement("DSP-4")
@pytest.mark.parametrize("kind", ["anyOf", "oneOf", "allOf"])
async def test_a_few_levels_of_alternatives_are_refused_without_details(kind: str) -> None:
    with anyio.fail_after(60):
        outcome = await probe(*tree_of_alternatives(kind, 9))
    assert is_refused(outcome)
    assert "/: does not fit its schema, in more ways than can be told" in outcome.result.text or (
        kind == "allOf" and "there may be more mistakes" in outcome.result.text
    )
    assert "Its signature is" in outcome.result.text


@requirement("DSP-4")
@requirement("DSP-10")
@pytest.mark.parametrize("kind", ["anyOf", "oneOf", "allOf"])
async def test_many_levels_of_alternatives_are_not_evaluated(kind: str) -> None:
    with anyio.fail_after(60):
        outcome = await probe(*tree_of_alternatives(kind, 40))
    assert "would take too long; the call went through unchecked" in outcome.finished.warning


@requirement("DSP-4")
async def test_a_mistake_deep_inside_is_found_and_repaired() -> None:
    node: JsonObject = {"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}
    schema = {**properties(next={"$ref": "#/$defs/node"}), "$defs": {"node": node}}
    wrong: JsonObject = {"n": "ten"}
    small: JsonObject = {"n": "10"}
    for _ in range(60):
        wrong, small = {"next": wrong}, {"next": small}
    place = "/next" * 60 + "/n"
    assert f'{place}: "ten" is not of type "integer"' in (await probe(schema, wrong)).result.text
    assert (await probe(schema, small)).finished.repairs == (f'{place}: "10" → 10',)


@requirement("DSP-4")
@pytest.mark.parametrize(
    "item",
    [
        {"type": "integer"},
        {"type": "array", "items": {"type": "integer"}},
        {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"enum": ["A", "B"]}]},
    ],
)
@pytest.mark.parametrize("text", ["1", "x"])
async def test_thousands_of_mistakes_end_at_once(item: JsonObject, text: str) -> None:
    schema = properties(values={"type": "array", "items": item})
    with anyio.fail_after(60):
        outcome = await probe(schema, {"values": [text] * 5000})
    assert is_refused(outcome)


@requirement("DSP-4")
async def test_one_mistake_in_large_arguments_is_still_repaired() -> None:
    schema = properties(text={"type": "string"}, on={"type": "boolean"}, at={"type": "integer"})
    outcome = await probe(schema, {"text": "a" * 900_000, "on": "true", "at": "7"})
    assert outcome.received[0]["on"] is True
    assert outcome.received[0]["at"] == 7


@requirement("DSP-4")
async def test_a_tool_that_changes_its_schema_is_checked_by_the_new_one() -> None:
    drawer = Drawer([lab(properties(value={"type": "integer"}))])
    session = drawer.session()
    assert (await session.call(TOOL, {"value": "ten"})).is_error
    drawer.registry.replace(lab(properties(value={"type": "string"})))
    assert not (await session.call(TOOL, {"value": "ten"})).is_error
    assert (await session.call(TOOL, {"value": 10})).is_error
