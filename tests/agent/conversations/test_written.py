"""A message comes back from its JSON as it was."""

import json
import math
from dataclasses import fields
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.agent.conversations.parts import every_field, messages
from tests.properties.strategies import json_values, nested_in, quick
from tooldrawer import Tool, ToolResult
from tooldrawer.agent.written import read, written
from tooldrawer.call import FrozenObject, freeze
from tooldrawer.errors import ToolDrawerError
from tooldrawer.tool import Json
from tooldrawer.wire.message import Answered, Asked, Message, Reply, Returned, Said, Summary, Usage

NOT_KEPT = {"cause", "_fingerprint", "_measured", "naming"}
"""Known to the host only, or computed again from the live servers."""


def again(message: Message) -> Message:
    return read(written(message, conversation="x"), conversation="x")


def with_arguments(arguments: Json) -> Answered:
    return Answered(calls=(Asked(name="a", arguments=arguments),))


def arguments_of(message: Message) -> Json:
    assert isinstance(message, Answered)
    return message.calls[0].arguments


@quick(300)
@given(messages())
@example(Said(text="\ud83d\ude00"))
@example(with_arguments({"\ud83d": "\ude00", "": [1e308, 5e-324, -0.0, 10**400]}))
@example(with_arguments(math.nan))
def test_any_message_comes_back_as_it_was(message: Message) -> None:
    # The representation tells more than equality: NaN, 1 from 1.0, the order of keys, and the
    # tools of a result, which equality leaves out.
    assert repr(again(message)) == repr(message)


def test_every_field_is_kept() -> None:
    for message in every_field():
        assert again(message) == message
    for kind in (Said, Answered, Returned, Summary, Reply, Asked, Usage, ToolResult, Tool):
        kept = b"".join(written(message, conversation="x") for message in every_field())
        missing = {field.name for field in fields(kind) if f'"{field.name}":' not in kept.decode()}
        assert missing <= NOT_KEPT


def test_equal_messages_are_equal_bytes() -> None:
    for message in every_field():
        kept = written(message, conversation="x")
        assert written(read(kept, conversation="x"), conversation="x") == kept


def test_frozen_and_foreign_mappings_are_kept_as_json() -> None:
    frozen = FrozenObject({"a": freeze([{"b": 1}])})
    assert arguments_of(again(with_arguments(frozen))) == {"a": [{"b": 1}]}
    assert arguments_of(again(with_arguments(MappingProxyType({"a": (1, 2)})))) == {"a": [1, 2]}


def test_the_cause_of_an_error_is_not_kept() -> None:
    failed = ToolResult(is_error=True, cause=OSError("gone"))
    back = again(Returned(replies=(Reply(call=Asked(name="a"), result=failed),)))
    assert isinstance(back, Returned)
    assert back.replies[0].result.is_error
    assert back.replies[0].result.cause is None


@pytest.mark.parametrize(
    "arguments",
    [b"bytes", {1, 2}, 10**5000, nested_in(100_000, wrap=lambda inner: [inner])],
    ids=["bytes", "a set", "more digits than Python writes", "too deep"],
)
def test_what_is_no_json_is_refused_with_the_conversation_named(arguments: Json) -> None:
    with pytest.raises(ToolDrawerError, match=r"conversation 260724-kqzt cannot be kept.*not JSON"):
        written(with_arguments(arguments), conversation="260724-kqzt")


@pytest.mark.parametrize(
    ("kept", "complaint"),
    [
        (b"", "cannot be read"),
        (b'{"kind": "said", "te', "cannot be read"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"[]", "not an object"),
        (b"{}", "'kind' of the message is missing"),
        (b'{"kind": "sung", "text": ""}', "nobody here knows its kind, 'sung'"),
        (b'{"kind": 5}', "'kind' of the message is no str"),
        (b'{"kind": "said"}', "'text' of the message is missing"),
        (b'{"kind": "said", "text": null}', "'text' of the message is no str"),
        (b'{"kind": "answered", "calls": [{}]}', "'name' of calls is missing"),
        (b'{"kind": "answered", "calls": "a"}', "'calls' of the message is no list"),
        (b'{"kind": "answered", "raw": [1]}', "raw is not an object"),
        (b'{"kind": "answered", "usage": {"input": true}}', "'input' of usage is no int"),
        (b'{"kind": "answered", "complete": 1}', "'complete' of the message is no bool"),
        (b'{"kind": "returned", "replies": [{"call": []}]}', "call is not an object"),
        (b'{"kind": "summary", "text": "", "tools": [{"name": "a", "shape": "x"}]}', "shape"),
    ],
)
def test_damage_is_told_with_the_conversation_and_a_way_out(kept: bytes, complaint: str) -> None:
    with pytest.raises(ToolDrawerError) as caught:
        read(kept, conversation="260724-kqzt")
    assert complaint in str(caught.value)
    assert "conversation 260724-kqzt" in str(caught.value)
    assert "update tooldrawer" in str(caught.value)


@quick(300)
@given(st.binary() | json_values("kind", "said").map(lambda value: json.dumps(value).encode()))
def test_whatever_is_in_the_file_is_a_message_or_one_kind_of_error(kept: bytes) -> None:
    try:
        read(kept, conversation="x")
    except ToolDrawerError as error:
        assert "conversation x" in str(error)  # noqa: PT017  most of them, but not all, are errors


def test_what_an_older_version_did_not_write_is_as_by_itself() -> None:
    assert read(b'{"kind": "answered"}', conversation="x") == Answered()
    assert read(b'{"kind": "summary", "text": "a", "later": 1}', conversation="x") == Summary(
        text="a"
    )
