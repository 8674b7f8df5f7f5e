"""The notebook of the demo does what its tools say."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from tooldrawer.demo.notes import NoteDraft, Notes, toolset


def ticking_notes() -> Notes:
    minutes = count()
    start = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    return Notes(now=lambda: start + timedelta(minutes=next(minutes)))


def test_a_created_note_is_shown_with_clean_tags_and_the_time_of_the_clock() -> None:
    notes = ticking_notes()
    made = notes.create_note("  Groceries ", "Milk", ["Home", "home ", "food"])
    assert made.title == "Groceries"
    assert made.tags == ("home", "food")
    assert made.created == "2026-03-02T09:00:00+00:00"
    assert notes.show_note(made.note_id) == made


def test_pinned_notes_come_first_and_archived_notes_are_left_out() -> None:
    notes = ticking_notes()
    for title in ("old", "middle", "new"):
        notes.create_note(title)
    notes.pin_note(1)
    notes.archive_note(2)
    assert [note.title for note in notes.list_notes()] == ["old", "new"]
    assert [note.note_id for note in notes.list_notes(include_archived=True)] == [1, 2, 3]
    notes.pin_note(1, pinned=False)
    notes.restore_note(2)
    titles = [note.title for note in notes.list_notes(sort_by="title")]
    assert titles == ["middle", "new", "old"]


def test_a_search_needs_every_word_and_puts_title_hits_first() -> None:
    notes = ticking_notes()
    notes.create_note("Trip", "Book the night train to Vienna")
    notes.create_note("Vienna", "Which train?")
    notes.create_note("Cakes", "From Vienna")
    hits = notes.search_notes("VIENNA train")
    assert [hit.note_id for hit in hits] == [2, 1]
    assert hits[1].excerpt == "Book the night train to Vienna"


def test_text_is_appended_in_the_wanted_style() -> None:
    notes = ticking_notes()
    notes.create_note("List")
    notes.append_to_note(1, "Things to do")
    notes.append_to_note(1, "call Ana", "task")
    assert notes.append_to_note(1, "or write", "bullet").body == (
        "Things to do\n- [ ] call Ana\n- or write"
    )


def test_tags_are_counted_and_taken_off() -> None:
    notes = ticking_notes()
    notes.import_notes([NoteDraft(title="One", tags=("a",)), NoteDraft(title="Two", tags=("a",))])
    notes.tag_note(2, ["b"])
    assert notes.list_note_tags() == {"a": 2, "b": 1}
    assert notes.untag_note(2, ["A"]).tags == ("b",)
    with pytest.raises(ValueError, match=r"has no tag 'a'\. Its tags: b"):
        notes.untag_note(2, ["a"])


def test_an_import_with_one_wrong_draft_writes_nothing() -> None:
    notes = ticking_notes()
    with pytest.raises(ValueError, match="title is empty"):
        notes.import_notes([NoteDraft(title="Fine"), NoteDraft(title=" ")])
    assert notes.list_notes() == []


def test_deleting_a_note_takes_the_links_to_it_along() -> None:
    notes = ticking_notes()
    for title in ("Plan", "Budget"):
        notes.create_note(title)
    notes.link_notes(1, 2)
    notes.link_notes(1, 2)
    assert notes.list_note_links(1).links_to == ["2: Budget"]
    assert notes.list_note_links(2).linked_from == ["1: Plan"]
    assert notes.delete_note(2) == "Deleted note 2: Budget."
    assert notes.list_note_links(1).links_to == []


def test_merged_notes_become_one_and_go_into_the_archive() -> None:
    notes = ticking_notes()
    notes.create_note("A", "first", ["x"])
    notes.create_note("B", "second", ["y"])
    merged = notes.merge_notes([2, 1], "Both")
    assert merged.body == "## B\n\nsecond\n\n## A\n\nfirst"
    assert merged.tags == ("y", "x")
    assert [note.title for note in notes.list_notes()] == ["Both"]


def test_an_export_is_markdown_in_the_order_of_the_numbers() -> None:
    notes = ticking_notes()
    notes.create_note("One", "Text", ["work"])
    notes.create_note("Two")
    notes.edit_note(1, title="First")
    assert notes.export_notes() == "# First\n\n#work\n\nText\n\n# Two\n"
    with pytest.raises(ValueError, match="nothing to export"):
        notes.export_notes(tag="absent")


def test_an_unknown_number_names_the_tool_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"There is no note 7\. List them with list_notes\."):
        ticking_notes().edit_note(7, title="New")


def test_changes_made_at_the_same_time_are_all_kept() -> None:
    notes = Notes()
    notes.create_note("Busy")
    with ThreadPoolExecutor(8) as threads:
        for number in range(200):
            threads.submit(notes.tag_note, 1, [f"tag{number}"])
    assert len(notes.show_note(1).tags) == 200


def test_every_tool_says_what_it_does_and_only_deleting_destroys() -> None:
    tools = toolset(Notes()).tools()
    assert len(tools) == 18
    assert all(tool.description for tool in tools)
    destructive = [tool.name for tool in tools if tool.annotations.get("destructiveHint")]
    assert destructive == ["delete_note"]
