"""What a model asked for, whatever it was wrapped in."""

from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer.bridge import (
    BridgeNames,
    CallTool,
    DescribeTools,
    SearchTools,
    parse,
    unnested,
)
from tooldrawer.errors import InvalidArguments

NAMES = BridgeNames()
MEANT = CallTool("git_log", {"limit": 5})


@requirement("BR-5")
@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "git_log", "arguments": {"limit": 5}},
        {"name": " git_log ", "arguments": '{"limit": 5}'},
        {"tool_name": "git_log", "args": {"limit": 5}},
        {"tool": "git_log", "input": {"limit": 5}},
        {"name": "git_log", "params": {"limit": 5}},
        {"name": "git_log", "limit": 5},
        {"arguments": {"name": "git_log", "arguments": {"limit": 5}}},
        {"input": '{"name": "git_log", "arguments": {"limit": 5}}'},
        '{"name": "git_log", "arguments": {"limit": 5}}',
    ],
)
def test_every_sloppy_envelope_means_the_clean_call(arguments: Any) -> None:
    assert parse("tool_call", arguments, NAMES) == MEANT


@requirement("BR-5")
@pytest.mark.parametrize("nothing", [None, "", {}, [], "null", "{}"])
def test_arguments_may_be_missing_null_or_empty(nothing: Any) -> None:
    assert parse("tool_call", {"name": "now", "arguments": nothing}, NAMES) == CallTool("now", {})
    assert parse("now", nothing, NAMES) == CallTool("now", {})


@requirement("BR-5")
def test_queries_and_names_may_come_as_lists_of_at_most_ten() -> None:
    assert parse("tool_search", {"query": ["a", "b"]}, NAMES) == SearchTools(
        ("a", "b"), None, is_list=True
    )
    assert parse("tool_describe", {"names": ["a"]}, NAMES) == DescribeTools(("a",), is_list=True)
    with pytest.raises(InvalidArguments, match="At most 10 at once, not 11"):
        parse("tool_search", {"query": ["x"] * 11}, NAMES)


@pytest.mark.parametrize("plain", ["find me", '"find me"', {"q": "find me"}, {"input": "find me"}])
def test_a_query_may_come_without_its_envelope(plain: Any) -> None:
    assert parse("tool_search", plain, NAMES) == SearchTools(("find me",))


@pytest.mark.parametrize("arguments", [None, 3, [], {"query": 3}, {"query": ["a", 3]}, {}])
def test_what_cannot_be_understood_is_answered_with_an_example(arguments: Any) -> None:
    with pytest.raises(InvalidArguments, match='tool_search needs "query"'):
        parse("tool_search", arguments, NAMES)


def test_one_more_envelope_is_taken_off_only_when_the_tool_has_no_such_parameter() -> None:
    wrapped = {"arguments": {"limit": 5}}
    assert unnested(wrapped, {"properties": {"limit": {}}}) == {"limit": 5}
    assert unnested(wrapped, {"properties": {"arguments": {}}}) == wrapped
    assert unnested({"limit": 5}, {"properties": {}}) == {"limit": 5}


@requirement("DSP-9")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1', "the text ends too early, after 7 characters"),
        ('{"a": 1}}', "Extra data at line 1, column 9 (character 9)"),
        ('{\n"a": 1,\n}', "line 3, column 1 (character 11)"),
        ('{"a": "x', "Unterminated string starting at line 1, column 7 (character 7)"),
        ("hello", "Expecting value at line 1, column 1 (character 1)"),
        ("[" * 100_000, "it is nested too deep"),
        ('{"a": ' + "9" * 5_000 + "}", "a number has too many digits"),
    ],
)
def test_broken_json_is_refused_with_its_place(text: str, said: str) -> None:
    for name, arguments in (("git_log", text), ("tool_call", {"name": "git_log", "input": text})):
        with pytest.raises(InvalidArguments) as refused:
            parse(name, arguments, NAMES)
        assert str(refused.value).startswith("The arguments are not valid JSON: ")
        assert f"{said}. Call again with a JSON object" in str(refused.value)


@requirement("DSP-9")
def test_a_broken_envelope_is_refused_with_its_place_and_an_example() -> None:
    with pytest.raises(InvalidArguments) as refused:
        parse("tool_call", '{"name": "git_log", "arguments": {}', NAMES)
    assert str(refused.value).startswith(
        "The arguments are not valid JSON: the text ends too early"
    )
    assert '{"name": "mcp_git_log", "arguments": {"limit": 5}}' in str(refused.value)


@pytest.mark.parametrize("text", ["5", '"text"', "[1]", "true"])
def test_json_that_is_not_an_object_is_not_called_broken(text: str) -> None:
    with pytest.raises(InvalidArguments, match="must be a JSON object"):
        parse("git_log", text, NAMES)
