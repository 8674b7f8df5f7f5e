"""An event that was written as a line of JSON is read back as it was."""

import json
from dataclasses import fields
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.properties.strategies import any_text, json_values, quick
from tooldrawer import Event
from tooldrawer.activity.sinks import as_json, from_json

KINDS: tuple[type[Event], ...] = get_args(Event)
floats = st.floats(allow_nan=False) | st.integers()


def values(kind: Any) -> SearchStrategy[Any]:
    """What a field of that type may hold."""
    simple: dict[Any, SearchStrategy[Any]] = {
        str: any_text, int: st.integers(), float: floats, bool: st.booleans(),
    }  # fmt: skip
    if kind in simple:
        return simple[kind]
    if isinstance(kind, UnionType):
        return st.none() | any_text
    if get_origin(kind) is tuple:
        return st.lists(any_text, max_size=3).map(tuple)
    # A real NaN is never equal to itself.
    return st.dictionaries(any_text, json_values(), max_size=3).filter(lambda v: v == json_copy(v))


def json_copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def of_kind(kind: type[Event]) -> SearchStrategy[Event]:
    return st.builds(kind, **{field.name: values(field.type) for field in fields(kind)})


def events() -> SearchStrategy[Event]:
    return st.sampled_from(KINDS).flatmap(of_kind)


@quick(300)
@given(events())
def test_every_event_comes_back_from_its_line(event: Event) -> None:
    line = as_json(event)
    assert "\n" not in line
    back = from_json(line)
    assert back == event
    assert type(back) is type(event)
    assert back is not None
    assert as_json(back) == line


@quick(50)
@given(events(), json_values())
def test_a_field_of_a_later_version_is_left_out(event: Event, value: Any) -> None:
    found = {**json.loads(as_json(event)), "of a later version": value}
    assert from_json(json.dumps(found)) == event


@quick(100)
@given(json_values("event", "CallFinished", "at").map(json.dumps) | any_text)
def test_a_line_that_is_no_event_is_nothing(line: str) -> None:
    assert from_json(line) is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_without_what_it_needs_is_nothing(kind: type[Event]) -> None:
    assert from_json(json.dumps({"event": kind.__name__})) is None
    assert from_json(json.dumps({"event": kind.__name__, "at": "noon"})) is None


def test_an_event_of_a_later_version_is_nothing() -> None:
    assert from_json('{"event": "MilkSpilled", "at": 1.0}') is None
