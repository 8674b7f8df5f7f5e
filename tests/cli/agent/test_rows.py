"""A call in one row, however much or little room there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldrawer.cli.call_row import Glyphs, Row, in_short, spent
from tooldrawer.cli.width import columns, cut, wrapped

NAME = "mcp_github_create_issue"


def drawn(row: Row, width: int) -> str:
    return row.drawn(width, mark="✓", glyphs=Glyphs(), colour=False)


def test_everything_is_shown_where_there_is_room() -> None:
    row = Row(head=NAME, state="ok", arguments='title: "x"', tail="12 ms, 40 tokens")
    assert drawn(row, 80) == f'✓ {NAME}(title: "x")  12 ms, 40 tokens'


def test_arguments_give_way_before_the_name_and_the_figures() -> None:
    row = Row(head=NAME, state="ok", arguments="x" * 200, tail="12 ms, 40 tokens")
    shown = drawn(row, 60)
    assert shown.startswith(f"✓ {NAME}(xxx")
    assert shown.endswith("…)  12 ms, 40 tokens")
    assert columns(shown) == 60


def test_a_long_reason_leaves_room_for_the_arguments() -> None:
    row = Row(head="terminal", state="wrong", arguments='command: "ls"', tail="no " * 100)
    shown = drawn(row, 79)
    assert 'terminal(command: "ls")  no no' in shown
    assert shown.endswith("…")


def test_without_room_for_arguments_the_name_is_still_there() -> None:
    row = Row(head=NAME, state="ok", arguments="x" * 200, tail="12 ms, 40 tokens")
    assert drawn(row, 44) == f"✓ {NAME}  12 ms, 40 tokens"


def test_a_subagents_row_is_indented_under_its_session() -> None:
    row = Row(head=NAME, state="ok", arguments="", tail="1 ms", session="chat.1.2", depth=2)
    assert drawn(row, 80) == f"    ✓ chat.1.2 {NAME}()  1 ms"


@given(
    head=st.text(max_size=80),
    arguments=st.none() | st.text(max_size=300),
    tail=st.text(max_size=300),
    session=st.text(max_size=20),
    depth=st.integers(0, 3),
    width=st.integers(20, 200),
)
def test_no_row_is_wider_than_it_may_be(
    head: str, arguments: str | None, tail: str, session: str, depth: int, width: int
) -> None:
    row = Row(head=head, state="ok", arguments=arguments, tail=tail, session=session, depth=depth)
    assert columns(drawn(row, width)) <= width


@given(text=st.text(), room=st.integers(0, 40))
def test_a_text_that_is_cut_says_so_and_one_that_fits_is_left_alone(text: str, room: int) -> None:
    shown = cut(text, room)
    assert columns(shown) <= room
    assert shown == text if columns(text) <= room else shown.endswith("…") or not shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ""),
        ({"path": "a.txt", "lines": 3}, 'path: "a.txt", lines: 3'),
        ({"text": "two\nlines\x1b[2J"}, r'text: "two\nlines\u001b[2J"'),
        ({"text": "\u202egnp.exe"}, r'text: "\u202egnp.exe"'),
        ({"a": None, "b": [1, {"c": True}]}, 'a: null, b: [1,{"c":true}]'),
    ],
)
def test_arguments_are_short_and_harmless(arguments: dict[str, object], words: str) -> None:
    assert in_short(arguments) == words  # pyright: ignore[reportArgumentType]


def test_a_megabyte_of_arguments_is_short_too() -> None:
    assert len(in_short({"text": "x" * 1_000_000, "more": ["y" * 1_000_000]})) < 1_000


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0123, "12 ms"), (1.26, "1.3 s"), (125, "2 min 5 s")]
)
def test_a_duration_is_told_in_its_unit(seconds: float, words: str) -> None:
    assert spent(seconds) == words


def test_sentences_are_broken_between_words_and_commands_to_copy_are_not() -> None:
    command = "  tooldrawer chat --model scripted"
    assert wrapped(f"one two three\n{command}\n漢字 漢字 漢字", 9) == (
        f"one two\nthree\n{command}\n漢字 漢字\n漢字"
    )
    assert wrapped("unbreakable word", 4) == "unbreakable\nword"
