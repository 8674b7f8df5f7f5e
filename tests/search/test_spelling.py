"""Words that no tool has, as the words that were meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tooldrawer.search.spelling import Spelling
from tooldrawer.search.text import stem

KNOWN = (
    "list pods create issue message calendar kubernetes kubectl repository receive delete user get "
    "file rename namespace deployment screenshot pull request comments the is for of weather cube"
)
WORDS = KNOWN.split()
SPELLING = Spelling((stem(word), word) for word in WORDS)


def meant(word: str) -> list[str]:
    return [found for found, _ in SPELLING.corrected(word)]


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("isseu", "issue"),
        ("messgae", "message"),
        ("calednar", "calendar"),
        ("delte", "delete"),
        ("repostory", "repository"),
        ("wether", "weather"),
        ("messsage", "message"),
        ("deleete", "delete"),
        ("commments", "comments"),
        ("calender", "calendar"),
        ("recieve", "receive"),
        ("namespase", "namespace"),
        ("dpeloyemnt", "deployment"),
        ("kubernets", "kubernetes"),
        ("xelete", "delete"),
        ("isues", "issue"),
        ("deploymnet", "deployment"),
        ("kuberentes", "kubernetes"),
    ],
)
def test_swapped_missing_doubled_and_wrong_letters_are_forgiven(word: str, expected: str) -> None:
    assert meant(word)[0] == expected


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("listpods", "list pods"),
        ("createissue", "create issue"),
        ("getuser", "get user"),
        ("renamefile", "rename file"),
        ("listofpods", "list of pods"),
        ("createpullrequest", "create pull request"),
        ("deletingcomments", "deleting comments"),
    ],
)
def test_words_that_run_together_are_taken_apart(word: str, expected: str) -> None:
    assert SPELLING.corrected(word) == [(expected, 0.9)]


def test_a_wrong_letter_is_likelier_than_two_words_that_happen_to_make_up_the_word() -> None:
    words = ("message", "mess", "sage", "commands", "comma", "dns")
    spelling = Spelling((stem(word), word) for word in words)
    assert spelling.corrected("messsage") == [("message", 0.9)]
    assert spelling.corrected("commadns") == [("commands", 0.9)]


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("kuber", ["kubernetes"]),
        ("repo", ["repository"]),
        ("deploy", ["deployment"]),
        ("screens", ["screenshot"]),
        ("kub", ["kubectl", "kubernetes"]),
    ],
)
def test_a_word_that_was_cut_off_is_completed(word: str, expected: list[str]) -> None:
    assert meant(word) == expected


def test_kube_is_kubernetes_where_no_cube_is_known() -> None:
    without = Spelling((stem(word), word) for word in WORDS if word != "cube")
    assert [found for found, _ in without.corrected("kube")] == ["kubectl", "kubernetes"]
    assert meant("kube") == ["cube"]


@pytest.mark.parametrize(
    "word",
    [
        "banana",
        "gt",
        "fle",
        "usr",
        "xx",
        "2024",
        "größe",
        "файл",
        "pqrstuv",
        "rxcxivx",
        "c",
        "",
        "issue" * 9,
        "a" * 10_000,
    ],
)
def test_words_that_are_like_no_other_stay_as_they_are(word: str) -> None:
    assert meant(word) == []


def test_a_function_word_is_no_correction() -> None:
    assert meant("thee") == []
    assert "is" not in meant("isue")
    assert "for" not in meant("fork")


def test_the_fewer_letters_are_wrong_the_surer_is_a_correction() -> None:
    ((_, one_off),) = SPELLING.corrected("calednar")
    ((_, two_off),) = SPELLING.corrected("caldnear")
    assert 0 < two_off < one_off < 1


def test_at_most_three_equally_near_words_are_offered() -> None:
    near = Spelling((word, word) for word in ("cart", "card", "care", "carp", "carb", "harp"))
    found = near.corrected("carx")
    assert len(found) == 3
    assert len({weight for _, weight in found}) == 1
    assert "harp" not in dict(found)


def test_without_a_single_word_nothing_is_corrected() -> None:
    assert list(Spelling([]).corrected("issue")) == []


@quick(100)
@given(
    shuffled=st.permutations(WORDS),
    word=st.sampled_from(("isue", "kub", "listpods", "calender", "carx", "dpeloyemnt")),
)
def test_a_correction_does_not_depend_on_the_order_of_the_words(
    shuffled: list[str], word: str
) -> None:
    other = Spelling((stem(one), one) for one in shuffled)
    assert list(other.corrected(word)) == list(SPELLING.corrected(word))


@quick(200)
@given(word=any_text | st.text("abcdefghilmnoprstu", max_size=45))
def test_any_word_at_all_gets_at_most_three_corrections_out_of_known_words(word: str) -> None:
    found = SPELLING.corrected(word)
    assert len(found) <= 3
    for correction, weight in found:
        assert 0 < weight < 1
        assert correction in WORDS or correction.replace(" ", "") == word
