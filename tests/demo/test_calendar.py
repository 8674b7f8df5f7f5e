"""The calendar of the demo does what its tools say."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tooldrawer.demo.calendar import Calendar, toolset

MONDAY = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def monday_calendar() -> Calendar:
    calendar = Calendar(now=lambda: MONDAY)
    calendar.create_event("Standup", "2026-03-02T09:00", 30, guests=["Ana@example.org"])
    calendar.create_event("Review", "2026-03-02T10:00", 90, "Room 4")
    return calendar


def test_times_without_an_offset_are_in_the_zone_of_the_calendar() -> None:
    calendar = Calendar(zone=ZoneInfo("Europe/Vienna"))
    local = calendar.create_event("Lunch", "2026-07-01T12:00")
    elsewhere = calendar.create_event("Call", "2026-07-01T12:00Z")
    assert local.start.isoformat() == "2026-07-01T12:00:00+02:00"
    assert elsewhere.start.isoformat() == "2026-07-01T14:00:00+02:00"


def test_the_agenda_of_a_day_has_a_line_for_each_event() -> None:
    calendar = monday_calendar()
    assert calendar.show_agenda("2026-03-02") == (
        "Monday 2026-03-02\n09:00-09:30 Standup (event 1)\n10:00-11:30 Review (event 2)"
    )
    assert calendar.show_agenda("2026-03-03") == "Tuesday 2026-03-03\nNo events."


def test_events_are_found_by_period_guest_and_words() -> None:
    calendar = monday_calendar()
    day = ("2026-03-02", "2026-03-03")
    assert [event.title for event in calendar.list_events(*day)] == ["Standup", "Review"]
    assert [event.title for event in calendar.list_events(*day, "ana@example.org")] == ["Standup"]
    assert [event.title for event in calendar.search_events("room REVIEW")] == ["Review"]
    assert calendar.list_events("2026-03-02T09:30", "2026-03-02T10:00") == []


def test_the_first_free_slot_lies_between_events_and_within_working_hours() -> None:
    calendar = monday_calendar()
    assert calendar.find_free_slot("2026-03-02T08:00", 30).start == MONDAY.replace(
        hour=9, minute=30
    )
    assert calendar.find_free_slot("2026-03-02T08:00", 60).start == MONDAY.replace(
        hour=11, minute=30
    )
    assert calendar.find_free_slot("2026-03-06T16:30", 60).start == MONDAY.replace(day=9, hour=9)
    with pytest.raises(ValueError, match="No slot is free"):
        calendar.find_free_slot("2026-03-02", 9 * 60)


def test_a_moved_event_keeps_its_length_unless_told_otherwise() -> None:
    calendar = monday_calendar()
    moved = calendar.move_event(2, "2026-03-03T15:00")
    assert moved.end.isoformat() == "2026-03-03T16:30:00+00:00"
    resized = calendar.move_event(2, "2026-03-03T15:00", 15)
    assert resized.end.isoformat() == "2026-03-03T15:15:00+00:00"


def test_a_cancelled_event_takes_up_no_time_and_stays_on_record() -> None:
    calendar = monday_calendar()
    calendar.move_event(1, "2026-03-02T10:30")
    pairs = calendar.find_conflicts("2026-03-02", "2026-03-03")
    assert [[event.event_id for event in pair] for pair in pairs] == [[2, 1]]
    calendar.cancel_event(1)
    assert calendar.find_conflicts("2026-03-02", "2026-03-03") == []
    assert calendar.show_event(1).cancelled
    assert calendar.delete_event(1) == "Deleted event 1: Standup."
    with pytest.raises(ValueError, match="There is no event 1"):
        calendar.show_event(1)


def test_weekly_copies_keep_the_hour_and_the_guests() -> None:
    calendar = monday_calendar()
    copies = calendar.repeat_event_weekly(1, 2)
    assert [event.start.isoformat() for event in copies] == [
        "2026-03-09T09:00:00+00:00",
        "2026-03-16T09:00:00+00:00",
    ]
    assert copies[1].guests == {"ana@example.org": "invited"}
    with pytest.raises(ValueError, match="from 1 to 52"):
        calendar.repeat_event_weekly(1, 53)


def test_inviting_a_guest_again_keeps_the_answer() -> None:
    calendar = monday_calendar()
    calendar.answer_invitation(1, "ana@example.org", "accepted")
    event = calendar.invite_guests(1, ["ana@example.org", "bo@example.org"])
    assert event.guests == {"ana@example.org": "accepted", "bo@example.org": "invited"}
    with pytest.raises(ValueError, match="is not invited to event 2"):
        calendar.answer_invitation(2, "ana@example.org", "declined")


def test_reminders_that_ring_soon_are_listed_by_the_clock() -> None:
    calendar = monday_calendar()
    calendar.add_reminder(1, 15)
    calendar.add_reminder(2, 90)
    calendar.add_reminder(2, 5)
    assert calendar.list_due_reminders(60) == [
        "2026-03-02T08:30+00:00: Review (event 2) starts 2026-03-02T10:00+00:00",
        "2026-03-02T08:45+00:00: Standup (event 1) starts 2026-03-02T09:00+00:00",
    ]


@pytest.mark.parametrize("start", ["tomorrow", "", "2026-13-01", "9999-12-31T23:59", "0001-01-01Z"])
def test_a_time_that_cannot_be_used_is_refused(start: str) -> None:
    with pytest.raises(ValueError, match=r"ISO 8601|out of range"):
        monday_calendar().create_event("Someday", start)


@pytest.mark.parametrize("minutes", [0, -5, 10**30])
def test_a_length_beyond_a_week_or_below_a_minute_is_refused(minutes: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 10080"):
        monday_calendar().create_event("Odd", "2026-03-02", minutes)


def test_every_tool_says_what_it_does_and_only_calling_off_destroys() -> None:
    tools = toolset(Calendar()).tools()
    assert len(tools) == 15
    assert all(tool.description for tool in tools)
    destructive = [tool.name for tool in tools if tool.annotations.get("destructiveHint")]
    assert destructive == ["cancel_event", "delete_event"]
