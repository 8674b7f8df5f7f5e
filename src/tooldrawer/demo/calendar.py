"""A calendar kept in memory, with guests, reminders, weekly copies and free-slot search."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import combinations, count
from threading import Lock
from typing import Literal

from tooldrawer.functions import Function, FunctionToolset

Answer = Literal["invited", "accepted", "tentative", "declined"]

YEARS = range(1970, 2200)
LONGEST_MINUTES = 7 * 24 * 60
MOST_COPIES = 52
MOST_SEARCH_DAYS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event as it stands; a change makes a new record with the same number."""

    event_id: int
    title: str
    start: datetime
    end: datetime
    location: str = ""
    guests: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    reminders: tuple[int, ...] = ()
    """How many minutes before the start each of them rings."""
    cancelled: bool = False

    def overlaps(self, start: datetime, end: datetime) -> bool:
        """Tell whether the event takes up any of the time between start and end."""
        return not self.cancelled and self.start < end and start < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A stretch of time."""

    start: datetime
    end: datetime


class Calendar:
    """A calendar whose public methods are tools; a time without an offset is in its zone."""

    def __init__(
        self, now: Callable[[], datetime] = lambda: datetime.now(UTC), zone: tzinfo = UTC
    ) -> None:
        self._now = now
        self._zone = zone
        self._events: dict[int, Event] = {}
        self._ids = count(1)
        self._lock = Lock()

    def create_event(
        self,
        title: str,
        start: str,
        duration_minutes: int = 60,
        location: str = "",
        guests: list[str] | None = None,
    ) -> Event:
        """Put a new event into the calendar and return it with its number.

        Args:
            title: What the event is called; it must not be empty.
            start: When it starts, in ISO 8601, such as "2026-03-02T14:00".
            duration_minutes: How long it lasts, from a minute to a week.
            location: Where it takes place.
            guests: The e-mail addresses of those invited.
        """
        if not title.strip():
            raise ValueError("The title is empty: say what the event is called.")
        begin = self._time(start)
        event = Event(
            event_id=next(self._ids),
            title=title.strip(),
            start=begin,
            end=begin + _duration(duration_minutes),
            location=location,
            guests=_invited(guests or []),
        )
        return self._store(event)

    def show_event(self, event_id: int) -> Event:
        """Return one event with its times, guests and reminders.

        Args:
            event_id: The number of the event.
        """
        return self._event(event_id)

    def list_events(self, start: str, end: str, guest: str | None = None) -> list[Event]:
        """List the events between two times that are not cancelled, earliest first.

        Args:
            start: Where the period starts, in ISO 8601.
            end: Where the period ends, in ISO 8601; it is not part of the period.
            guest: Only events this e-mail address is invited to.
        """
        address = None if guest is None else _address(guest)
        return [
            event
            for event in self._between(start, end)
            if address is None or address in event.guests
        ]

    def search_events(self, query: str) -> list[Event]:
        """Find events, cancelled ones too, by words in the title, place or guests.

        Args:
            query: Words that must all occur, in any case.
        """
        words = query.lower().split()
        if not words:
            raise ValueError("The query is empty: give a word to look for, or use list_events.")
        return [
            event for event in self._sorted() if all(word in _searchable(event) for word in words)
        ]

    def show_agenda(self, day: str) -> str:
        """Return the agenda of one day as text, a line for each event.

        Args:
            day: The day, such as "2026-03-02".
        """
        midnight = datetime.combine(self._time(day).date(), time(), self._zone)
        events = [e for e in self._sorted() if e.overlaps(midnight, midnight + timedelta(days=1))]
        lines = [f"{e.start:%H:%M}-{e.end:%H:%M} {e.title} (event {e.event_id})" for e in events]
        return "\n".join([f"{midnight:%A %Y-%m-%d}", *(lines or ["No events."])])

    def find_conflicts(self, start: str, end: str) -> list[list[Event]]:
        """Return each pair of events within a period that overlap each other.

        Args:
            start: Where the period starts, in ISO 8601.
            end: Where the period ends, in ISO 8601.
        """
        return [
            [one, two]
            for one, two in combinations(self._between(start, end), 2)
            if one.overlaps(two.start, two.end)
        ]

    def find_free_slot(
        self,
        after: str,
        duration_minutes: int = 60,
        opening: str = "09:00",
        closing: str = "17:00",
        search_days: int = 14,
        *,
        skip_weekends: bool = True,
    ) -> Slot:
        """Find the earliest stretch of free time within working hours.

        Args:
            after: The earliest time the slot may start, in ISO 8601.
            duration_minutes: How long the slot has to be.
            opening: When the working day starts, such as "09:00".
            closing: When the working day ends, such as "17:00".
            search_days: How many days to look at, at most 60.
            skip_weekends: Whether Saturday and Sunday are left out.
        """
        earliest, length = self._time(after), _duration(duration_minutes)
        hours = (_hour(opening), _hour(closing))
        for offset in range(min(search_days, MOST_SEARCH_DAYS)):
            day = earliest.date() + timedelta(days=offset)
            if skip_weekends and day.weekday() >= 5:
                continue
            opens, closes = (datetime.combine(day, hour, self._zone) for hour in hours)
            found = self._first_gap(max(opens, earliest), length)
            if found + length <= closes:
                return Slot(start=found, end=found + length)
        raise ValueError("No slot is free. Try a shorter duration, longer hours or more days.")

    def list_due_reminders(self, within_minutes: int = 60) -> list[str]:
        """List the reminders that ring between now and some minutes from now, soonest first.

        Args:
            within_minutes: How far to look ahead, at most a week.
        """
        now = self._now().astimezone(self._zone)
        until = now + _duration(within_minutes)
        rings = [
            (event.start - timedelta(minutes=minutes), event)
            for event in self._sorted()
            for minutes in event.reminders
            if not event.cancelled
        ]
        return [
            f"{_text(moment)}: {event.title} (event {event.event_id}) starts {_text(event.start)}"
            for moment, event in sorted(rings, key=lambda ring: ring[0])
            if now <= moment <= until
        ]

    def move_event(self, event_id: int, start: str, duration_minutes: int | None = None) -> Event:
        """Move an event to another time, and perhaps make it shorter or longer.

        Args:
            event_id: The number of the event.
            start: The new start, in ISO 8601.
            duration_minutes: The new length, from a minute to a week; left out, it stays.
        """
        begin = self._time(start)
        length = None if duration_minutes is None else _duration(duration_minutes)
        return self._change(
            event_id,
            lambda event: replace(
                event, start=begin, end=begin + (length or event.end - event.start)
            ),
        )

    def invite_guests(self, event_id: int, emails: list[str]) -> Event:
        """Add guests to an event; a guest who is already invited keeps the answer given.

        Args:
            event_id: The number of the event.
            emails: The addresses of those to invite.
        """
        invited = _invited(emails)
        return self._change(
            event_id, lambda event: replace(event, guests={**invited, **event.guests})
        )

    def answer_invitation(self, event_id: int, email: str, answer: Answer) -> Event:
        """Record what a guest answered to an invitation.

        Args:
            event_id: The number of the event.
            email: The guest's address; the guest must be invited.
            answer: The guest's answer.
        """
        address = _address(email)
        if address not in self._event(event_id).guests:
            raise ValueError(f"{email} is not invited to event {event_id}. Use invite_guests.")
        return self._change(
            event_id, lambda event: replace(event, guests={**event.guests, address: answer})
        )

    def repeat_event_weekly(self, event_id: int, copies: int) -> list[Event]:
        """Copy an event into the following weeks, at the same hour and with the same guests.

        Args:
            event_id: The number of the event to copy.
            copies: How many weeks get a copy, from 1 to 52.
        """
        event = self._event(event_id)
        if not 1 <= copies <= MOST_COPIES:
            raise ValueError(f"Give a number of copies from 1 to {MOST_COPIES}, not {copies}.")
        return [
            self._store(
                replace(
                    event,
                    event_id=next(self._ids),
                    start=event.start + timedelta(weeks=week),
                    end=event.end + timedelta(weeks=week),
                    cancelled=False,
                )
            )
            for week in range(1, copies + 1)
        ]

    def add_reminder(self, event_id: int, minutes_before: int = 15) -> Event:
        """Set a reminder that rings some minutes before an event starts.

        Args:
            event_id: The number of the event.
            minutes_before: How long before the start it rings, from a minute to a week.
        """
        _duration(minutes_before)
        return self._change(
            event_id,
            lambda event: replace(
                event, reminders=tuple(sorted({*event.reminders, minutes_before}))
            ),
        )

    def cancel_event(self, event_id: int) -> Event:
        """Call an event off: it stays on record but takes up no time any more.

        Args:
            event_id: The number of the event.
        """
        return self._change(event_id, lambda event: replace(event, cancelled=True))

    def delete_event(self, event_id: int) -> str:
        """Remove an event for good; cancel_event keeps it on record instead.

        Args:
            event_id: The number of the event.
        """
        with self._lock:
            event = self._event(event_id)
            del self._events[event_id]
        return f"Deleted event {event_id}: {event.title}."

    def _event(self, event_id: int) -> Event:
        event = self._events.get(event_id)
        if event is None:
            raise ValueError(f"There is no event {event_id}. Find it with search_events.")
        return event

    def _store(self, event: Event) -> Event:
        self._events[event.event_id] = event
        return event

    def _change(self, event_id: int, change: Callable[[Event], Event]) -> Event:
        with self._lock:
            return self._store(change(self._event(event_id)))

    def _sorted(self) -> list[Event]:
        return sorted(self._events.values(), key=lambda event: (event.start, event.event_id))

    def _between(self, start: str, end: str) -> list[Event]:
        first, last = self._time(start), self._time(end)
        if last <= first:
            raise ValueError("The period ends before it starts: swap start and end.")
        return [event for event in self._sorted() if event.overlaps(first, last)]

    def _first_gap(self, start: datetime, length: timedelta) -> datetime:
        for event in self._sorted():
            if event.overlaps(start, start + length):
                start = event.end
        return start

    def _time(self, text: str) -> datetime:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise ValueError(f"{text!r} is no ISO 8601 time. Write 2026-03-02T14:00.") from error
        if moment.year not in YEARS:
            raise ValueError(f"The year {moment.year} is out of range: use 1970 to 2199.")
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=self._zone)
        return zoned.astimezone(self._zone)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")


def _duration(minutes: int) -> timedelta:
    if not 1 <= minutes <= LONGEST_MINUTES:
        raise ValueError(f"Give a number of minutes from 1 to {LONGEST_MINUTES}, not {minutes}.")
    return timedelta(minutes=minutes)


def _hour(text: str) -> time:
    try:
        return time.fromisoformat(text).replace(tzinfo=None)
    except ValueError as error:
        raise ValueError(f"{text!r} is no time of day. Write it as 09:00.") from error


def _address(email: str) -> str:
    if "@" not in email:
        raise ValueError(f"{email!r} is no e-mail address: it has no @.")
    return email.strip().lower()


def _invited(emails: Iterable[str]) -> dict[str, Answer]:
    return {_address(email): "invited" for email in emails}


def _searchable(event: Event) -> str:
    return " ".join((event.title, event.location, *event.guests)).lower()


def toolset(calendar: Calendar) -> FunctionToolset:
    """Offer the calendar's methods as tools."""
    return FunctionToolset(
        "calendar",
        [
            Function(calendar.create_event),
            Function(calendar.show_event, read_only=True),
            Function(calendar.list_events, read_only=True),
            Function(calendar.search_events, read_only=True),
            Function(calendar.show_agenda, read_only=True),
            Function(calendar.find_conflicts, read_only=True),
            Function(calendar.find_free_slot, read_only=True),
            Function(calendar.list_due_reminders, read_only=True),
            Function(calendar.move_event),
            Function(calendar.invite_guests),
            Function(calendar.answer_invitation),
            Function(calendar.repeat_event_weekly),
            Function(calendar.add_reminder),
            Function(calendar.cancel_event, destructive=True),
            Function(calendar.delete_event, destructive=True),
        ],
    )
