"""Hostile definitions are refused by counting; what passes is evaluated within bounds (DSP-10)."""

import re
from collections.abc import Callable
from contextlib import suppress
from time import thread_time

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile.corpus import (
    CALLS,
    KEYWORDS,
    READ_AT_ONCE,
    SCHEMAS,
    TEMPLATES,
    doubled,
    patterns,
    properties,
)
from tests.requirements import requirement
from tooldrawer.bounds.definition import ListRoom
from tooldrawer.bounds.graph import SchemaTooCostly
from tooldrawer.bounds.template import matches_template
from tooldrawer.bounds.work import SchemaWork
from tooldrawer.dispatch.complaints import leaves
from tooldrawer.dispatch.validation import Validation
from tooldrawer.errors import InvalidArguments
from tooldrawer.tool import Json, JsonObject, Tool

BOUND_IN_REFERENCES = 12.0
"""The bound on the event loop, 50 ms, in units of `reference`, which takes about 6 ms: with a
factor for machines on which the two do not slow down alike."""


def reference() -> None:
    """A fixed amount of the same kinds of work: Python, and the validator."""
    work = SchemaWork(properties(**{f"p{at}": {"type": "string"} for at in range(300)}))
    validator = jsonschema_rs.Draft202012Validator(work.document)
    assert validator.is_valid({"p1": "x"})


def spent(action: Callable[[], object]) -> float:
    """Seconds of this thread's processor: waiting for other processes does not count."""
    started = thread_time()
    action()
    return thread_time() - started


def in_references(action: Callable[[], object]) -> float:
    """The least of three measurements of each, the action's as a multiple of the reference's."""
    return min(spent(action) for _ in range(3)) / min(spent(reference) for _ in range(5))


@requirement("DSP-10")
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_hostile_schema_is_refused_in_little_time(name: str) -> None:
    definition: JsonObject = {"name": "bomb", "inputSchema": SCHEMAS[name]}
    assert ListRoom().find_excess(definition) != ""
    assert in_references(lambda: ListRoom().find_excess(definition)) < BOUND_IN_REFERENCES


@requirement("DSP-10")
def test_a_hostile_output_schema_is_refused_too() -> None:
    definition: JsonObject = {"name": "a", "inputSchema": {}, "outputSchema": doubled("anyOf")}
    assert ListRoom().find_excess(definition).startswith("has an outputSchema that ")


@requirement("DSP-10")
@pytest.mark.parametrize("name", [*SCHEMAS, *CALLS])
def test_checking_a_call_takes_little_time(name: str) -> None:
    schema, arguments = CALLS[name] if name in CALLS else (SCHEMAS[name], {"value": "a" * 40 + "!"})
    tool = Tool(name="tool", parameters=schema)

    def check() -> None:
        with suppress(InvalidArguments):
            Validation().check(tool, arguments)

    assert in_references(check) < 2 * BOUND_IN_REFERENCES


EVALUATED = (
    "$dynamicRef", "$recursiveRef", "$ref", "additionalItems", "additionalProperties", "allOf",
    "anyOf", "const", "contains", "contentEncoding", "contentMediaType", "contentSchema",
    "dependencies", "dependentRequired", "dependentSchemas", "else", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "format", "if", "items", "maxContains", "maxItems",
    "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength",
    "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern", "patternProperties",
    "prefixItems", "properties", "propertyNames", "required", "then", "type",
    "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
)  # fmt: skip
"""All keywords of the drafts 7, 2019-09 and 2020-12 that may say something about a value."""


@requirement("DSP-10")
@pytest.mark.parametrize("keyword", EVALUATED)
def test_a_keyword_with_much_to_do_takes_little_time(keyword: str) -> None:
    schema, arguments = KEYWORDS[keyword]
    tool = Tool(name="tool", parameters=schema)
    validation = Validation()

    def check() -> None:
        with suppress(InvalidArguments):
            validation.check(tool, arguments)

    assert in_references(check) < BOUND_IN_REFERENCES


@requirement("DSP-10")
@pytest.mark.parametrize("name", READ_AT_ONCE)
def test_a_schema_with_strange_lists_is_not_compiled(name: str) -> None:
    tool = Tool(name="tool", parameters={"type": "object", **READ_AT_ONCE[name]})
    assert "steps to compile" in Validation().check(tool, {}).warning
    assert in_references(lambda: Validation().check(tool, {})) < 2 * BOUND_IN_REFERENCES


@requirement("DSP-10")
@pytest.mark.parametrize(
    ("item", "good", "bad"),
    [
        ({"enum": [f"k{at}" for at in range(300)]}, ["k7"] * 500, "k"),
        ({"enum": [None, *(f"k{at}" for at in range(300))]}, ["k7"] * 500, "k"),
        ({"enum": [1, 2, 5, 10, 20]}, [5] * 2_000, 3),
        ({"const": 1}, [1] * 4_000, 2),
        ({"minimum": -180, "maximum": 180}, [0.25] * 3_000, 181),
        ({"minimum": 0.5, "maximum": 99.5}, [0.75] * 2_000, 0.25),
        ({"multipleOf": 0.01}, [0.25] * 2_000, 0.001),
        ({"type": "integer", "minimum": 0}, [123456789012345678] * 500, -1),
        ({"uniqueItems": True}, [list(range(1_000))], [1, 1]),
        ({"uniqueItems": True}, [[{"name": "a", "at": at} for at in range(50)]], [1, 1.0]),
        ({"required": ["a", "b", "c"]}, [{"a": 1, "b": 2, "c": 3}] * 1_000, {"a": 1}),
        ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 2}] * 1_000, {"a": 1}),
    ],
)
def test_ordinary_lists_are_checked(item: JsonObject, good: list[Json], bad: Json) -> None:
    tool = Tool(name="tool", parameters=properties(value={"type": "array", "items": item}))
    assert Validation().check(tool, {"value": good}).warning == ""
    with pytest.raises(InvalidArguments):
        Validation().check(tool, {"value": [*good, bad]})


@requirement("DSP-10")
@pytest.mark.parametrize("name", CALLS)
def test_a_schema_that_depends_on_its_arguments_is_listed(name: str) -> None:
    assert ListRoom().find_excess({"name": "a", "inputSchema": CALLS[name][0]}) == ""


@requirement("DSP-10")
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_hostile_template_is_matched_in_little_time(name: str) -> None:
    template, uri = TEMPLATES[name]
    assert in_references(lambda: matches_template(template, uri)) < 1


@requirement("DSP-10")
@given(
    template=st.lists(st.sampled_from(["{a}", "{+b}", "{", "}", "x", "y", "/"]), max_size=8),
    uri=st.text("xy/{}", max_size=12),
)
def test_a_template_matches_what_its_expression_would(template: list[str], uri: str) -> None:
    text = "".join(template)
    expression = ".+".join(map(re.escape, re.split(r"\{[^{}]*\}", text)))
    assert matches_template(text, uri) == bool(re.fullmatch(expression, uri))


@requirement("DSP-10")
@pytest.mark.parametrize(
    "pattern",
    [
        r"^[\w.-]{1,255}$",
        r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$",
        r"^(?i)https?://[^\s]+$",
        r"^[\p{L}\p{N} ]{1,20}$",
        r"^(?=.*[A-Z])(?=.*\d).{8,64}$",
    ],
)
def test_ordinary_patterns_are_checked(pattern: str) -> None:
    assert ListRoom().find_excess({"name": "a", "inputSchema": patterns(pattern, 10)}) == ""
    tool = Tool(name="tool", parameters=patterns(pattern, 10))
    with pytest.raises(InvalidArguments):
        Validation().check(tool, {"value": "\n"})


@requirement("DSP-10")
@given(depth=st.integers(1, 7), keyword=st.sampled_from(["allOf", "anyOf", "oneOf"]))
def test_no_more_errors_are_found_than_were_counted(depth: int, keyword: str) -> None:
    work = SchemaWork(doubled(keyword, depth))
    counted = work.measure({"value": "x"})
    validator = jsonschema_rs.Draft202012Validator(work.document)
    found = list(validator.iter_errors({"value": "x"}))
    assert counted is not None
    assert counted.errors >= sum(1 for error in found for _ in leaves(error))


@requirement("DSP-10")
def test_a_list_has_room_for_so_many_bytes() -> None:
    room = ListRoom()
    definition: JsonObject = {"name": "a", "description": "x" * 400_000, "inputSchema": {}}
    reasons = [room.find_excess(definition) for _ in range(12)]
    assert reasons == [""] * 10 + ["is beyond the 4,000,000 bytes of a list"] * 2


@requirement("DSP-10")
def test_a_schema_that_was_refused_names_the_reason() -> None:
    with pytest.raises(SchemaTooCostly, match="refers to itself without end"):
        SchemaWork({"allOf": [{"$ref": "#"}]})
