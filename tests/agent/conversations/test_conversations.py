"""Conversations are kept as they were, found again, and gone on with."""

import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.conversations.parts import (
    ISSUE,
    bridged,
    call,
    every_field,
    exchange,
    messages,
    returned,
)
from tests.properties.strategies import quick
from tests.requirements import requirement
from tooldrawer.agent.conversations import Conversations, Info
from tooldrawer.errors import ToolDrawerError
from tooldrawer.wire.message import Answered, Message, Returned, Said, Summary

NOON = 1_784_894_400.0
"""2026-07-24 12:00 UTC."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "conversations.db"


@pytest.fixture
def kept(path: Path) -> Conversations:
    seconds: Iterator[int] = count()
    return Conversations(path, clock=lambda: NOON + next(seconds))


def begin(kept: Conversations, *said: str, cwd: str = "/home", parent: str | None = None) -> str:
    made = kept.start(model="claude", cwd=cwd, scope="triage", parent=parent)
    for text in said:
        kept.append(made, Said(text=text))
    return made


def test_messages_come_back_in_their_order(kept: Conversations, path: Path) -> None:
    name = begin(kept)
    for message in every_field():
        kept.append(name, message)
    assert Conversations(path).load(name) == every_field()


@quick(25)
@given(st.lists(messages(), max_size=6))
def test_whatever_is_said_can_be_kept(
    tmp_path_factory: pytest.TempPathFactory, said: list[Message]
) -> None:
    kept = Conversations(tmp_path_factory.mktemp("any") / "conversations.db")
    name = begin(kept, "hello")
    for message in said:
        kept.append(name, message)
    loaded = list(map(repr, kept.load(name)))
    expected = [repr(message) for message in said if not isinstance(message, Returned)]
    assert [text for text in loaded[1:] if not text.startswith("Returned")] == expected


def test_a_conversation_can_be_listed_without_being_read(kept: Conversations) -> None:
    name = begin(kept, "Find the   bug in the parser, please, and tell me why it " + "was " * 20)
    kept.append(name, Answered(text="Here it is."))
    kept.append(name, Said(text="Thank you"))
    assert kept.info(name) == Info(
        id=name,
        started=NOON,
        last=NOON + 5,
        model="claude",
        cwd="/home",
        scope="triage",
        title="Find the bug in the parser, please, and tell me why it was…",
        turns=2,
        parent=None,
    )


def test_an_id_can_be_typed_and_later_ones_sort_after(path: Path) -> None:
    now = NOON
    kept = Conversations(path, clock=lambda: now)
    names = [begin(kept) for _ in range(3)]
    now += 1
    names.append(begin(kept))
    now += 50_000
    names.append(begin(kept))
    assert names == sorted(set(names))
    assert all(len(name) == len("260724-kqzt") for name in names)
    assert names[0].startswith("260724-")
    assert names[-1].startswith("260725-")


def test_a_conversation_is_found_by_the_beginning_of_its_id_or_of_its_letters(path: Path) -> None:
    now = NOON
    kept = Conversations(path, clock=lambda: now)
    first = begin(kept)
    now += 30_000
    second = begin(kept)
    assert first[7] != second[7]
    assert kept.find(first).id == first
    assert kept.find(f" {first[:8].upper()}\n").id == first
    assert kept.find(second[7:]).id == second
    assert kept.find(second[7]).id == second


def test_a_beginning_of_several_lists_them(kept: Conversations) -> None:
    names = [begin(kept, f"task {number}") for number in range(7)]
    with pytest.raises(ToolDrawerError) as caught:
        kept.find("2607")
    assert str(caught.value).startswith("7 conversations begin with '2607'; give more letters.")
    assert f"{names[-1]}  task 6" in str(caught.value)
    assert names[0] not in str(caught.value)


@pytest.mark.parametrize("wanted", ["260724-qqqq", "nothing", "%", "'; DROP TABLE", "\ud800", ""])
def test_an_unknown_id_lists_the_nearest(kept: Conversations, wanted: str) -> None:
    with pytest.raises(ToolDrawerError, match="None was kept so far"):
        kept.find(wanted)
    begin(kept, "one")
    name = begin(kept, "two")
    for look in (kept.find, kept.load, kept.info):
        with pytest.raises(ToolDrawerError, match=f"{name}  two"):
            look(wanted)
    with pytest.raises(ToolDrawerError, match="no conversation"):
        kept.append(wanted, Said(text="lost"))
    with pytest.raises(ToolDrawerError, match="no conversation"):
        kept.compacted(wanted, Summary(text="lost"), replaces=1)


def test_the_latest_of_a_folder_is_the_one_used_last(kept: Conversations) -> None:
    older = begin(kept, "older", cwd="/work")
    newer = begin(kept, "newer", cwd="/work")
    elsewhere = begin(kept, "elsewhere", cwd="/odd \udcff folder")
    kept.append(older, Answered(text="done"))
    assert [info.id for info in kept.recent(10)] == [older, elsewhere, newer]
    assert [info.id for info in kept.recent(10, cwd="/work")] == [older, newer]
    assert [info.id for info in kept.recent(1)] == [older]
    assert kept.recent(0) == []
    latest, odd = kept.latest("/work"), kept.latest("/odd \udcff folder")
    assert latest is not None
    assert latest.id == older
    assert odd is not None
    assert odd.id == elsewhere
    assert kept.latest("/nowhere") is None


def test_what_a_person_did_not_say_a_word_in_is_not_offered(kept: Conversations) -> None:
    parent = begin(kept, "task", cwd="/work")
    child = begin(kept, "subtask", cwd="/work", parent=parent)
    begin(kept, cwd="/work")
    assert [info.id for info in kept.recent(10)] == [parent]
    assert kept.find(child).parent == parent


@requirement("CACHE-3")
def test_what_is_in_a_conversation_is_the_same_whenever_it_is_loaded(kept: Conversations) -> None:
    name = begin(kept)
    before: tuple[Message, ...] = ()
    for message in (Said(text="a"), *exchange("read_file", "b"), Answered(text="c")):
        kept.append(name, message)
        loaded = kept.load(name)
        if isinstance(message, Answered) and message.calls:
            continue  # mended at its end, until its results are there
        assert loaded[: len(before)] == before
        before = loaded
    assert len(before) == 4


def test_calls_that_never_ended_are_answered(kept: Conversations) -> None:
    name = begin(kept, "delete it")
    first, second = bridged("delete_note", number=1), call("terminal", number=2)
    kept.append(name, Answered(calls=(first, second)))
    last = kept.load(name)[-1]
    assert isinstance(last, Returned)
    assert [reply.call for reply in last.replies] == [first, second]
    assert [reply.result.call_id for reply in last.replies] == ["call_1", "call_2"]
    assert all(reply.result.is_error for reply in last.replies)
    assert "Whether it took effect is not known" in last.replies[0].result.text


def test_a_mended_conversation_stays_as_it_was_when_it_goes_on(kept: Conversations) -> None:
    name = begin(kept, "delete it")
    kept.append(name, Answered(calls=(call("delete_note"),)))
    mended = kept.load(name)
    kept.append(name, Said(text="Did you?"))
    kept.append(name, Answered(text="I do not know."))
    assert kept.load(name) == (*mended, Said(text="Did you?"), Answered(text="I do not know."))
    kept.compacted(name, Summary(text="It is unclear."), replaces=len(mended))
    assert kept.load(name) == (
        Summary(text="It is unclear."), Said(text="Did you?"), Answered(text="I do not know."),
    )  # fmt: skip


def test_loading_a_running_conversation_does_not_disturb_it(kept: Conversations) -> None:
    name = begin(kept, "read it")
    asked, result = exchange("read_file", "text")
    kept.append(name, asked)
    kept.load(name)
    kept.append(name, result)
    assert kept.load(name) == (Said(text="read it"), asked, result)


def test_results_that_nobody_waits_for_any_more_are_left_out(kept: Conversations) -> None:
    name = begin(kept, "read it")
    asked, result = exchange("read_file", "text")
    for message in (asked, Said(text="from another terminal"), result):
        kept.append(name, message)
    loaded = kept.load(name)
    assert [type(message) for message in loaded] == [Said, Answered, Returned, Said]
    assert result not in loaded


def test_each_result_stands_with_its_call_when_two_programs_went_on_at_once(
    kept: Conversations,
) -> None:
    name = begin(kept, "go")
    (asked, came), (other_asked, other_came) = exchange("a", "1"), exchange("b", "2", number=2)
    for message in (asked, other_asked, came, other_came, Said(text="and now?")):
        kept.append(name, message)
    loaded = kept.load(name)
    assert loaded[1] == asked
    assert isinstance(loaded[2], Returned)
    assert "Interrupted" in loaded[2].replies[0].result.text
    assert loaded[3:] == (other_asked, other_came, Said(text="and now?"))


def test_after_a_compaction_the_summary_stands_in_place_of_older_messages(
    kept: Conversations, path: Path
) -> None:
    name = begin(kept, "one", "two", "three")
    summary = Summary(text="one and two", tools=(ISSUE,))
    kept.compacted(name, summary, replaces=2)
    kept.append(name, Said(text="four"))
    assert Conversations(path).load(name) == (summary, Said(text="three"), Said(text="four"))
    assert kept.info(name).turns == 4
    assert kept.info(name).title == "one"
    assert [passage.text for passage in kept.search("one", 5)] == ["one"]


def test_a_summary_can_be_summed_up_again(kept: Conversations) -> None:
    name = begin(kept, "one", "two", "three")
    kept.compacted(name, Summary(text="1"), replaces=2)
    kept.compacted(name, Summary(text="1+"), replaces=1)
    assert kept.load(name) == (Summary(text="1+"), Said(text="three"))
    kept.append(name, Said(text="four"))
    kept.compacted(name, Summary(text="2"), replaces=3)
    assert kept.load(name) == (Summary(text="2"),)
    kept.append(name, Said(text="five"))
    assert kept.load(name) == (Summary(text="2"), Said(text="five"))


def test_a_summary_that_is_appended_is_a_message_like_others(kept: Conversations) -> None:
    name = begin(kept, "one")
    kept.append(name, Summary(text="of another conversation"))
    kept.append(name, Said(text="two"))
    kept.compacted(name, Summary(text="one"), replaces=1)
    assert kept.load(name) == (
        Summary(text="one"), Summary(text="of another conversation"), Said(text="two"),
    )  # fmt: skip


@pytest.mark.parametrize("replaces", [-1, 0, 3])
def test_no_more_can_be_replaced_than_there_is(kept: Conversations, replaces: int) -> None:
    name = begin(kept, "one", "two")
    with pytest.raises(ToolDrawerError, match=f"2 messages to go on with, so {replaces} cannot"):
        kept.compacted(name, Summary(text=""), replaces=replaces)
    assert len(kept.load(name)) == 2


def test_only_the_user_can_read_the_file(kept: Conversations, path: Path) -> None:
    begin(kept, "secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_could_read_is_closed_to_them(kept: Conversations, path: Path) -> None:
    name = begin(kept, "secret")
    path.chmod(0o644)
    kept.append(name, Said(text="more"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_conversations_are_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Conversations().path == tmp_path / "tooldrawer" / "conversations.db"
    assert list(tmp_path.iterdir()) == []


def test_results_are_kept_whole_however_long(kept: Conversations) -> None:
    name = begin(kept, "read it")
    asked = call("read_file", {"text": "x" * 1_000_000})
    kept.append(name, Answered(calls=(asked,)))
    kept.append(name, returned(asked, "y" * 1_000_000))
    last = kept.load(name)[-1]
    assert isinstance(last, Returned)
    assert len(last.replies[0].result.text) == 1_000_000
