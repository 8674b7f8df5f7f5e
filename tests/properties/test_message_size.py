"""What a message meter counts does not depend on how the message is cut, or on its strings."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import json_values
from tests.requirements import requirement
from tooldrawer.bounds.message import MessageMeter
from tooldrawer.tool import Json


def count_marks(value: Json) -> int:
    """The commas and opening brackets in the JSON of a value, outside of its strings."""
    if not isinstance(value, dict | list):
        return 0
    inside = list(value.values()) if isinstance(value, dict) else value
    return max(len(inside), 1) + sum(map(count_marks, inside))


def cut(text: bytes, places: list[int]) -> list[bytes]:
    ends = [*sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def is_too_large(chunks: list[bytes], max_values: int) -> bool:
    meter = MessageMeter(max_values=max_values)
    return any(meter.find_excess(chunk) for chunk in chunks)


@requirement("DSP-10")
@given(json_values(), st.booleans(), st.sampled_from([None, 1]), st.lists(st.integers(0, 2000)))
def test_values_are_counted_exactly(
    value: Json, is_ascii: bool, indent: int | None, places: list[int]
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode(errors="replace")
    marks = count_marks(value)
    assert not is_too_large(cut(text, places), marks)
    assert is_too_large(cut(text, places), marks - 1)


@given(st.binary(), st.lists(st.integers(0, 2000)))
def test_bytes_are_counted_exactly(data: bytes, places: list[int]) -> None:
    for limit, is_excess in ((len(data), False), (len(data) - 1, True)):
        meter = MessageMeter(max_bytes=limit)
        found = [meter.find_excess(chunk) for chunk in cut(data, places)]
        assert any(found) is is_excess


def test_a_quote_in_a_comment_hides_no_values() -> None:
    events = b': "\r\ndata: [' + b"0," * 100
    assert is_too_large([events], 50)
