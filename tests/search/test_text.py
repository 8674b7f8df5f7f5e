"""Texts into the words they are found by."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tooldrawer.search.text import folded, forms, is_function_word, spaced, stem, words


def written(text: str) -> list[str]:
    return [form.written for form in forms(text)]


@requirement("SEARCH-1")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create_issue", ["create", "issue"]),
        ("create-issue.now", ["create", "issue", "now"]),
        ("createIssue", ["createissue", "create", "issue"]),
        ("parseHTMLFile", ["parsehtmlfile", "parse", "html", "file"]),
        ("s3 bucket", ["s3", "s", "3", "bucket"]),
        ("k8s", ["k8s", "k", "8", "s"]),
        ("base64Encode", ["base64encode", "base", "64", "encode"]),
        ("YouTube", ["youtube", "you", "tube"]),
        ("HTML", ["html"]),
        ("Slack에", ["slack에", "slack", "에"]),
        ("Größe der Straße", ["grosse", "der", "strasse"]),
        ("读取 файлы", ["读取", "фаилы"]),
        ("a\x00b\tc\u2028d", ["a", "b", "c", "d"]),
        ("!? 🎉 \ud800 __", []),
        ("", []),
    ],
)
def test_names_and_sentences_are_split_into_words(text: str, expected: list[str]) -> None:
    assert written(text) == [folded(word) for word in expected]


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ("running runs run", "run"),
        ("issues issue Issue", "issu"),
        ("creates created creating", "creat"),
        ("repositories repository", "repositori"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(several: str, one: str) -> None:
    assert set(words(several)) == {one}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café ﬁle", "Cafe file"),
        ("Größe œuvre ÆRØ", "Grosse oeuvre AERO"),
        ("żółć ŁÓDŹ", "zolc LODZ"),
        ("smørbrød SMØRBRØD Ǿ", "smorbrod SMORBROD O"),
        ("tạo một tệp Đà", "tao mot tep Da"),
        ("\u0131\u015f\u0131k İstanbul", "isik Istanbul"),
        ("ħobż ĦOBŻ", "hobz HOBZ"),
        ("\uff46\uff49\uff4c\uff45", "file"),
        ("ガ", "カ"),
        ("plain", "plain"),
    ],
)
def test_folding_takes_away_every_accent(text: str, expected: str) -> None:
    assert folded(text) == expected


def test_a_run_of_several_parts_stays_whole_unless_nobody_would_write_it_like_that() -> None:
    assert [form.is_whole for form in forms("YouTube videos")] == [True, False, False, False]
    assert "createpullrequestreviewcomment" not in written("createPullRequestReviewComment")
    assert "review" in written("createPullRequestReviewComment")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("createPullRequest", "create Pull Request"),
        ("create_pull-request", "create pull request"),
        ("parseHTMLFile", "parse HTML File"),
        ("v2Search", "v2 Search"),
        ("größe.ändern", "größe ändern"),
        ("___", ""),
    ],
)
def test_a_name_is_spaced_into_its_words_as_they_were_written(name: str, expected: str) -> None:
    assert spaced(name) == expected


def test_function_words_are_told_from_words_that_say_something() -> None:
    assert all(is_function_word(stem(word)) for word in ("the", "with", "please", "does", "this"))
    assert not any(is_function_word(stem(word)) for word in ("issue", "list", "theme", "s", ""))


@quick(300)
@given(text=any_text | st.text(max_size=60))
def test_whatever_the_text_its_words_are_folded_and_never_empty(text: str) -> None:
    for form in forms(text):
        assert form.stem
        assert form.written
        assert form.written == folded(form.written).casefold()


@quick(300)
@given(text=any_text | st.text(max_size=60))
def test_folding_a_folded_text_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@quick(200)
@given(text=any_text | st.text(max_size=60))
def test_the_parts_of_a_whole_make_it_up(text: str) -> None:
    parts = "".join(form.written for form in forms(text) if not form.is_whole)
    assert all(form.written in parts for form in forms(text) if form.is_whole)


@pytest.mark.parametrize("text", ["create_issue " * 80_000, "a" * 10_000, "aB" * 10_000])
def test_long_texts_are_read_to_their_end(text: str) -> None:
    assert sum(1 for _ in forms(text)) <= 2 * len(text)
    assert len(spaced(text)) <= 2 * len(text)


@pytest.fixture
def hurried_threads() -> Iterator[None]:
    """Threads take turns after a few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@requirement("SEARCH-8")
def test_threads_that_stem_at_the_same_time_give_each_word_its_own_stem(
    hurried_threads: None,
) -> None:
    some = [f"{beginning}{ending}" for beginning in BEGINNINGS for ending in ENDINGS]
    expected = [stem.__wrapped__(word) for word in some]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(stem.__wrapped__, some * 4))
    assert found == expected * 4


BEGINNINGS = ("notif", "connect", "relat", "gener", "organ", "hope", "beer", "skin", "runn")
ENDINGS = ("", "s", "ing", "ed", "ational", "fulness", "ization", "er", "ies", "ously")
