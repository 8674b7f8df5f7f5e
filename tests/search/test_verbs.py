"""What an operation does to its object."""

import pytest

from tooldrawer.search.text import stem
from tooldrawer.search.verbs import deeds


def does(word: str) -> int:
    return deeds(stem(word))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("create", "delete"),
        ("add", "remove"),
        ("list", "delete"),
        ("start", "stop"),
        ("enable", "disable"),
        ("lock", "unlock"),
        ("archive", "restore"),
        ("approve", "reject"),
        ("subscribe", "unsubscribe"),
        ("merge", "split"),
        ("close", "reopen"),
        ("send", "read"),
        ("update", "list"),
    ],
)
def test_opposites_are_different_deeds(one: str, other: str) -> None:
    assert does(one)
    assert does(other)
    assert not does(one) & does(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("create", "add"),
        ("delete", "remove"),
        ("list", "get"),
        ("find", "search"),
        ("edit", "update"),
        ("run", "execute"),
        ("clone", "copy"),
        ("send", "post"),
        ("cancel", "stop"),
    ],
)
def test_two_words_for_one_deed_agree(one: str, other: str) -> None:
    assert does(one) & does(other)


@pytest.mark.parametrize("form", ["create", "creates", "created", "creating"])
def test_any_form_of_a_verb_is_the_same_deed(form: str) -> None:
    assert does(form) == does("create")


@pytest.mark.parametrize("word", ["issue", "calendar", "", "\ud800", "x" * 10_000])
def test_a_word_that_is_no_verb_of_ours_does_nothing(word: str) -> None:
    assert does(word) == 0
