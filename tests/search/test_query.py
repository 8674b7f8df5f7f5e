"""A query as the words it wants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tooldrawer.search.query import MOST_WORDS, Query, read
from tooldrawer.search.spelling import Spelling
from tooldrawer.search.text import stem

TOOLS = (
    "create delete list update search send get rename issue pull request file folder message email "
    "channel slack github youtube calendar event task user account pods namespace weather forecast "
    "city s3 s 3 bucket comment repository customer data node note translate english the is for of "
    "what you do"
)
WORDS = {stem(word): word for word in TOOLS.split()}
SPELLING = Spelling(WORDS.items())


def asked(text: str, *, languages: bool = True, synonyms: bool = True) -> Query:
    return read(
        text,
        knows=WORDS.__contains__,
        corrected=SPELLING.corrected,
        languages=languages,
        synonyms=synonyms,
    )


def surely(query: Query) -> list[str]:
    """The surest reading of each word that was said, without synonyms."""
    return [want.readings[0][0] for want in query.wanted if want.weight == 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create an issue in github", ["creat", "issu", "github"]),
        ("please could you list all of my files?", ["list", "file"]),
        ("createIssue", ["creat", "issu"]),
        ("get_user.account", ["get", "user", "account"]),
        ("YouTube", ["youtub", "tube"]),
        ("S3 buckets", ["s3", "s", "3", "bucket"]),
        ("what's in the user's bucket", ["user", "bucket"]),
        ("I don't need it, but we\u2019ll list the files", ["list", "file"]),
        ("list\x00files\u2028in\tfolder", ["list", "file", "folder"]),
    ],
)
def test_the_words_that_tell_what_is_wanted_are_read(text: str, expected: list[str]) -> None:
    assert surely(asked(text)) == expected


def test_when_no_word_tells_anything_all_of_them_are_read() -> None:
    assert surely(asked("what can you do")) == ["what", "can", "you", "do"]
    assert asked("what can you do").text == "what can you do"


@pytest.mark.parametrize("text", ["", " \n\t ", "!?", "🎉", "\x00\x01", "\ud800"])
def test_nothing_is_wanted_of_a_text_without_words(text: str) -> None:
    query = asked(text)
    assert query.wanted == ()
    assert query.stems == frozenset()
    assert query.language == "en"


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("craete an isseu", "create an issue"),
        ("listpods in the namespace", "list pods in the namespace"),
        ("wether forcast", "weather forecast"),
        ("delete namesp", "delete namespace"),
        ("crêate isssué", "crêate issue"),
    ],
)
def test_the_encoder_reads_a_query_with_its_spelling_corrected(text: str, corrected: str) -> None:
    assert asked(text).text == corrected


def test_a_corrected_word_counts_less_than_one_that_was_written_right() -> None:
    wrong, right = asked("craete issue", synonyms=False).wanted
    assert (wrong.said, right.said) == ("craete", "issue")
    assert dict(wrong.readings).keys() == dict(asked("create").wanted[0].readings).keys()
    assert dict(wrong.readings)["creat"] < dict(right.readings)["issu"] == 1


def test_both_words_that_ran_together_are_readings() -> None:
    (want,) = asked("listpods", synonyms=False).wanted
    assert [found for found, _ in want.readings] == ["list", "pod"]


@pytest.mark.parametrize("text", ["note the user", "trash", "fetch", "ditch", "whats", "2024"])
def test_words_that_are_english_already_are_not_corrected(text: str) -> None:
    assert asked(text).text == text


def test_everyday_words_stand_for_the_words_of_tools_but_count_less() -> None:
    wanted = asked("get rid of that email").wanted
    (delete,) = [want for want in wanted if want.readings[0][0] == "delet"]
    assert delete.said == "get rid of"
    assert delete.weight < 1


def test_a_synonym_that_was_said_itself_is_not_wanted_twice() -> None:
    wanted = asked("delete and remove files").wanted
    assert [want.said for want in wanted if want.readings[0][0] in {"delet", "remov"}] == [
        "delete",
        "remove",
    ]


def test_synonyms_and_languages_can_be_left_out() -> None:
    assert all(want.weight == 1 for want in asked("get rid of it", synonyms=False).wanted)
    query = asked("lösche die Datei", languages=False)
    assert (query.language, query.text) == ("en", "lösche die Datei")


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("text", "code", "english"),
    [
        ("Lösche die Datei im Ordner", "de", "delete file folder"),
        ("crée une issue dans GitHub", "fr", "create issue github"),
        ("skicka ett meddelande på Slack", "sv", "send message slack"),
        ("用 GitHub 创建 issue", "zh", "github create issue"),
        ("удали файл report.pdf из папки", "ru", "delete file report pdf folder"),
        ("Slack 채널에 메시지를 보내줘", "ko", "slack channel message send"),
        ("أضف تعليق إلى pull request", "ar", "add comment pull request"),
    ],
)
def test_other_languages_are_read_in_english_and_names_stay(
    text: str, code: str, english: str
) -> None:
    query = asked(text)
    assert (query.language, query.text) == (code, english)


@pytest.mark.parametrize(
    "text",
    [
        "send an email to José about the café in São Paulo",
        "create an event with Jürgen and Zoë",
        "list issues of the naïve résumé parser",
        "what's on Lena's calendar",
        "get the weather forecast for Los Angeles",
        "rename the file of Carlos to note",
        "send a message to 张伟 on the channel",
        "translate the message привет to english for me",
        "list pods in namespace es",
        "rename die.txt to das.txt",
        "search for tacos al pastor",
        "42 7 2024",
    ],
)
def test_english_with_words_that_look_foreign_stays_english(text: str) -> None:
    assert asked(text).language == "en"


def test_a_word_of_another_language_has_its_likeliest_meaning_first() -> None:
    (want,) = asked("удалить").wanted
    assert want.said == "удалить"
    assert want.readings[0] == ("delet", 1.0)
    assert all(weight < 1 for _, weight in want.readings[1:])


def test_a_tool_described_in_another_language_is_found_in_that_language() -> None:
    russian = {"удалить", "фаил"}
    query = read("удалить файл", knows=russian.__contains__, corrected=SPELLING.corrected)
    for want, own in zip(query.wanted, ("удалить", "фаил"), strict=True):
        assert (own, 1.0) in want.readings
        assert want.readings[0][0] != own


def test_a_function_word_of_english_is_not_wanted_in_another_language_either() -> None:
    query = asked("把 the file 发送到 the channel 上吧谢谢")
    assert query.language == "zh"
    assert surely(query) == ["file", "send", "channel"]


def test_the_surest_readings_are_the_stems_of_a_query() -> None:
    assert asked("create issues", synonyms=False).stems == {"creat", "issu"}
    assert asked("удали файл").stems == {"delet", "file"}


@pytest.mark.parametrize(
    "text",
    [
        "create issue " * 8_000,
        "lösche die Datei und das " * 4_000,
        "删除文件" * 25_000,
        "파일을 삭제해줘 " * 10_000,
        "get rid of it " * 7_000,
        "isseu listpods wether " * 5_000,
        "x" * 100_000,
        "lösche bitte die Datei " + "x" * 10_000,
        "\ufdfa" * 10_000,
        "don't " * 20_000,
        " " * 100_000,
        "\ud800" * 100_000,
    ],
)
def test_a_hundred_kilobytes_are_read_like_their_first_page(text: str) -> None:
    query = asked(text)
    assert sum(want.weight == 1 for want in query.wanted) <= MOST_WORDS
    assert len(query.wanted) <= 20 * MOST_WORDS
    assert query == asked(text[:2_000])


@quick(200)
@given(
    text=any_text | st.text(max_size=80) | st.lists(st.sampled_from(TOOLS.split())).map(" ".join)
)
def test_whatever_is_asked_every_word_has_readings_with_a_weight(text: str) -> None:
    query = asked(text)
    assert isinstance(query.text, str)
    for want in query.wanted:
        assert want.said
        assert want.readings
        assert 0 < want.weight <= 1
        assert all(found and 0 < weight <= 1 for found, weight in want.readings)


@quick(100)
@given(text=any_text | st.lists(st.sampled_from(TOOLS.split())).map(" ".join))
def test_space_around_and_between_words_changes_nothing(text: str) -> None:
    assert asked("  \n" + "\t ".join(text.split(" ")) + "\n") == asked(text)
