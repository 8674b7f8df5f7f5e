"""A session that searches before the vectors of its tools are there."""

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.fakes import ScriptedToolset
from tests.search.embedders import Bag, Broken, Held
from tests.search.town import TOWN
from tooldrawer import Drawer, Grants, Session
from tooldrawer.search import embedder


@pytest.fixture
def hasty(patience: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who searches waits for vectors for a second only, as outside of tests."""
    monkeypatch.setitem(patience, "patience", 1.0)


@pytest.fixture
def session(grants: Grants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A fresh one; nothing of its tools is known, not even on disk."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Drawer([ScriptedToolset("town", TOWN)], grants=grants).session()


async def searched(session: Session, query: str = "renew the loan of a book") -> dict[str, Any]:
    result = await session.call("tool_search", {"query": query})
    assert not result.is_error
    return json.loads(result.text)


def use(made: Bag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "shipped", lambda: made)


@pytest.mark.anyio
async def test_the_event_loop_goes_on_while_vectors_are_made_and_the_reply_says_so(
    hasty: None, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held()
    use(held, monkeypatch)
    ticks = 0
    replies: list[dict[str, Any]] = []

    async def search() -> None:
        replies.append(await searched(session))

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(search)
            while not replies:
                ticks += 1
                await anyio.lowlevel.checkpoint()
    finally:
        held.let_go.set()
    # Had the search held the loop, there would have been a turn or two before it and none after.
    assert ticks > 100
    assert replies[0]["matches"][0]["name"].endswith("renew_loan")
    assert "of 40 tools have been read" in replies[0]["note"]
    assert replies[0]["note"].endswith(".")


@pytest.mark.anyio
async def test_once_vectors_are_there_nothing_is_noted(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(Bag(), monkeypatch)
    reply = await searched(session)
    assert reply["matches"][0]["name"].endswith("renew_loan")
    assert "note" not in reply


@pytest.mark.anyio
async def test_when_there_will_be_no_vectors_words_answer_and_the_reply_says_why(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(Broken(), monkeypatch)
    reply = await searched(session)
    assert reply["matches"][0]["name"].endswith("renew_loan")
    assert "search by meaning is off" in reply["note"]
    assert "no ink" in reply["note"]


@pytest.mark.anyio
async def test_a_reply_without_matches_has_the_note_too(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(Broken(), monkeypatch)
    reply = await searched(session, "zzzz")
    assert reply["matches"] == []
    assert reply["note"]
