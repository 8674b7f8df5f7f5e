"""A list for each session, and notes that outlive them."""

import multiprocessing
from pathlib import Path

import anyio
import pytest

from tests.agent.core.disk import put, text
from tooldrawer import Drawer, Grants, Session
from tooldrawer.agent.core import CoreTools, Workplace
from tooldrawer.agent.core.notes import Notes

pytestmark = pytest.mark.anyio

ITEMS = [
    {"text": "read", "status": "done"},
    {"text": "write", "status": "doing"},
    {"text": "test", "status": "pending"},
]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The file of the session's notes."""
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes" / "memory.md"


async def remember(session: Session, action: str, note: str | None = None) -> str:
    return (await session.call("memory", {"action": action, "text": note})).text


async def test_a_list_is_kept_and_replaced_as_a_whole(session: Session) -> None:
    assert (await session.call("todo", {})).text == "[empty]"
    shown = await session.call("todo", {"items": ITEMS})
    assert shown.text == "[x] read\n[>] write\n[ ] test"
    assert (await session.call("todo")).text == shown.text
    assert (await session.call("todo", {"items": []})).text == "[empty]"


async def test_each_session_has_its_own_list(workplace: Workplace, grants: Grants) -> None:
    drawer = Drawer([CoreTools(workplace)], grants=grants)
    one, other = drawer.session("one"), drawer.session("other")
    await one.call("todo", {"items": ITEMS[:1]})
    assert (await other.call("todo")).text == "[empty]"
    assert (await one.call("todo")).text == "[x] read"


async def test_the_lists_of_sessions_long_quiet_are_forgotten(
    workplace: Workplace, grants: Grants
) -> None:
    drawer = Drawer([CoreTools(workplace)], grants=grants)
    first = drawer.session("first")
    await first.call("todo", {"items": ITEMS})
    for number in range(1_000):
        await drawer.session(f"s{number}").call("todo", {"items": ITEMS})
    assert (await first.call("todo")).text == "[empty]"


@pytest.mark.parametrize(
    "items",
    [
        [{"text": "x", "status": "perhaps"}],
        [{"text": "", "status": "done"}],
        [{"text": "x" * 501, "status": "done"}],
        [{"status": "done"}],
        [{"text": "x", "status": "done"}] * 51,
        "not a list",
    ],
)
async def test_a_list_that_cannot_be_kept_leaves_the_old_one(
    session: Session, items: object
) -> None:
    await session.call("todo", {"items": ITEMS[:1]})
    assert (await session.call("todo", {"items": items})).is_error  # pyright: ignore[reportArgumentType]
    assert (await session.call("todo")).text == "[x] read"


async def test_notes_are_added_read_and_removed(session: Session, notes: Path) -> None:
    assert await remember(session, "read") == "[no notes yet]\n" + NULL_NOTE
    assert (await remember(session, "add", "likes\n  tea")).startswith("Noted. 12 bytes")
    await remember(session, "add", "likes toast")
    assert text(notes) == "- likes tea\n- likes toast\n"
    assert (await remember(session, "remove", "toast")).startswith("Removed.")
    assert text(notes) == "- likes tea\n"


NULL_NOTE = "[The arguments were repaired before the call: /text: null left out.]"


async def test_what_a_person_wrote_into_the_notes_stays(session: Session, notes: Path) -> None:
    put(notes, "# Mine\n\nlikes nothing\n- old")
    await remember(session, "add", "new")
    await remember(session, "remove", "old")
    assert text(notes) == "# Mine\n\nlikes nothing\n- new\n"
    assert "No note has that text" in await remember(session, "remove", "likes nothing")


async def test_a_note_is_removed_only_when_it_is_clear_which(session: Session, notes: Path) -> None:
    for note in ("tea", "green tea", "black tea"):
        await remember(session, "add", note)
    assert "3 notes have that text" in await remember(session, "remove", "e")
    assert (await remember(session, "remove", "- tea")).startswith("Removed.")
    assert text(notes) == "- green tea\n- black tea\n"


async def test_notes_stay_small(session: Session, notes: Path) -> None:
    await remember(session, "add", "x" * 15_000)
    assert "more than 16,000 bytes" in await remember(session, "add", "y" * 2_000)
    assert len(text(notes)) < 16_000


@pytest.mark.parametrize(
    ("action", "note"), [("add", " "), ("remove", None), ("add", "\ud800"), ("forget", "x")]
)
async def test_a_note_that_is_none_changes_nothing(
    session: Session, notes: Path, action: str, note: str | None
) -> None:
    await remember(session, "add", "kept")
    result = await session.call("memory", {"action": action, "text": note})
    assert result.is_error
    assert text(notes) == "- kept\n"


async def test_notes_that_are_no_text_are_left_alone(session: Session, notes: Path) -> None:
    put(notes, b"caf\xe9")
    assert "Tell the user to repair the file" in await remember(session, "add", "x")
    notes_after = await anyio.Path(notes).read_bytes()
    assert notes_after == b"caf\xe9"


async def test_notes_where_a_folder_stands_are_refused(session: Session, notes: Path) -> None:
    await anyio.Path(notes).mkdir()
    result = await session.call("memory", {"action": "add", "text": "x"})
    assert result.is_error


async def test_notes_of_one_turn_are_all_kept(session: Session, notes: Path) -> None:
    await session.call_all(
        ("memory", {"action": "add", "text": f"note {number}"}) for number in range(20)
    )
    assert len(text(notes).splitlines()) == 20


def _add(path: Path, name: str) -> None:
    for number in range(20):
        Notes(path).memory("add", f"{name} {number}")


def test_notes_of_two_processes_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add, args=(path, name)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 40


async def test_of_notes_too_long_to_be_read_nothing_is_lost(session: Session, notes: Path) -> None:
    content = f"- first\n{'x' * 70_000}\n- last\n"
    put(notes, content)
    assert "Tell the user to shorten the file" in await remember(session, "remove", "first")
    assert text(notes) == content
