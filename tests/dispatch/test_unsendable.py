"""Half characters and numbers that JSON does not have, in arguments and in results."""

import json
from collections.abc import Callable

import pytest

from tests.dispatch.parts import TOOL, events, lab, probe, properties
from tests.requirements import requirement
from tooldrawer import (
    AssemblyPolicy,
    BridgeNames,
    Config,
    Drawer,
    Function,
    FunctionToolset,
    Next,
    Tool,
    ToolCall,
    ToolResult,
)
from tooldrawer.activity import CallFinished, CallRefused
from tooldrawer.tool import Json, JsonObject

pytestmark = pytest.mark.anyio

HALF = "\ud83d"
MARK = "\ufffd"
TEXT: JsonObject = {"type": "string"}
SCHEMAS: list[JsonObject] = [
    {},
    properties(value=TEXT),
    properties(value={"type": "integer"}),
    properties(value={"enum": ["a"]}),
    {"type": "not a type"},
]


@requirement("DSP-4")
@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"value": f"a{HALF}"}, "/value: has"),
        ({"value": [1, {"x": HALF}]}, "/value/1/x: has"),
        ({"value": {f"x{HALF}": 1}}, "/value: a name in it has"),
        ({f"x{HALF}": 1}, "/: a name in it has"),
        ('{"value": "\\ud83d"}', "/value: has"),
    ],
)
async def test_arguments_with_half_of_a_character_are_refused_with_the_place(
    schema: JsonObject, arguments: Json, place: str
) -> None:
    outcome = await probe(schema, arguments)
    assert outcome.result.is_error
    assert outcome.received == []
    start = f"{TOOL!r} was not run: {place} half of a character, which cannot be sent; "
    assert outcome.result.text.startswith(start)
    outcome.result.text.encode()
    assert len(events(outcome.drawer, CallRefused)) == 1


@requirement("DSP-4")
@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"value": float("nan")}, "/value: is NaN"),
        ({"value": [float("inf")]}, "/value/0: is Infinity"),
        ({"value": [1, -1.5, float("-inf")]}, "/value/2: is -Infinity"),
        ('{"value": NaN}', "/value: is NaN"),
    ],
)
async def test_a_number_that_json_does_not_have_is_refused_by_its_name(
    schema: JsonObject, arguments: Json, said: str
) -> None:
    outcome = await probe(schema, arguments)
    assert outcome.received == []
    start = f"{TOOL!r} was not run: {said}, and JSON has no such number."
    assert outcome.result.text.startswith(start)


@pytest.mark.parametrize("value", ["😀 ü", 1.5, -1e300, 10**400, True, "\x00"])
async def test_other_texts_and_numbers_reach_the_tool(value: Json) -> None:
    assert (await probe({}, {"value": value})).received == [{"value": value}]


@requirement("DSP-4")
@pytest.mark.parametrize("text", ['["\\ud83d"]', "[NaN]"])
async def test_a_repair_does_not_make_what_cannot_be_sent(text: str) -> None:
    outcome = await probe(properties(value={"type": "array"}), {"value": text})
    assert outcome.result.is_error
    assert outcome.received == []


@requirement("DSP-1")
async def test_a_hook_cannot_put_half_of_a_character_into_the_arguments() -> None:
    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        return await proceed(call.with_arguments({"value": HALF}))

    toolset = lab(properties(value=TEXT))
    result = await Drawer([toolset], hooks=[hook]).session().call(TOOL, {"value": "a"})
    assert toolset.received == []
    assert "/value: has half of a character" in result.text


def _raise() -> str:
    raise RuntimeError(f"failed with {HALF}")


@requirement("DSP-3")
@pytest.mark.parametrize(
    ("work", "text"),
    [
        (lambda: f"a{HALF}b", f"a{MARK}b"),
        (lambda: "\ud83d\ude00", "😀"),
        (lambda: {"k": [HALF, "😀", 1]}, f'{{"k":["{MARK}","😀",1]}}'),
        (_raise, f"'work' failed: failed with {MARK}"),
    ],
    ids=["text", "pair", "object", "exception"],
)
async def test_half_of_a_character_in_a_result_is_replaced(
    work: Callable[[], object], text: str
) -> None:
    session = Drawer([FunctionToolset("jobs", [Function(work, name="work")])]).session()
    result = await session.call("work")
    assert result.text == text
    json.dumps(result.mcp(), ensure_ascii=False).encode()


@requirement("DSP-3")
async def test_half_of_a_character_is_replaced_wherever_a_toolset_or_hook_puts_it() -> None:
    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        del tool, call
        block: JsonObject = {"type": "resource", "resource": {"uri": "a:b", "text": HALF}}
        return ToolResult(content=(block,), structured={"a": [HALF]}, meta={HALF: HALF})

    async def hook(call: ToolCall, proceed: Next) -> ToolResult:
        return (await proceed(call)).with_note(f"noted {HALF}")

    drawer = Drawer([lab({}, run)], hooks=[hook])
    result = await drawer.session().call(TOOL)
    assert result.mcp() == {
        "content": [
            {"type": "resource", "resource": {"uri": "a:b", "text": MARK}},
            {"type": "text", "text": f"noted {MARK}"},
        ],
        "structuredContent": {"a": [MARK]},
        "_meta": {MARK: MARK},
    }
    assert len(events(drawer, CallFinished)) == 1


@requirement("DSP-9")
@pytest.mark.parametrize("required", [True, False])
async def test_a_refusal_has_a_bounded_length_and_tells_how_to_see_the_rest(
    *, required: bool
) -> None:
    names = [f"parameter_number_{number}" for number in range(1_500)]
    schema = properties(**dict.fromkeys(names, TEXT), value={"type": "integer"})
    schema = {**schema, "required": names} if required else schema
    policy = AssemblyPolicy(names=BridgeNames(describe="show_tool"))
    given: JsonObject = {**dict.fromkeys(names, "x"), "value": "ten"}
    outcome = await probe(schema, given, config=Config(assembly=policy))
    text = outcome.result.text
    assert f"{TOOL!r} was not run: /value: " in text
    assert "...); show_tool shows the whole schema. Correct the arguments and call again." in text
    assert len(text) < 3_000
    assert ("parameter_number_1, " in text) is required


@requirement("DSP-9")
async def test_a_refusal_has_a_bounded_length_when_the_names_are_long() -> None:
    long = "x" * 100_000
    schema: JsonObject = {"additionalProperties": {"type": "integer"}, "properties": {long: TEXT}}
    text = (await probe(schema, {f"y{long}": "ten"})).result.text
    assert "tool_describe shows the whole schema." in text
    assert len(text) < 4_000
