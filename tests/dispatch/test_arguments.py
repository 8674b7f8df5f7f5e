"""Arguments are repaired where that is safe, and refused where it is not."""

import json

import pytest

from tests.dispatch.parts import TOOL, events, lab, probe, properties
from tests.requirements import requirement
from tooldrawer import Config, Drawer, FunctionToolset, Limits
from tooldrawer.activity import CallRefused, CallStarted
from tooldrawer.tool import Json, JsonObject

pytestmark = pytest.mark.anyio

INTEGER: JsonObject = {"type": "integer"}
NUMBER: JsonObject = {"type": "number"}
BOOLEAN: JsonObject = {"type": "boolean"}
TEXT: JsonObject = {"type": "string"}
TEXTS: JsonObject = {"type": "array", "items": TEXT}
POINT: JsonObject = {
    "type": "object",
    "properties": {"x": INTEGER, "y": INTEGER, "name": TEXT},
    "required": ["x"],
}
SIZE: JsonObject = {"enum": ["Small", "LARGE", "x-large"]}

REPAIRS: list[tuple[JsonObject, Json, Json, str]] = [
    (INTEGER, "10", 10, '"10" → 10'),
    (INTEGER, " -7 ", -7, '" -7 " → -7'),
    (NUMBER, "10", 10, '"10" → 10'),
    (NUMBER, "1.5", 1.5, '"1.5" → 1.5'),
    (NUMBER, "-2e3", -2000.0, '"-2e3" → -2000.0'),
    (BOOLEAN, "true", True, '"true" → true'),
    (BOOLEAN, " False", False, '" False" → false'),
    (POINT, '{"x": 1}', {"x": 1}, '"{\\"x\\": 1}" → {"x": 1}'),
    (TEXTS, '["a", "b"]', ["a", "b"], '"[\\"a\\", \\"b\\"]" → ["a", "b"]'),
    (TEXTS, "a", ["a"], '"a" → ["a"]'),
    ({"type": "array", "items": INTEGER}, 3, [3], "3 → [3]"),
    ({"type": "array", "items": POINT}, {"x": 1}, [{"x": 1}], '{"x": 1} → [{"x": 1}]'),
    ({"type": "object"}, "", {}, '"" → {}'),
    ({"type": "object"}, " ", {}, '" " → {}'),
    (SIZE, "small", "Small", '"small" → "Small"'),
    (SIZE, " Large ", "LARGE", '" Large " → "LARGE"'),
    (SIZE, "X-Large", "x-large", '"X-Large" → "x-large"'),
    ({"type": "integer", "enum": [1, 2]}, "2", 2, '"2" → 2'),
]


@requirement("DSP-4")
@pytest.mark.parametrize(("schema", "given", "received", "said"), REPAIRS)
async def test_a_small_mistake_is_repaired_and_reported(
    schema: JsonObject, given: Json, received: Json, said: str
) -> None:
    outcome = await probe(properties(value=schema), {"value": given})
    assert outcome.received == [{"value": received}]
    assert type(outcome.received[0]["value"]) is type(received)
    assert not outcome.result.is_error
    note = f"[The arguments were repaired before the call: /value: {said}.]"
    assert outcome.result.content[-1] == {"type": "text", "text": note}
    assert outcome.finished.repairs == (f"/value: {said}",)
    (started,) = events(outcome.drawer, CallStarted)
    assert started.arguments == {"value": given}


@requirement("DSP-4")
@pytest.mark.parametrize(("schema", "given", "received", "said"), REPAIRS)
async def test_the_same_mistake_is_repaired_further_inside(
    schema: JsonObject, given: Json, received: Json, said: str
) -> None:
    inside: JsonObject = {"type": "array", "items": {**properties(value=schema)}}
    arguments: JsonObject = {"deep": [{}, {"value": given}]}
    outcome = await probe(properties(deep=inside), arguments)
    assert outcome.received == [{"deep": [{}, {"value": received}]}]
    assert outcome.finished.repairs == (f"/deep/1/value: {said}",)


@requirement("DSP-4")
@pytest.mark.parametrize("kind", ["anyOf first", "anyOf last", "oneOf", "allOf", "$ref"])
@pytest.mark.parametrize(("schema", "given", "received", "said"), REPAIRS)
async def test_the_same_mistake_is_repaired_in_an_optional_value(
    kind: str, schema: JsonObject, given: Json, received: Json, said: str
) -> None:
    nothing: JsonObject = {"type": "null"}
    optional: dict[str, JsonObject] = {
        "anyOf first": {"anyOf": [schema, nothing]},
        "anyOf last": {"anyOf": [nothing, schema]},
        "oneOf": {"oneOf": [schema, nothing]},
        "allOf": {"allOf": [schema]},
        "$ref": {"anyOf": [{"$ref": "#/$defs/it"}, nothing]},
    }
    parameters = {**properties(value=optional[kind]), "$defs": {"it": schema}}
    outcome = await probe(parameters, {"value": given})
    assert outcome.received == [{"value": received}]
    assert outcome.finished.repairs == (f"/value: {said}",)


@requirement("DSP-4")
async def test_a_type_out_of_several_is_repaired() -> None:
    outcome = await probe(properties(value={"type": ["integer", "null"]}), {"value": "3"})
    assert outcome.received == [{"value": 3}]


@requirement("DSP-4")
async def test_several_mistakes_are_repaired_one_by_one() -> None:
    parameters = properties(count=INTEGER, deep=properties(on=BOOLEAN, names=TEXTS), size=SIZE)
    given: JsonObject = {"count": "1", "deep": {"on": "TRUE", "names": "a"}, "size": "small"}
    outcome = await probe(parameters, given)
    assert outcome.received == [{"count": 1, "deep": {"on": True, "names": ["a"]}, "size": "Small"}]
    assert set(outcome.finished.repairs) == {
        '/count: "1" → 1',
        '/deep/on: "TRUE" → true',
        '/deep/names: "a" → ["a"]',
        '/size: "small" → "Small"',
    }


@requirement("DSP-4")
@pytest.mark.parametrize("schema", [POINT, {"anyOf": [POINT, {"type": "null"}]}])
@pytest.mark.parametrize("given", [{"x": "1", "y": "2"}, '{"x": "1", "y": "2"}'])
async def test_an_object_with_several_mistakes_is_repaired(schema: JsonObject, given: Json) -> None:
    outcome = await probe(properties(point=schema), {"point": given})
    assert outcome.received == [{"point": {"x": 1, "y": 2}}]


@requirement("DSP-4")
@pytest.mark.parametrize("schema", [POINT, {"anyOf": [POINT, {"type": "null"}]}])
async def test_a_null_for_what_may_be_missing_is_left_out(schema: JsonObject) -> None:
    given: JsonObject = {"point": {"x": 1, "name": None}, "count": None}
    outcome = await probe(properties(point=schema, count=INTEGER), given)
    assert outcome.received == [{"point": {"x": 1}}]
    assert set(outcome.finished.repairs) == {
        "/point/name: null left out",
        "/count: null left out",
    }


@requirement("DSP-4")
async def test_of_two_ways_the_one_that_changes_less_is_taken() -> None:
    either: JsonObject = {"anyOf": [{"type": "array", "items": INTEGER}, INTEGER]}
    outcome = await probe(properties(value=either), {"value": "10"})
    assert outcome.received == [{"value": 10}]


@requirement("DSP-4")
async def test_a_function_gets_repaired_arguments_too(
    drawer: Drawer, desk: FunctionToolset, ran: list[str]
) -> None:
    result = await drawer.session().call(
        "add_note", {"title": "a", "lines": '["x"]', "copies": "2"}
    )
    assert ran == ["add a ['x'] 2"]
    assert result.text.startswith("added a\n[The arguments were repaired before the call: /")


UNREPAIRABLE: list[tuple[JsonObject, Json]] = [
    (INTEGER, "ten"),
    (INTEGER, 1.5),
    (INTEGER, "1.5"),
    (INTEGER, ""),
    (INTEGER, True),
    (INTEGER, "9" * 30),
    (INTEGER, float("nan")),
    (INTEGER, float("inf")),
    (NUMBER, "1,5"),
    (NUMBER, "nan"),
    (NUMBER, "1e999"),
    (BOOLEAN, "yes"),
    (BOOLEAN, "1"),
    (BOOLEAN, 1),
    (TEXT, 5),
    (TEXT, ["a"]),
    (TEXTS, 5),
    (TEXTS, "[1, 2]"),
    (POINT, "x=1"),
    (POINT, '{"y": 1}'),
    (POINT, '{"x": "ten"}'),
    (POINT, [{"x": 1}]),
    ({"enum": ["on", "ON"]}, "On"),
    (SIZE, "tiny"),
    ({"type": "integer", "minimum": 5}, "3"),
]


@requirement("DSP-4")
@pytest.mark.parametrize("is_optional", [False, True])
@pytest.mark.parametrize(("schema", "given"), UNREPAIRABLE)
async def test_what_would_be_a_guess_is_refused(
    schema: JsonObject, given: Json, *, is_optional: bool
) -> None:
    used: JsonObject = {"anyOf": [schema, {"type": "null"}]} if is_optional else schema
    outcome = await probe(properties(value=used), {"value": given})
    assert outcome.result.is_error
    assert outcome.received == []
    assert "/value" in outcome.result.text


@requirement("DSP-4")
@pytest.mark.parametrize("schema", [TEXTS, TEXT, POINT, SIZE])
async def test_a_null_for_what_is_required_is_refused(schema: JsonObject) -> None:
    parameters = {**properties(value=schema), "required": ["value"]}
    outcome = await probe(parameters, {"value": None})
    assert outcome.result.is_error
    assert outcome.received == []


@requirement("DSP-4")
async def test_a_null_in_an_array_is_neither_wrapped_nor_left_out() -> None:
    nested: JsonObject = {"type": "array", "items": TEXTS}
    outcome = await probe(properties(value=nested), {"value": [["a"], None]})
    assert outcome.result.is_error
    assert outcome.received == []


@requirement("DSP-9")
async def test_a_refusal_has_the_path_the_reason_the_signature_and_the_next_step() -> None:
    parameters = {**properties(count=INTEGER, size=SIZE), "required": ["count"]}
    outcome = await probe(parameters, {"count": "ten", "size": "tiny"})
    assert outcome.result.text == (
        f"'{TOOL}' was not run: "
        '/count: "ten" is not of type "integer"; '
        '/size: "tiny" is not one of "Small", "LARGE" or "x-large". '
        f'Its signature is {TOOL}(count: integer, size?: "Small"|"LARGE"|"x-large"). '
        "Correct the arguments and call again."
    )
    (refused,) = events(outcome.drawer, CallRefused)
    assert (refused.tool, refused.reason) == (TOOL, outcome.result.text)


@requirement("DSP-9")
async def test_a_refusal_of_many_mistakes_stays_short() -> None:
    parameters = properties(values={"type": "array", "items": INTEGER})
    outcome = await probe(parameters, {"values": ["x" * 150] * 50})
    assert "; and 47 more. Its signature is" in outcome.result.text
    assert len(outcome.result.text) < 1000
    outcome = await probe(parameters, {"values": ["x" * 150] * 5000})
    assert "/values/0: " in outcome.result.text
    assert "; there may be more mistakes. Its signature is" in outcome.result.text
    assert len(outcome.result.text) < 1000


@requirement("DSP-4")
async def test_too_large_arguments_are_refused() -> None:
    config = Config(limits=Limits(arguments_max_bytes=1000))
    fitting = await probe(properties(text=TEXT), {"text": "a" * 900}, config=config)
    outcome = await probe(properties(text=TEXT), {"text": "a" * 1000}, config=config)
    assert not fitting.result.is_error
    assert outcome.received == []
    assert outcome.result.text == (
        f"'{TOOL}' was not run: its arguments have more than 1,000 bytes. "
        "Call again with less at once."
    )


@requirement("DSP-4")
async def test_arguments_with_too_many_values_are_refused() -> None:
    parameters = properties(values={"type": "array"})
    fitting = await probe(parameters, {"values": [0] * 19_000})
    outcome = await probe(parameters, {"values": [0] * 21_000})
    text = await probe(parameters, {"values": json.dumps([0] * 21_000)})
    assert not fitting.result.is_error
    assert (outcome.received, text.received) == ([], [])
    assert "arguments have more than 20,000 values. Call again" in outcome.result.text
    assert "was not run: /values: " in text.result.text


def nested_arrays(levels: int) -> str:
    return "[" * levels + "]" * levels


@requirement("DSP-4")
@pytest.mark.parametrize(
    "arguments",
    [
        {"value": json.loads(nested_arrays(70))},
        f'{{"value": {nested_arrays(70)}}}',
        f'{{"value": {nested_arrays(500)}}}',
        f'{{"value": {nested_arrays(100_000)}}}',
    ],
    ids=["values", "70 as text", "500 as text", "100000 as text"],
)
async def test_too_deep_arguments_are_refused(arguments: Json) -> None:
    toolset = lab(properties(value={}))
    session = Drawer([toolset]).session()
    results = [
        await session.call(TOOL, arguments),
        await session.call("tool_call", {"name": TOOL, "arguments": arguments}),
    ]
    assert [result.is_error for result in results] == [True, True]
    assert all("Call again" in result.text for result in results)
    assert toolset.received == []


@requirement("DSP-4")
@pytest.mark.parametrize("levels", [70, 500, 100_000])
async def test_a_text_is_not_taken_apart_into_something_too_deep(levels: int) -> None:
    anything: JsonObject = {"type": "array"}
    outcome = await probe(properties(value=anything), {"value": nested_arrays(levels)})
    assert outcome.result.is_error or outcome.received == [{"value": [nested_arrays(levels)]}]


@requirement("DSP-4")
@pytest.mark.parametrize("given", ["\ud800", {"\ud800": 1}])
async def test_half_a_character_is_refused_as_an_argument(given: Json) -> None:
    outcome = await probe(properties(value=INTEGER), {"value": given})
    assert outcome.result.is_error
    assert outcome.received == []
    assert "Correct the arguments and call again." in outcome.result.text


@requirement("DSP-4")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": True},
        {"type": "string", "enum": ["a", "b"], "nullable": True},
        {"$ref": "#/$defs/Text", "nullable": True},
        {"anyOf": [TEXT, INTEGER], "nullable": True},
    ],
)
async def test_null_is_accepted_where_a_schema_says_nullable(schema: JsonObject) -> None:
    parameters: JsonObject = {
        "type": "object",
        "properties": {"value": schema, "deep": {"type": "array", "items": schema}},
        "required": ["value"],
        "$defs": {"Text": TEXT},
    }
    arguments: JsonObject = {"value": None, "deep": [None]}
    outcome = await probe(parameters, arguments)
    assert outcome.received == [arguments]
    assert outcome.finished.repairs == ()
    wrong = await probe(parameters, {"value": {}})
    assert wrong.result.is_error


@requirement("DSP-4")
async def test_nullable_as_the_name_of_a_parameter_or_in_a_value_means_nothing() -> None:
    schema = properties(nullable=BOOLEAN, value={"enum": [{"type": "x", "nullable": True}]})
    assert (await probe(schema, {"nullable": True})).received == [{"nullable": True}]
    assert (await probe(schema, {"value": {"type": "x", "nullable": True}})).received
    assert (await probe({**schema, "required": ["value"]}, {"value": None})).result.is_error


@requirement("DSP-9")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("document_id"), "KeyError: 'document_id'"),
        (KeyError("no such thing"), "KeyError: 'no such thing'"),
        (ValueError("7"), "ValueError: 7"),
        (ValueError(), "ValueError"),
        (ValueError("There is no note 7."), "There is no note 7."),
    ],
)
async def test_an_exception_is_told_with_its_type_unless_it_is_a_sentence(
    error: Exception, said: str
) -> None:
    def look_up() -> str:
        raise error

    result = await Drawer([FunctionToolset("desk", [look_up])]).session().call("look_up")
    assert result.text == f"'look_up' failed: {said}"
