"""What was said before is found again, by any words, and without its secrets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.conversations.parts import bridged, call, exchange, returned
from tests.properties.strategies import any_text, quick
from tooldrawer.activity import Masker
from tooldrawer.agent import database
from tooldrawer.agent.conversations import Conversations
from tooldrawer.agent.core import Past
from tooldrawer.call import ToolResult
from tooldrawer.wire.message import Answered, Asked, Message, Reply, Returned, Said, Summary

TOKEN = "ghp_" + "a1B2" * 9


def without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a SQLite that was built without it: the module's name is nobody's."""
    statement = vars(database)["_INDEX"].replace("fts5", "fts_of_nobody")
    monkeypatch.setattr(database, "_INDEX", statement)


@pytest.fixture(params=["with FTS5", "without FTS5"])
def kept(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Conversations:
    if request.param == "without FTS5":
        without_fts5(monkeypatch)
    return Conversations(tmp_path / "conversations.db")


def begin(kept: Conversations, *messages: Message, scope: str = "") -> str:
    name = kept.start(model="claude", cwd="/home", scope=scope)
    for message in messages:
        kept.append(name, message)
    return name


def texts(kept: Conversations, query: str, limit: int = 5) -> list[str]:
    return [passage.text for passage in kept.search(query, limit)]


def test_people_models_and_tools_are_found(kept: Conversations) -> None:
    past: Past = kept
    asked = bridged("mcp_wiki_read_page", {"id": 7})
    name = begin(
        kept,
        Said(text="Where is the zebra?"),
        Answered(text="I look for the zebra.", calls=(asked,)),
        returned(asked, "The zebra stands in the meadow."),
    )
    found = {passage.who: passage for passage in past.search("zebra", 5)}
    assert set(found) == {"user", "assistant", "mcp_wiki_read_page"}
    assert found["user"].text == "Where is the zebra?"
    assert "meadow" in found["mcp_wiki_read_page"].text
    assert {passage.session for passage in found.values()} == {name}
    assert found["user"].when == pytest.approx(kept.info(name).started, abs=60)


def test_the_best_is_first_and_the_limit_holds(kept: Conversations) -> None:
    begin(kept, *(Said(text=f"apple number {number}") for number in range(9)))
    begin(kept, Said(text="apple and pear"))
    begin(kept, Said(text="pear of the apple"), Said(text="a plum"))
    assert set(texts(kept, "apple pear", 2)) == {"apple and pear", "pear of the apple"}
    assert len(kept.search("apple", 3)) == 3
    assert kept.search("apple", 0) == []
    assert kept.search("apple", -1) == []


def test_a_call_is_found_by_what_it_was_made_with(kept: Conversations) -> None:
    asked = call("terminal", {"command": "docker compose restart"})
    begin(kept, Answered(calls=(asked,)), returned(asked, "done"))
    assert "docker compose restart" in texts(kept, "compose")[0]


def test_searches_for_tools_and_in_the_past_are_not_found(kept: Conversations) -> None:
    for asked in (
        call("tool_search", {"query": "zebra"}),
        call("tool_describe", {"name": "zebra"}),
        call("session_search", {"query": "zebra"}),
        Asked(name="anything", native=True),
    ):
        begin(kept, Answered(calls=(asked,)), returned(asked, "zebra"))
    begin(kept, Summary(text="zebra"))
    assert kept.search("zebra", 5) == []


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("we deployed it in the night", "deployed"),
        ("Größe ändern", "größe"),
        ("ЗЕБРА в поле", "зебра"),
        ("日本語の文書", "文書"),
        ("ship it 🎉 now", "🎉"),
        ("the column is created_at", "created_at"),
        ("see https://example.org/a?b=c", "example.org/a?b=c"),
        ("a NEAR(b) OR c", "NEAR OR AND NOT"),
        ('he said "stop" twice', '"stop'),
        ("half \ud83d of it", "half"),
        ("before\0after", "after"),
        ("100% sure_thing", "100%"),
    ],
)
def test_odd_words_are_found(kept: Conversations, said: str, query: str) -> None:
    begin(kept, Said(text="something else"), Said(text=said))
    assert len(kept.search(query, 5)) == 1


def test_forms_of_a_word_are_found(tmp_path: Path) -> None:
    kept = Conversations(tmp_path / "conversations.db")
    begin(kept, Said(text="we deployed it in the night"))
    assert kept.search("deploying nightly cafés", 5)


@quick(60)
@given(query=any_text | st.text('"*^():-+ NEARORANDT{}', max_size=12), limit=st.integers(-2, 50))
def test_no_query_breaks_anything(
    tmp_path_factory: pytest.TempPathFactory, query: str, limit: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "searched"
    kept = Conversations(folder / "conversations.db")
    if not kept.recent(1):
        begin(kept, Said(text="a NEAR b"), Answered(text="x AND y"))
    assert len(kept.search(query, limit)) <= max(limit, 0)


def test_nothing_is_found_by_nothing(kept: Conversations) -> None:
    begin(kept, Said(text="a"))
    assert kept.search("", 5) == []
    assert kept.search(" \n", 5) == []


def test_secrets_are_kept_in_messages_and_masked_in_what_is_found(kept: Conversations) -> None:
    asked = call("login", {"password": "hunter2", "place": "zebra"})
    said = Said(text=f"zebra: my token is {TOKEN}")
    result = returned(asked, f'zebra {{"api_key": "hunter3"}} {TOKEN}')
    name = begin(kept, said, Answered(calls=(asked,)), result)
    assert kept.load(name) == (said, Answered(calls=(asked,)), result)
    shown = "\n".join([*texts(kept, "zebra"), kept.info(name).title])
    assert shown.count("zebra") == 4
    for secret in (TOKEN, "hunter2", "hunter3"):
        assert secret not in shown
        assert kept.search(secret, 5) == []


def test_a_secret_at_the_end_of_what_is_indexed_is_masked_too(kept: Conversations) -> None:
    begin(kept, Said(text="zebra " + "x " * 1_985 + TOKEN + " y" * 3_000))
    (found,) = kept.search("ghp", 5) or kept.search("zebra", 5)
    assert "ghp_" not in found.text
    assert not kept.search("ghp_a1B2", 5)


def test_patterns_of_the_configuration_are_masked(tmp_path: Path) -> None:
    kept = Conversations(tmp_path / "conversations.db", masker=Masker([r"ACME-\d+"]))
    begin(kept, Said(text="zebra ACME-1234"))
    assert texts(kept, "zebra") == ["zebra ***"]


def test_long_passages_are_shown_around_what_was_found(kept: Conversations) -> None:
    begin(kept, *exchange("read_file", "word " * 500 + "zebra " + "word " * 100))
    (found,) = kept.search("zebra", 5)
    assert "zebra" in found.text
    assert len(found.text) < 1_000


def test_what_comes_late_in_a_long_result_is_not_searched(kept: Conversations) -> None:
    begin(kept, *exchange("read_file", "word " * 2_000 + "zebra"))
    assert kept.search("zebra", 5) == []


def test_a_search_can_be_kept_to_a_scope_and_leave_out_its_own_conversation(
    kept: Conversations,
) -> None:
    begin(kept, Said(text="zebra of all"))
    begin(kept, Said(text="zebra of triage"), scope="triage")
    itself = begin(kept, Said(text="zebra?"), scope="triage")
    found = kept.search("zebra", 5, scope="triage", besides=itself)
    assert [passage.text for passage in found] == ["zebra of triage"]


def test_what_was_kept_without_fts5_is_in_the_index_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conversations.db"
    with monkeypatch.context() as patch:
        without_fts5(patch)
        name = begin(Conversations(path), Said(text="we deployed the zebra"))
    kept = Conversations(path)
    assert texts(kept, "deploying") == ["we deployed the zebra"]
    kept.append(name, Said(text="and the lion"))
    assert texts(Conversations(path), "lions") == ["and the lion"]


def test_pictures_are_found_by_what_stands_for_them(kept: Conversations) -> None:
    asked = call("screenshot")
    picture = ToolResult(content=({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "x"},))
    begin(kept, Answered(calls=(asked,)), Returned(replies=(Reply(call=asked, result=picture),)))
    assert texts(kept, "image/png") == ["[image, image/png, 8 bytes]"]
