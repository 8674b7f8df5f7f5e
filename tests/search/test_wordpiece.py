"""Text as the pieces that the encoder knows."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tooldrawer.search.wordpiece import WordPiece

VOCABULARY = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]"),
    *("create", "issue", "##s", "pull", "pullre", "##re", "##quest", "##r", "##q", "a", "##a"),
    *(".", "_", "読", "取", "cafe", "3", "##3"),
)
SHIPPED = (files("tooldrawer.search") / "model" / "vocabulary.txt").read_text("utf-8").splitlines()


def pieces(text: str, most: int = 32) -> list[str]:
    return [VOCABULARY[number] for number in WordPiece(VOCABULARY).ids(text, most=most)]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("create issues", ["create", "issue", "##s"]),
        ("Create ISSUE", ["create", "issue"]),
        ("pullrequest", ["pullre", "##quest"]),
        ("pullrequ", ["[UNK]"]),
        ("create_issue.", ["create", "_", "issue", "."]),
        ("Café", ["cafe"]),
        ("読取", ["読", "取"]),
        ("a33", ["a", "##3", "##3"]),
        ("create nonsense issue", ["create", "[UNK]", "issue"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_words_are_cut_greedily_into_known_pieces(text: str, inside: list[str]) -> None:
    assert pieces(text) == ["[CLS]", *inside, "[SEP]"]


def test_a_text_is_read_up_to_the_most_pieces_with_both_marks() -> None:
    assert pieces("create issue create issue", most=4) == ["[CLS]", "create", "issue", "[SEP]"]
    assert pieces("issues", most=3) == ["[CLS]", "issue", "[SEP]"]
    assert pieces("create", most=2) == ["[CLS]", "[SEP]"]


def test_a_word_that_is_too_long_for_a_word_is_one_unknown_piece() -> None:
    assert pieces("a" * 64)[1:3] == ["a", "##a"]
    assert pieces("a" * 65 + " create") == ["[CLS]", "[UNK]", "create", "[SEP]"]
    assert pieces("a" * 10_000) == ["[CLS]", "[UNK]", "[SEP]"]


def test_the_same_word_is_the_same_pieces_every_time() -> None:
    piece = WordPiece(VOCABULARY)
    assert piece.ids("issues", most=9) == piece.ids("ISSUES", most=9) == piece.ids("issues", most=9)


def test_the_shipped_vocabulary_knows_the_words_of_tools_and_each_piece_once() -> None:
    assert len(set(SHIPPED)) == len(SHIPPED)
    piece = WordPiece(SHIPPED)
    known = [SHIPPED[number] for number in piece.ids("create a pull request", most=32)]
    assert known == ["[CLS]", "create", "a", "pull", "request", "[SEP]"]


@quick(200)
@given(text=any_text | st.text(max_size=200), most=st.integers(2, 64))
def test_whatever_the_text_its_numbers_stand_between_the_marks(text: str, most: int) -> None:
    start, end = SHIPPED.index("[CLS]"), SHIPPED.index("[SEP]")
    numbers = WordPiece(SHIPPED).ids(text, most=most)
    assert 2 <= len(numbers) <= most
    assert (numbers[0], numbers[-1]) == (start, end)
    assert all(0 <= number < len(SHIPPED) for number in numbers)
