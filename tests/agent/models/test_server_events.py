"""Events out of bytes, wherever these were cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldrawer.agent.server_events import ServerEvents

SENT = (
    b": hello\n"
    b'event: message\ndata: {"a": 1}\n\n'
    b"data: first\ndata:second\n\n"
    b"\n\n"
    b"id: 7\r\ndata: caf\xc3\xa9\r\n\r\n"
    b"data: returns\r\rdata: [DONE]\n\n"
    b"data: never closed\n"
)
TOLD = ['{"a": 1}', "first\nsecond", "café", "returns", "[DONE]"]


@given(st.lists(st.integers(min_value=0, max_value=len(SENT)), max_size=12))
def test_the_events_are_the_same_however_the_bytes_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(SENT)]
    events = ServerEvents()
    told = [data for start, end in pairwise(edges) for data in events.feed(SENT[start:end])]
    assert told == TOLD


def test_one_byte_at_a_time_is_enough() -> None:
    events = ServerEvents()
    assert [data for byte in SENT for data in events.feed(bytes([byte]))] == TOLD


def test_bytes_that_are_no_text_are_said_to_be_none() -> None:
    with pytest.raises(UnicodeDecodeError):
        list(ServerEvents().feed(b"data: \xff\xfe\n\n"))
