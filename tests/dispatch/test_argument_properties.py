"""For schemas and arguments of any make: what a tool receives fits its schema."""

import json
from typing import cast

import anyio
import jsonschema_rs
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.dispatch.parts import Outcome, probe
from tests.requirements import requirement
from tooldrawer.tool import Json, JsonObject

KEYS: list[str] = ["a", "b", "c"]
NULL: JsonObject = {"type": "null"}
SIZES = ("Small", "medium", "LARGE")
patient = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def objects(inner: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    """Schemas of objects; some of their properties are required, others may be allowed or not."""

    def schema(properties: dict[str, Json], required: int, *, is_closed: bool) -> JsonObject:
        made: dict[str, Json] = {
            "type": "object",
            "properties": properties,
            "required": list(properties)[:required],
        }
        return {**made, "additionalProperties": False} if is_closed else made

    return st.builds(
        schema,
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
        st.integers(0, 3),
        is_closed=st.booleans(),
    )


simple = st.sampled_from(
    cast(
        "list[JsonObject]",
        [
            *({"type": kind} for kind in ("string", "integer", "number", "boolean")),
            {"type": "integer", "minimum": 0, "maximum": 20},
            {"type": "string", "minLength": 2},
            {"enum": list(SIZES)},
        ],
    )
)
plain_schemas = st.recursive(
    simple,
    lambda inner: st.one_of(
        inner.map(lambda items: cast("JsonObject", {"type": "array", "items": items})),
        objects(inner),
    ),
    max_leaves=5,
)
schemas = st.recursive(
    simple,
    lambda inner: st.one_of(
        inner.map(lambda items: cast("JsonObject", {"type": "array", "items": items})),
        inner.map(lambda option: cast("JsonObject", {"anyOf": [option, NULL]})),
        st.tuples(inner, inner).map(lambda both: cast("JsonObject", {"oneOf": list(both)})),
        objects(inner),
    ),
    max_leaves=6,
)
values: st.SearchStrategy[Json] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 30),
        st.floats(-3, 30),
        st.text(max_size=3),
        st.sampled_from(["10", " 7", "1.5", "true", "FALSE", "yes", "small", "Large ", "null"]),
        st.sampled_from(['{"a": 1}', '{"a": "1", "b": ["x"]}', "[1, 2]", '["1"]', "[", "{}"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def fitting(draw: st.DrawFn, schema: JsonObject) -> Json:
    """A value that a schema of `plain_schemas` accepts."""
    match schema:
        case {"enum": _}:
            return draw(st.sampled_from(SIZES))
        case {"type": "string"}:
            return draw(st.sampled_from(["10", "true", "text", "Small", '{"a": 1}']))
        case {"type": "integer"}:
            return draw(st.integers(0, 20))
        case {"type": "number"}:
            return draw(st.one_of(st.integers(-9, 9), st.sampled_from([0.5, -1.25, 1e20])))
        case {"type": "boolean"}:
            return draw(st.booleans())
        case {"type": "array", "items": items}:
            return draw(st.lists(fitting(cast("JsonObject", items)), max_size=3))
        case _:
            properties = cast("dict[str, JsonObject]", schema["properties"])
            required = cast("list[str]", schema["required"])
            kept = [key for key in properties if key in required or draw(st.booleans())]
            return {key: draw(fitting(properties[key])) for key in kept}


@st.composite
def sloppy(draw: st.DrawFn, schema: JsonObject, value: Json) -> Json:
    """The value as a careless model writes it: in quotes, in another case, as JSON in a text."""
    match value:
        case bool():
            return draw(st.sampled_from([value, str(value), f" {value}".lower()]))
        case int() | float():
            return draw(st.sampled_from([value, json.dumps(value), f"{json.dumps(value)} "]))
        case str():
            cases = [value, value.upper(), f" {value.lower()}"]
            return draw(st.sampled_from(cases)) if "enum" in schema else value
        case list():
            items = cast("JsonObject", schema["items"])
            found: Json = [draw(sloppy(items, item)) for item in value]
        case dict():
            properties = cast("dict[str, JsonObject]", schema["properties"])
            found = {key: draw(sloppy(properties[key], value[key])) for key in value}
        case _:
            raise AssertionError(f"{value!r} fits no schema of this file")
    return draw(st.sampled_from([found, json.dumps(found)]))


def probed(schema: JsonObject, arguments: Json) -> Outcome:
    async def main() -> Outcome:
        return await probe(schema, arguments)

    return anyio.run(main)


def is_valid(schema: JsonObject, arguments: Json) -> bool:
    judge = jsonschema_rs.Draft202012Validator(cast("dict[str, object]", schema))
    return judge.is_valid(arguments)


def same(one: Json, other: Json) -> bool:
    """Equal as JSON, where 1 is neither true nor 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@requirement("DSP-4")
@patient
@given(schema=objects(schemas), arguments=st.dictionaries(st.sampled_from(KEYS), values))
def test_what_a_tool_receives_fits_its_schema(
    schema: JsonObject, arguments: dict[str, Json]
) -> None:
    outcome = probed(schema, arguments)
    if outcome.result.is_error:
        assert outcome.received == []
        assert not is_valid(schema, arguments)
    else:
        (received,) = outcome.received
        assert is_valid(schema, received)
        is_changed = not same(received, arguments)
        assert is_changed == (not is_valid(schema, arguments)) == bool(outcome.finished.repairs)


@requirement("DSP-4")
@patient
@given(data=st.data(), schema=objects(plain_schemas))
def test_arguments_that_fit_are_passed_on_unchanged_and_unreported(
    data: st.DataObject, schema: JsonObject
) -> None:
    arguments = data.draw(fitting(schema))
    assume(is_valid(schema, arguments))
    outcome = probed(schema, arguments)
    (received,) = outcome.received
    assert same(received, arguments)
    assert (outcome.finished.repairs, outcome.finished.warning) == ((), "")
    assert len(outcome.result.content) == 1


@requirement("DSP-4")
@patient
@given(data=st.data(), schema=objects(plain_schemas))
def test_what_a_careless_model_wrote_comes_out_as_it_was_meant(
    data: st.DataObject, schema: JsonObject
) -> None:
    meant = cast("dict[str, Json]", data.draw(fitting(schema)))
    properties = cast("dict[str, JsonObject]", schema["properties"])
    written = {key: data.draw(sloppy(properties[key], meant[key])) for key in meant}
    outcome = probed(schema, written)
    (received,) = outcome.received
    assert same(received, meant)
    assert bool(outcome.finished.repairs) == (not same(written, meant))
